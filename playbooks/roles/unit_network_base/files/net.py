#!/usr/bin/python3 -I
# Put here by Kloigos (unit_network_base).
"""Make, repair and remove the network of a unit that has one of its own, with its IPC namespace and its terminals.

    unit-net up NAME      put everything in place (repeating it changes nothing)
    unit-net status NAME  exit 0 if everything is in place, else name what is missing and exit 3
    unit-net check NAME   the same, and take the link down where the filter is missing
    unit-net down NAME    take everything away
    unit-net repair NAME  as `up`, for a unit that is enabled; load a filter that is missing; name what was missing
    unit-net guard        take the links of all units down whose filter is missing

It reads /etc/kloigos/networks/NAME.conf (KEY=value). Without the packet filter there is no link: `up` raises the unit's
interface last and refuses a unit whose filter is not loaded, and `check` takes the link of such a unit down.

/run/kloigos/ready/NAME holds the address and the numbers of the two namespaces. A login or a user manager that is not in
these namespaces is not the unit's. `up` never makes a namespace anew that is there: whoever runs in it would be left behind.
"""
import importlib.machinery
import importlib.util
import os
import re
import socket
import subprocess
import sys


def beside(name):
    """The program of units with an address on the host: what both need is written there."""
    here = os.path.dirname(os.path.realpath(__file__))
    path = next(p for p in (here + "/" + name, here + "/" + name + ".py") if os.path.exists(p))
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
unit = beside("unit")
Problem, run, ip, ip_json = unit.Problem, unit.run, unit.ip, unit.ip_json

unit.CONFIG = unit.NETWORKS
# As unit.ENABLED: giving a unit back removes the link before it takes the network down.
ENABLED = "/etc/systemd/system/multi-user.target.wants/kloigos-net@%s.service"
NETNS = "/run/netns/"
FILTER, FILTERS = "/etc/kloigos/kloigos.nft", "/etc/kloigos/nft/"
CGROUPS = "/sys/fs/cgroup/"
# The administrator's, the host's, and those of services that answer on loopback.
RESOLV = ("/etc/kloigos/resolv.conf", "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf")
# Routes to units, in a table of their own: no UID is as high, and no manager of networks knows it.
UNITS_TABLE = "1263292233"
# Before the rules of the units themselves (unit.PRIORITY). A host that is no router asks the first one, then drops.
TO_UNITS, NO_ROUTER = "9990", "9991"
GATEWAY = "169.254.1.1"
# Locally administered. Each pair is a link of its own, so all may have the same.
OUTER_MAC, INNER_MAC = "02:4b:4c:00:00:01", "02:4b:4c:00:00:02"
TERMINALS = 256
FIRST_FREE_PORT = 23
# Neighbours that the kernel keeps: 1,024 of the host, and 256 of each of 124 units (near_<uid> of its filter).
NEIGHBOURS, MOST_NEIGHBOURS = "net/ipv4/neigh/default/gc_thresh3", 32768


class Net:
    def __init__(self, name, conf):
        self.name, self.conf = name, conf
        self.uid, self.address, self.uplink = conf["UID"], conf["ADDRESS"], conf["INTERFACE"]
        self.space = "kloigos-" + name
        self.outer = "klu" + self.uid
        self.ipc = "%s/ipc/%s" % (unit.RUN, name)
        self.pts = "%s/pts/%s" % (unit.RUN, name)
        self.ready = "%s/ready/%s" % (unit.RUN, name)
        self.resolv = "%s/resolv/%s" % (unit.RUN, name)
        self.before = "%s/uplinks/%s" % (unit.RUN, self.uplink)
        self.filter_file = FILTERS + self.uid + ".nft"

    # what is there

    def has_space(self):
        return unit.is_mounted(NETNS + self.space)

    def inner(self, *argv):
        return ip_json("-n", self.space, *argv) if self.has_space() else []

    def link(self):
        """The host's end. A pair whose other end is not eth0 of this namespace is none."""
        found = ip_json("link", "show", "dev", self.outer)
        other = self.inner("link", "show", "dev", "eth0")
        return found[0] if found and other and other[0].get("link_index") == found[0]["ifindex"] else {}

    def mtu(self):
        links = ip_json("link", "show", "dev", self.uplink)
        if not links:
            raise Problem("there is no interface " + self.uplink)
        return links[0]["mtu"]

    def inside_sysctls(self):
        wanted = {"net/ipv4/ip_unprivileged_port_start": str(FIRST_FREE_PORT), "net/ipv4/ping_group_range": self.uid + " " + self.uid}
        if unit.has_ipv6():
            wanted["net/ipv6/conf/default/disable_ipv6"] = "1"
            if self.inner("link", "show", "dev", "eth0"):
                wanted["net/ipv6/conf/eth0/disable_ipv6"] = "1"
        return wanted

    def outside_sysctls(self):
        wanted = {"net/ipv4/conf/%s/forwarding" % link: "1" for link in (self.uplink, self.outer)}
        wanted["net/ipv4/conf/%s/rp_filter" % self.outer] = "1"
        # Else the kernel waits up to 0.8 s before it answers for the unit.
        wanted["net/ipv4/neigh/%s/proxy_delay" % self.uplink] = "0"
        most = read_sysctl(NEIGHBOURS)
        if most:
            wanted[NEIGHBOURS] = str(max(int(most), MOST_NEIGHBOURS))
        if unit.has_ipv6():
            wanted["net/ipv6/conf/%s/disable_ipv6" % self.outer] = "1"
        return wanted

    def other_sysctls(self):
        """Those that are otherwise, with how to set them: (inside, name, value)."""
        found = []
        for inside, wanted in ((True, self.inside_sysctls()), (False, self.outside_sysctls())):
            names = list(wanted)
            values = self.read_sysctls(inside, names)
            found += [(inside, name, wanted[name]) for name, now in zip(names, values) if now != wanted[name]]
        return found

    def read_sysctls(self, inside, names):
        if inside:
            out = run(*self.nsenter(), "head", "-qn1", *["/proc/sys/" + name for name in names]).stdout
            return [" ".join(line.split()) for line in out.splitlines()]
        return [read_sysctl(name) for name in names]

    def nsenter(self):
        return "nsenter", "--net=" + NETNS + self.space

    def rules(self):
        """(what it is for, arguments) of each rule that must be there, the last one only on a host that is no router."""
        wanted = [
            ("rule for routes to units", ["priority", TO_UNITS, "lookup", UNITS_TABLE]),
            ("rule for packets from " + self.outer, ["priority", str(unit.PRIORITY), "iif", self.outer, "lookup", self.uid]),
        ]
        if not self.is_router():
            wanted.append(("rule that keeps the host from being a router", ["priority", NO_ROUTER, "iif", self.uplink, "blackhole"]))
        return wanted

    def is_router(self):
        """Whether the host forwards by a decision of its own: for all interfaces, or for the uplink before there were units."""
        return read_sysctl("net/ipv4/conf/all/forwarding") == "1" or read(self.before).startswith("1 ")

    def uplink_sysctls(self):
        return "net/ipv4/conf/%s/forwarding" % self.uplink, "net/ipv4/neigh/%s/proxy_delay" % self.uplink, NEIGHBOURS

    def routes(self):
        """(what it is for, arguments, how `ip route show` tells of it)."""
        wanted = [("route to " + self.address, [self.address, "dev", self.outer, "scope", "link", "table", UNITS_TABLE],
                   {"dst": self.address, "dev": self.outer})]
        if int(self.conf["PREFIX"]) < 32:
            network = unit.network_of(self.conf)
            wanted.append(("route to " + network, [network, "dev", self.uplink, "scope", "link", "table", self.uid], {"dst": network, "dev": self.uplink}))
        if self.conf["GATEWAY"]:
            wanted.append(("default route", ["default", "via", self.conf["GATEWAY"], "dev", self.uplink, "onlink", "table", self.uid],
                           {"dst": "default", "gateway": self.conf["GATEWAY"], "dev": self.uplink}))
        else:
            wanted.append(("closed default route", ["unreachable", "default", "table", self.uid], {"dst": "default", "type": "unreachable"}))
        return wanted

    def numbers(self):
        """What /run/kloigos/ready/NAME says: a session must be in these namespaces."""
        return "%s %d %d\n" % (self.address, os.stat(NETNS + self.space).st_ino, os.stat(self.ipc).st_ino)

    def missing(self):
        """Everything of the unit that is not in place, in words; the filter comes first."""
        lacking = filter_lacks(self)
        if not self.has_space():
            return lacking + ["network namespace " + self.space]
        for path, what in ((self.ipc, "IPC namespace"), (self.pts, "pseudo-terminals"), (unit.shm_path(self.conf), "shared memory")):
            if not unit.is_mounted(path):
                lacking.append("%s at %s" % (what, path))
        link = self.link()
        if not link:
            return lacking + ["link " + self.outer]
        lacking += self.missing_inside() + self.missing_outside(link)
        if read(self.resolv) != resolv_conf() or self.asks_others():
            lacking.append("name servers of %s" % self.resolv)
        lacking += ["setting %s%s" % (name.replace("/", "."), " inside" if inside else "") for inside, name, _value in self.other_sysctls()]
        # Last, as `up` has it: a link that is up is complete.
        if "UP" not in link["flags"]:
            lacking.append("link %s is down" % self.outer)
        if not lacking and read(self.ready) != self.numbers():
            lacking.append("mark " + self.ready)
        return lacking

    def missing_inside(self):
        lacking = []
        links = {one["ifname"]: one for one in self.inner("address", "show")}
        for name in ("lo", "eth0"):
            if "UP" not in links[name]["flags"]:
                lacking.append("%s inside is down" % name)
        addresses = [(a["local"], a["prefixlen"]) for name, one in links.items() if name != "lo" for a in one.get("addr_info", [])]
        if addresses != [(self.address, 32)]:
            lacking.append("the address %s and no other inside" % self.address)
        if links["eth0"]["mtu"] != self.mtu() or links["eth0"]["address"] != INNER_MAC:
            lacking.append("MTU and MAC address of eth0 inside")
        if [(r["dst"], r.get("gateway")) for r in self.inner("-4", "route", "show")] != [("default", GATEWAY)]:
            lacking.append("the default route and no other inside")
        if not has_neighbour(self.inner("neigh", "show", "dev", "eth0"), GATEWAY, OUTER_MAC):
            lacking.append("neighbour %s inside" % GATEWAY)
        return lacking

    def missing_outside(self, link):
        lacking = []
        if link["mtu"] != self.mtu() or link["address"] != OUTER_MAC:
            lacking.append("MTU and MAC address of " + self.outer)
        if not has_neighbour(ip_json("neigh", "show", "dev", self.outer), self.address, INNER_MAC):
            lacking.append("neighbour %s on %s" % (self.address, self.outer))
        if self.address not in [n.get("dst") for n in ip_json("neigh", "show", "proxy", "dev", self.uplink)]:
            lacking.append("ARP for %s on %s" % (self.address, self.uplink))
        tables = {table: ip_json("-4", "route", "show", "table", table) for table in (UNITS_TABLE, self.uid)}
        for what, argv, wanted in self.routes():
            if not any(wanted.items() <= route.items() for route in tables[argv[-1]]):
                lacking.append(what)
        lacking += [what for what, argv in self.rules() if not has_rule(argv)]
        if self.is_router() and has_rule(["priority", NO_ROUTER, "iif", self.uplink, "blackhole"]):
            lacking.append("a router's leave to forward")
        return lacking

    def asks_others(self):
        """Processes whose /etc/resolv.conf is not the unit's: what replaces the host's file takes the unit's away that lies over it."""
        leaders = []
        for group in ("system.slice/system-kloigos\\x2dsshd.slice/kloigos-sshd@%s.service" % self.name,
                      "user.slice/user-%s.slice/user@%s.service/init.scope" % (self.uid, self.uid)):
            pids = read(CGROUPS + group + "/cgroup.procs").split()
            mounts = [line.split(" ")[3] for line in read("/proc/%s/mountinfo" % pids[0]).splitlines()] if pids else []
            if mounts and not any(root.endswith("/resolv/" + self.name) for root in mounts):
                leaders.append(pids[0])
        return leaders

    # making and taking away

    def up(self):
        lacking = self.missing()
        if not lacking:
            return
        self.refuse_without_filter()
        if self.address in unit.addresses_of():
            raise Problem("the host has %s itself" % self.address)
        unit.wait_for_link(self.uplink)
        self.make_directories()
        self.make_namespaces()
        self.set_name_servers()
        if not self.link():
            ip("link", "del", self.outer, check=False)
            ip("link", "add", self.outer, "type", "veth", "peer", "name", "eth0", "netns", self.space)
        for inside, name, value in self.other_sysctls():
            self.write_sysctl(inside, name, value)
        self.set_inside()
        self.set_outside()
        # Again: it may have gone meanwhile.
        self.refuse_without_filter()
        self.set_link()
        unit.announce(self.uplink, self.address)
        with open(self.ready, "w", encoding="ascii") as mark:
            mark.write(self.numbers())
        os.chmod(self.ready, 0o644)

    def repair(self):
        """Under the lock: what is on its way back must not come again."""
        if not os.path.lexists(ENABLED % self.name):
            return
        print("interface: %s\ninterface: %s" % (self.uplink, self.outer))
        # At once: all else takes longer.
        lacking = filter_lacks(self)
        if lacking:
            self.shut()
            run("systemctl", "reload-or-restart", unit.NFT_SERVICE)
        lacking += self.missing()
        if lacking:
            self.up()
        for what in lacking:
            print("missing: " + what)

    def refuse_without_filter(self):
        lacking = filter_lacks(self)
        if lacking:
            self.shut()
            raise Problem("%s: the unit stays closed" % ", ".join(lacking))

    def shut(self):
        if ip_json("link", "show", "dev", self.outer):
            ip("link", "set", self.outer, "down")
        remove(self.ready)

    def make_directories(self):
        for path, mode in (("", 0o755), ("/shm", 0o711), ("/ready", 0o711), ("/ipc", 0o700), ("/pts", 0o711), ("/resolv", 0o711), ("/uplinks", 0o700)):
            os.makedirs(unit.RUN + path, exist_ok=True)
            os.chmod(unit.RUN + path, mode)
        # Before anything is changed there: the last unit that goes gives it back.
        if not read(self.before):
            with open(self.before, "w", encoding="ascii") as file:
                file.write(" ".join(read_sysctl(name) for name in self.uplink_sysctls()) + "\n")

    def make_namespaces(self):
        if not self.has_space():
            remove(NETNS + self.space)
            ip("netns", "add", self.space)
        if not unit.is_mounted(self.ipc):
            with open(self.ipc, "w", encoding="ascii"):
                pass
            run("unshare", "--ipc=" + self.ipc, "true")
        if not unit.is_mounted(self.pts):
            os.makedirs(self.pts, exist_ok=True)
            # As Debian mounts /dev/pts, but for the number. /dev/ptmx finds the instance that is mounted beside it.
            run("mount", "-t", "devpts", "-o", "newinstance,nosuid,noexec,gid=5,mode=620,ptmxmode=666,max=%d" % TERMINALS, "kloigos", self.pts)
        unit.make_shm(self.conf)

    def write_sysctl(self, inside, name, value):
        if inside:
            run(*self.nsenter(), "sh", "-c", 'echo "$1" >"$2"', "sh", value, "/proc/sys/" + name)
        else:
            write_sysctl(name, value)

    def set_name_servers(self):
        """Into the file that is there: it lies over /etc/resolv.conf of the unit's sshd and user manager."""
        with open(self.resolv, "w", encoding="utf-8") as file:
            file.write(resolv_conf())
        os.chmod(self.resolv, 0o644)
        for pid in self.asks_others():
            run("nsenter", "--mount", "--target=" + pid, "mount", "--bind", self.resolv, "/etc/resolv.conf", check=False)

    def set_inside(self):
        def inner(*argv):
            ip("-n", self.space, *argv)
        inner("link", "set", "lo", "up")
        for one in self.inner("address", "show", "dev", "eth0"):
            for a in one.get("addr_info", []):
                if (a["local"], a["prefixlen"]) != (self.address, 32):
                    inner("address", "del", "%s/%d" % (a["local"], a["prefixlen"]), "dev", "eth0")
        inner("link", "set", "eth0", "mtu", str(self.mtu()), "address", INNER_MAC)
        inner("link", "set", "eth0", "up")
        inner("address", "replace", self.address + "/32", "dev", "eth0")
        inner("neigh", "replace", GATEWAY, "lladdr", OUTER_MAC, "dev", "eth0", "nud", "permanent")
        for route in self.inner("-4", "route", "show"):
            if (route["dst"], route.get("gateway")) != ("default", GATEWAY):
                inner("route", "del", route["dst"])
        inner("route", "replace", "default", "via", GATEWAY, "dev", "eth0", "onlink")

    def set_outside(self):
        """Before the link is up: it must find the rules, or the host's own table would answer for the unit."""
        for _what, argv, _wanted in self.routes():
            if self.outer not in argv:
                ip("route", "replace", *argv)
        for _what, argv in self.rules():
            if not has_rule(argv):
                ip("-4", "rule", "add", *argv)
        if self.is_router():
            ip("-4", "rule", "del", "priority", NO_ROUTER, "iif", self.uplink, check=False)

    def set_link(self):
        """The kernel takes routes and neighbours of a link only while it is up, and forgets them when it goes down."""
        ip("link", "set", self.outer, "mtu", str(self.mtu()), "address", OUTER_MAC)
        ip("link", "set", self.outer, "up")
        ip("neigh", "replace", self.address, "lladdr", INNER_MAC, "dev", self.outer, "nud", "permanent")
        ip("route", "replace", *self.routes()[0][1])
        ip("neigh", "replace", "proxy", self.address, "dev", self.uplink)

    def down(self):
        self.shut()
        ip("link", "del", self.outer, check=False)
        while ip("-4", "rule", "del", "priority", str(unit.PRIORITY), "iif", self.outer, check=False).returncode == 0:
            pass
        ip("-4", "route", "flush", "table", self.uid, check=False)
        ip("-4", "route", "del", self.address, "table", UNITS_TABLE, check=False)
        ip("neigh", "del", "proxy", self.address, "dev", self.uplink, check=False)
        unmount(NETNS + self.space)
        if not ip_json("-4", "route", "show", "table", UNITS_TABLE):
            self.leave_host()
        # Last, as what is left in one of them would stop the rest.
        for path in (self.ipc, self.pts, unit.shm_path(self.conf)):
            unmount(path)
        remove(self.resolv)

    def leave_host(self):
        """The last unit is gone: the host is as it was before the first one."""
        ip("-4", "rule", "del", "priority", TO_UNITS, check=False)
        ip("-4", "rule", "del", "priority", NO_ROUTER, check=False)
        if read(self.before) and ip_json("link", "show", "dev", self.uplink):
            # Fewer values where an older release noted them, or where the kernel has no such setting.
            for name, value in zip(self.uplink_sysctls(), read(self.before).split()):
                if not name.endswith("/forwarding") or not self.is_router():
                    write_sysctl(name, value)
        remove(self.before)
        # iproute2 mounts the directory of namespaces on itself and never takes that back.
        for _ in range(8):
            if unit.is_mounted(NETNS[:-1]) and not os.listdir(NETNS):
                run("umount", NETNS[:-1], check=False)


# the filter


def filter_lacks(net, objects=None):
    """The parts of the packet filter that the kernel does not have, in words."""
    objects = filter_objects() if objects is None else objects
    return ["packet filter: " + what for what in lacks_of(objects, net)] if objects else ["packet filter"]


def filter_objects():
    done = run("nft", "-j", "list", "table", "inet", "kloigos", check=False)
    return unit.json.loads(done.stdout)["nftables"] if done.returncode == 0 else []


def guard():
    """Without the lock: `up` may hold it for seconds, and looks at the filter itself before it raises a link."""
    names = [os.path.basename(path)[:-len(".conf")] for path in sorted(unit.glob.glob(unit.CONFIG + "*.conf"))]
    objects = filter_objects() if names else []
    for name in names:
        net = Net(name, unit.read_config(name))
        if filter_lacks(net, objects):
            net.shut()


def lacks_of(objects, net):
    chains = {o["chain"]["name"]: o["chain"] for o in objects if "chain" in o}
    rules = {}
    for one in (o["rule"] for o in objects if "rule" in o):
        rules.setdefault(one["chain"], []).append(one["expr"])
    lacking = []
    for hook, pattern, verdict in (("forward", '"iifname"}}, "right": "klu*"', "units_out"), ("forward", '"oifname"}}, "right": "klu*"', "units_in"),
                                   ("input", '"iifname"}}, "right": "klu*"', "units_to_host"), ("output", '"right": %s}' % net.uid, "unit_" + net.uid)):
        leads = any(pattern in unit.json.dumps(expr) and '"target": "%s"' % verdict in unit.json.dumps(expr) for expr in rules.get(hook, []))
        if chains.get(hook, {}).get("hook") != hook or not leads:
            lacking.append("the way from %s to %s" % (hook, verdict))
    if "near_" + net.uid in read(net.filter_file):
        near = unit.json.dumps(rules.get("units_out", []) + rules.get("units_near", []) + rules.get("near_" + net.uid, [])[-1:])
        if '"target": "units_near"' not in near or '"target": "near_%s"' % net.uid not in near or not near.endswith('{"drop": null}]]'):
            lacking.append("what bounds the neighbours of %s" % net.outer)
    if "169.254.0.0" in read(FILTER) and unit.json.dumps(rules.get("units_out", [])).count('"169.254.0.0"') != 2:
        lacking.append("what keeps units from link-local addresses")
    for name in ("units_out", "units_to_host"):
        own = [unit.json.dumps(expr) for expr in rules.get(name, [])[:2]]
        if len(own) < 2 or '"nfproto"' not in own[0] or '"@unit_sources"' not in own[1] or not all('{"drop": null}' in text for text in own):
            lacking.append("what %s drops first" % name)
    for name in ("units_out", "units_in", "units_to_host", "unit_" + net.uid):
        last = rules.get(name, [[{}]])[-1]
        if not {"drop", "reject"} & set(last[-1]):
            lacking.append("the end of %s" % name)
    elements = [e for o in objects if o.get("set", {}).get("name") == "unit_sources" for e in o["set"].get("elem", [])]
    if {"concat": [net.outer, net.address]} not in elements or sum(e.get("concat", [""])[0] == net.outer for e in elements) != 1:
        lacking.append("%s with %s" % (net.outer, net.address))
    return lacking


# the system


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def resolv_conf():
    """What units find at /etc/resolv.conf: the name servers of the host that can be reached from inside, by IPv4 and not on the host itself.

    Where the host asks a service of its own, that service's file tells whom it asks; the administrator's file comes before all.
    """
    here = unit.addresses_of()
    for path in RESOLV:
        lines = read(path).splitlines()
        servers = [line for line in lines if re.match(r"\s*nameserver\s", line)]
        usable = [line for line in servers if can_be_asked(line.split()[1:2], here)]
        if usable:
            return "\n".join([line for line in lines if line not in servers] + usable) + "\n"
    return read(RESOLV[1])


def can_be_asked(fields, here):
    try:
        first = socket.inet_aton(fields[0])[0]
    except (OSError, IndexError):
        return False
    return first not in (0, 127) and fields[0] not in here


def read_sysctl(name):
    return " ".join(read("/proc/sys/" + name).split())


def write_sysctl(name, value):
    with open("/proc/sys/" + name, "w", encoding="ascii") as file:
        file.write(value)


def has_neighbour(neighbours, address, mac):
    return any(n.get("dst") == address and n.get("lladdr") == mac and "PERMANENT" in n.get("state", []) for n in neighbours)


def has_rule(argv):
    wanted = dict(zip(argv[::2], argv[1::2]))
    for rule in ip_json("-4", "rule", "show"):
        action = "lookup" if "table" in rule else rule.get("action", "")
        if (str(rule.get("priority")) == wanted["priority"] and rule.get("iif") == wanted.get("iif")
                and str(rule.get("table", "")) == wanted.get("lookup", "") and (action == "lookup") == ("lookup" in wanted)):
            return True
    return False


def remove(path):
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def unmount(path):
    for _ in range(8):
        if not unit.is_mounted(path):
            break
        run("umount", "-l", path, check=False)
    if os.path.isdir(path):
        os.rmdir(path)
    else:
        remove(path)


def main(argv):
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    if argv[1:] == ["guard"]:
        guard()
        return 0
    if len(argv) != 3 or argv[1] not in ("up", "status", "check", "down", "repair"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        with unit.alone():
            net = Net(argv[2], unit.read_config(argv[2]))
            if argv[1] not in ("status", "check"):
                getattr(net, argv[1])()
                return 0
            lacking = net.missing()
            if argv[1] == "check" and any(what.startswith("packet filter") for what in lacking):
                net.shut()
            for what in lacking:
                print("missing: " + what)
            return 3 if lacking else 0
    except (Problem, OSError, subprocess.TimeoutExpired, ValueError, KeyError, IndexError) as problem:
        print("kloigos unit-net %s: %s" % (argv[2], problem), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv))
