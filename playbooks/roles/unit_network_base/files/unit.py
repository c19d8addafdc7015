#!/usr/bin/python3 -I
# Put here by Kloigos (unit_network_base).
"""Bring up what a unit needs of the host at every boot: its address, its routes, its shared memory.

    unit up NAME       put everything in place (repeating it changes nothing)
    unit status NAME   exit 0 if everything is in place, else name what is missing and exit 3
    unit clear NAME    take everything away
    unit watch         bring back what the host's network management takes from units that are enabled

It reads /etc/kloigos/addresses/NAME.conf (KEY=value) and refuses a unit whose firewall chain is not loaded. It leaves
/run/kloigos/ready/NAME behind; the tenant's login shell and user manager do not start without that file.

/run/kloigos/added/NAME says which address was added for the unit. An address that is there without it is the host's own:
it is neither taken over nor removed.
"""
import contextlib
import fcntl
import glob
import grp
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time

CONFIG = "/etc/kloigos/addresses/"
RUN = "/run/kloigos"
# systemctl enable makes such a link: the unit shall be up. Giving a unit back removes it before it clears the unit.
ENABLED = "/etc/systemd/system/multi-user.target.wants/kloigos-unit@%s.service"
NFT_SERVICE = "kloigos-nft.service"
# Between the kernel's rule for local addresses (0) and the one for the main table (32766).
PRIORITY = 10000
# Units with a network of their own; a program of their own repairs them.
NETWORKS, NET_PROGRAM = "/etc/kloigos/networks/", "/usr/local/lib/kloigos/unit-net"
NEEDED = ("UID", "USER", "ADDRESS", "PREFIX", "INTERFACE", "GATEWAY", "SHM_BYTES")


class Problem(Exception):
    pass


def run(*argv, check=True):
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    if check and done.returncode != 0:
        raise Problem("%s: %s" % (" ".join(argv), done.stderr.strip() or "exit %d" % done.returncode))
    return done


def ip(*argv, check=True):
    return run("ip", *argv, check=check)


def ip_json(*argv):
    """Empty also where ip fails: it does for a table that has no route yet."""
    done = ip("-N", "-j", *argv, check=False)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else []


def read_config(name):
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,70}", name):
        raise Problem("not the name of a unit: %r" % name)
    values = {}
    with open(CONFIG + name + ".conf", encoding="ascii") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                key, _, value = line.rstrip("\n").partition("=")
                values[key] = value
    missing = [key for key in NEEDED if key not in values]
    if missing:
        raise Problem("%s%s.conf lacks %s" % (CONFIG, name, ", ".join(missing)))
    return values


def has_ipv6():
    return os.path.isdir("/proc/sys/net/ipv6")


def network_of(conf):
    bits = int(conf["PREFIX"])
    mask = (0xFFFFFFFF << (32 - bits)) & 0xFFFFFFFF
    address = struct.unpack("!I", socket.inet_aton(conf["ADDRESS"]))[0]
    return "%s/%d" % (socket.inet_ntoa(struct.pack("!I", address & mask)), bits)


class Seen:
    """What is there now. All units can be looked at with one: of what they share, each is read once."""

    def __init__(self):
        self.known = {}

    def once(self, key, read):
        if key not in self.known:
            self.known[key] = read()
        return self.known[key]

    def has_chain(self, conf):
        chains = self.once("chains", lambda: run("nft", "list", "chains", "inet", check=False).stdout)
        kloigos = chains.partition("table inet kloigos {")[2].partition("\n}")[0]
        return re.search(r"\bchain unit_%s \{" % conf["UID"], kloigos) is not None

    def has_address(self, conf):
        links = self.once("addresses", lambda: ip_json("-4", "address", "show"))
        return any(conf["ADDRESS"] == a.get("local") for link in links if link.get("ifname") == conf["INTERFACE"] for a in link.get("addr_info", []))

    def rules(self, family, conf):
        found = self.once(family, lambda: ip_json(family, "rule", "show"))
        return [r for r in found if str(r.get("uid_start", "")) == conf["UID"] and str(r.get("uid_end", "")) == conf["UID"]]


def rules(family, conf):
    return Seen().rules(family, conf)


def shm_path(conf):
    """Mounted under the UID: the table of mounts can be read by everyone and shall not name tenants."""
    return "%s/shm/%s" % (RUN, conf["UID"])


def is_mounted(path):
    with open("/proc/self/mountinfo", encoding="utf-8") as lines:
        return any(line.split(" ")[4] == path for line in lines)


def missing(name, conf, seen=None):
    """Everything of the unit that is not in place, in words."""
    lacking, seen = [], seen or Seen()
    if not seen.has_chain(conf):
        lacking.append("firewall chain unit_%s" % conf["UID"])
    if not seen.has_address(conf):
        lacking.append("address %s on %s" % (conf["ADDRESS"], conf["INTERFACE"]))
    routes = {r.get("dst"): r for r in ip_json("-4", "route", "show", "table", conf["UID"])}
    default = routes.get("default", {})
    if conf["GATEWAY"]:
        if (default.get("gateway"), default.get("prefsrc"), default.get("dev")) != (conf["GATEWAY"], conf["ADDRESS"], conf["INTERFACE"]):
            lacking.append("default route of table %s" % conf["UID"])
    elif default.get("type") != "unreachable":
        lacking.append("closed default route of table %s" % conf["UID"])
    if int(conf["PREFIX"]) < 32 and routes.get(network_of(conf), {}).get("prefsrc") != conf["ADDRESS"]:
        lacking.append("route to %s in table %s" % (network_of(conf), conf["UID"]))
    if [r for r in seen.rules("-4", conf) if str(r.get("table")) == conf["UID"]] == []:
        lacking.append("rule for UID %s" % conf["UID"])
    if has_ipv6() and seen.rules("-6", conf) == []:
        lacking.append("IPv6 rule for UID %s" % conf["UID"])
    if not is_mounted(shm_path(conf)) or not os.path.isdir("%s/%s" % (shm_path(conf), conf["USER"])):
        lacking.append("shared memory %s" % shm_path(conf))
    if not os.path.exists("%s/ready/%s" % (RUN, name)):
        lacking.append("mark %s/ready/%s" % (RUN, name))
    return lacking


def wait_for_link(interface, seconds=20):
    """A route can only be set on a link that is up; at boot that may take a moment."""
    end = time.monotonic() + seconds
    while True:
        links = ip_json("link", "show", "dev", interface)
        if links and "UP" in links[0].get("flags", []):
            return
        if time.monotonic() > end:
            raise Problem("%s is not up after %d s" % (interface, seconds))
        time.sleep(0.25)


def announce(interface, address):
    """Gratuitous ARP (RFC 5227, section 2.3): neighbours that knew the address elsewhere learn where it is now."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0806)) as link:
        request = fcntl.ioctl(link.fileno(), 0x8927, struct.pack("256s", interface.encode()))  # SIOCGIFHWADDR
        if struct.unpack_from("H", request, 16)[0] != 1:  # not Ethernet: nobody resolves addresses there
            return
        mac = request[18:24]
        own = socket.inet_aton(address)
        link.bind((interface, 0x0806))
        body = struct.pack("!HHBBH", 1, 0x0800, 6, 4, 1) + mac + own + b"\0" * 6 + own
        for _ in range(2):
            link.send(b"\xff" * 6 + mac + b"\x08\x06" + body)


def addresses_of(*argv):
    return [a.get("local") for link in ip_json("-4", "address", "show", *argv) for a in link.get("addr_info", [])]


def added_path(name):
    return "%s/added/%s" % (RUN, name)


def was_added(name, conf):
    """Whether the unit's address was added for it, and is not one that the host has for itself.

    Before there was the record, `up` left the address in the mark of a unit that is ready. It may have taken an address
    over that the host had; the last one of an interface is not the unit's.
    """
    for path in (added_path(name), "%s/ready/%s" % (RUN, name)):
        try:
            with open(path, encoding="ascii") as file:
                if file.read().strip() == conf["ADDRESS"]:
                    return path == added_path(name) or len(set(addresses_of("dev", conf["INTERFACE"]))) > 1
        except FileNotFoundError:
            pass
    return False


def record_added(name, conf):
    os.makedirs(RUN + "/added", exist_ok=True)
    os.chmod(RUN + "/added", 0o700)
    with open(added_path(name), "w", encoding="ascii") as file:
        file.write(conf["ADDRESS"] + "\n")


def let_tenants_ping():
    """A tenant's programs can't gain rights, so ping needs the kernel's leave; it is given where nobody has set anything."""
    path = "/proc/sys/net/ipv4/ping_group_range"
    with open(path, encoding="ascii") as file:
        untouched = file.read().split() == ["1", "0"]
    if untouched:
        gid = grp.getgrnam("kloigos-tenants").gr_gid
        with open(path, "w", encoding="ascii") as file:
            file.write("%d %d" % (gid, gid))


@contextlib.contextmanager
def alone():
    """One of `up`, `clear` and `watch` at a time: what `clear` takes away must not come back behind it."""
    os.makedirs(RUN, exist_ok=True)
    # Root's alone: whoever can open it can hold it.
    with open(os.open(RUN + "/units.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def up(name, conf, link_seconds=20):
    lacking = missing(name, conf)
    if not lacking:
        return
    chain = "firewall chain unit_%s" % conf["UID"]
    if chain in lacking:
        raise Problem("%s is not loaded: the unit stays closed" % chain)
    device, address, table = conf["INTERFACE"], conf["ADDRESS"], conf["UID"]
    wait_for_link(device, link_seconds)
    if address in addresses_of() and not was_added(name, conf):
        raise Problem("the host has %s already, and not for this unit" % address)
    # The record first: an address that was added and is not recorded would stay for good.
    record_added(name, conf)
    ip("address", "replace", address + "/32", "dev", device)
    # Routes first, rule last: a table that is empty would let the main table answer, with the host's own address.
    if int(conf["PREFIX"]) < 32:
        ip("route", "replace", network_of(conf), "dev", device, "scope", "link", "src", address, "table", table)
    if conf["GATEWAY"]:
        ip("route", "replace", "default", "via", conf["GATEWAY"], "dev", device, "onlink", "src", address, "table", table)
    else:
        ip("route", "replace", "unreachable", "default", "table", table)
    span = "%s-%s" % (conf["UID"], conf["UID"])
    if [r for r in rules("-4", conf) if str(r.get("table")) == table] == []:
        ip("-4", "rule", "add", "priority", str(PRIORITY), "uidrange", span, "lookup", table)
    if has_ipv6() and rules("-6", conf) == []:
        # Programs then fall back to IPv4 at once instead of waiting for packets that nftables drops.
        ip("-6", "rule", "add", "priority", str(PRIORITY), "uidrange", span, "unreachable")
    for path, mode in ((RUN, 0o755), (RUN + "/shm", 0o711), (RUN + "/ready", 0o711)):
        os.makedirs(path, exist_ok=True)
        os.chmod(path, mode)
    make_shm(conf)
    let_tenants_ping()
    announce(device, address)
    with open("%s/ready/%s" % (RUN, name), "w", encoding="ascii") as mark:
        mark.write(conf["ADDRESS"] + "\n")
    os.chmod("%s/ready/%s" % (RUN, name), 0o644)


def make_shm(conf):
    os.makedirs(shm_path(conf), exist_ok=True)
    if not is_mounted(shm_path(conf)):
        run("mount", "-t", "tmpfs", "-o", "nosuid,nodev,mode=0711,size=%d" % int(conf["SHM_BYTES"]), "kloigos", shm_path(conf))
    inner = "%s/%s" % (shm_path(conf), conf["USER"])
    os.makedirs(inner, exist_ok=True)
    os.chmod(inner, 0o1777)


def clear(name, conf):
    added = was_added(name, conf)
    if added:
        record_added(name, conf)
    try:
        os.unlink("%s/ready/%s" % (RUN, name))
    except FileNotFoundError:
        pass
    for family in ("-4", "-6"):
        for _ in range(len(rules(family, conf))):
            ip(family, "rule", "del", "priority", str(PRIORITY), "uidrange", "%s-%s" % (conf["UID"], conf["UID"]), check=False)
    ip("-4", "route", "flush", "table", conf["UID"], check=False)
    if added:
        ip("address", "del", conf["ADDRESS"] + "/32", "dev", conf["INTERFACE"], check=False)
    for _ in range(8):
        if not is_mounted(shm_path(conf)):
            break
        run("umount", "-l", shm_path(conf), check=False)
    if os.path.isdir(shm_path(conf)):
        os.rmdir(shm_path(conf))
    if added:
        os.unlink(added_path(name))


# Of <linux/rtnetlink.h>: groups to listen to, and the messages by which an address, a route, a rule or a link goes or comes.
RTMGRP_LINK, RTMGRP_IPV4_IFADDR, RTMGRP_IPV4_ROUTE, RTMGRP_IPV4_RULE = 0x1, 0x10, 0x40, 0x80
RTNLGRP_IPV6_RULE = 19
RTM_NEWLINK, RTM_DELADDR, RTM_DELROUTE, RTM_DELRULE = 16, 21, 25, 33
RT_TABLE_COMPAT = 252  # a table above 255, as those of units are
# Of <linux/netfilter/nfnetlink.h> and nf_tables.h: the messages by which a part of a packet filter goes.
NETLINK_NETFILTER, NFNLGRP_NFTABLES, NFNL_SUBSYS_NFTABLES = 12, 7, 10
NFT_MSG_DELTABLE, NFT_MSG_DELCHAIN, NFT_MSG_DELRULE, NFT_MSG_DELSET, NFT_MSG_DELSETELEM = 2, 5, 8, 11, 14
FILTER_GOES = {NFT_MSG_DELTABLE, NFT_MSG_DELCHAIN, NFT_MSG_DELRULE, NFT_MSG_DELSET, NFT_MSG_DELSETELEM}
# Between two looks: after an event, where something could not be brought back, and in any case.
SETTLE, AGAIN, REGULAR = 0.5, 60, 300
# So often within AGAIN seconds something is brought back at once.
BURST = 10


def messages(data):
    """(kind, bytes) of each message that the kernel sent."""
    at = 0
    while at + 16 <= len(data):
        length, kind = struct.unpack_from("=IH", data, at)
        yield kind, data[at:at + length]
        at += (max(length, 16) + 3) & ~3


def concerns_units(data, interfaces):
    """Whether one of the messages about the network may have cost a unit something."""
    for kind, message in messages(data):
        if kind == RTM_DELRULE or kind == RTM_DELROUTE and message[20:21] == bytes([RT_TABLE_COMPAT]):
            return True
        if kind in (RTM_NEWLINK, RTM_DELADDR) and any(name.encode() + b"\0" in message for name in interfaces):
            return True
    return False


def concerns_filter(data, _interfaces):
    """Whether a part of our table goes. A load replaces all of it, so this tells too often rather than too late."""
    return any(kind >> 8 == NFNL_SUBSYS_NFTABLES and kind & 0xFF in FILTER_GOES and b"kloigos\0" in message for kind, message in messages(data))


def wait_for_events(events, seconds, interfaces):
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        ready = select.select(list(events), [], [], left)[0] if left > 0 else []
        if not ready:
            return
        try:
            if any(events[source](source.recv(1 << 20), interfaces) for source in ready):
                return
        except OSError:  # ENOBUFS: messages were lost
            return


def filter_went(events, seconds=0.0):
    """Whether a part of our packet filter went before now, or within so many seconds. Other messages are left."""
    source = next(source for source, judge in events.items() if judge is concerns_filter)
    end = time.monotonic() + seconds
    while select.select([source], [], [], max(0.0, end - time.monotonic()))[0]:
        try:
            if concerns_filter(source.recv(1 << 20), ()):
                return True
        except OSError:  # ENOBUFS: messages were lost
            return True
    return False


def guard():
    """At once, and however often: no link is up without its filter while this program rests or looks at other units."""
    if glob.glob(NETWORKS + "*.conf") and os.path.exists(NET_PROGRAM):
        done = run(NET_PROGRAM, "guard", check=False)
        if done.returncode != 0:
            print("guard: " + done.stderr.strip()[-500:], file=sys.stderr, flush=True)


def drain(events):
    while True:
        ready = select.select(list(events), [], [], 0)[0]
        if not ready:
            return
        for source in ready:
            try:
                source.recv(1 << 20)
            except OSError:
                pass


@contextlib.contextmanager
def kernel_events():
    """The kernel's messages about the network and about packet filters, each source with the function that judges them."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as network, \
            socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_NETFILTER) as filters:
        network.bind((0, RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV4_RULE))
        network.setsockopt(270, 1, RTNLGRP_IPV6_RULE)  # SOL_NETLINK, NETLINK_ADD_MEMBERSHIP
        filters.bind((0, 1 << NFNLGRP_NFTABLES - 1))
        yield {network: concerns_units, filters: concerns_filter}


def bring_back(said):
    """Bring back what enabled units lack. Returns their interfaces, what was brought back, and whether something could not be."""
    interfaces, mended, failed, seen = set(), [], False, Seen()
    for path in sorted(glob.glob(CONFIG + "*.conf")):
        name = os.path.basename(path)[:-len(".conf")]
        try:
            with alone():
                # Asked under the lock: the unit may be on its way back.
                if not os.path.lexists(ENABLED % name) or not os.path.exists(path):
                    continue
                conf = read_config(name)
                interfaces.add(conf["INTERFACE"])
                # Only what lacks something is looked at by itself, under the lock.
                lacking = missing(name, conf, seen) and missing(name, conf)
                if not lacking:
                    said.pop(name, None)
                    continue
                if lacking[0].startswith("firewall chain "):
                    run("systemctl", "reload-or-restart", NFT_SERVICE)
                up(name, conf, link_seconds=0)
                mended.append(name)
                print("%s: brought back %s" % (name, ", ".join(lacking)), flush=True)
                said.pop(name, None)
        except (Problem, OSError, subprocess.TimeoutExpired, ValueError, KeyError) as problem:
            failed = True
            if said.get(name) != str(problem):
                print("%s: %s" % (name, problem), file=sys.stderr, flush=True)
                said[name] = str(problem)
    return interfaces, mended, failed


def bring_networks_back(said, events):
    """As bring_back, for units with a network of their own."""
    interfaces, mended, failed = set(), [], False
    for path in sorted(glob.glob(NETWORKS + "*.conf")):
        if filter_went(events):
            guard()
            failed = True  # those that were looked at before come again soon
        name = os.path.basename(path)[:-len(".conf")]
        try:
            done = run(NET_PROGRAM, "repair", name, check=False)
            interfaces.update(line.partition(": ")[2] for line in done.stdout.splitlines() if line.startswith("interface: "))
            lacking = [line for line in done.stdout.splitlines() if line.startswith("missing: ")]
            if done.returncode != 0:
                raise Problem(done.stderr.strip() or "unit-net: exit %d" % done.returncode)
            said.pop(name, None)
            if lacking:
                mended.append(name)
                print("%s: brought back %s" % (name, ", ".join(line[len("missing: "):] for line in lacking)), flush=True)
        except (Problem, OSError, subprocess.TimeoutExpired) as problem:
            failed = True
            if said.get(name) != str(problem):
                print("%s: %s" % (name, problem), file=sys.stderr, flush=True)
                said[name] = str(problem)
    return interfaces, mended, failed


def version_of_program():
    found = os.stat(__file__)
    return found.st_ino, found.st_mtime_ns


def watch():
    """Whatever took it: networkctl reload, ifdown and ifup, a flush of the packet filter, a person. With what takes it again and again there is no race."""
    mine, said, times = version_of_program(), {}, []
    with kernel_events() as events:
        guard()
        while True:
            began = time.monotonic()
            drain(events)
            looks = bring_networks_back(said, events), bring_back(said)
            interfaces, mended, failed = looks[0][0] | looks[1][0], looks[0][1] + looks[1][1], looks[0][2] or looks[1][2]
            took = time.monotonic() - began
            times = [when for when in times if when > began - AGAIN] + [began] * bool(mended)
            wait_for_events(events, AGAIN if failed else REGULAR, interfaces)
            guard()
            # With many units a look takes long: it never has more than half of one CPU.
            rest = time.monotonic() + max(SETTLE if len(times) < BURST else AGAIN, took)
            while rest > time.monotonic():
                if filter_went(events, rest - time.monotonic()):
                    guard()
            if version_of_program() != mine:
                os.execv(sys.executable, [sys.executable, "-I", __file__, "watch"])


def main(argv):
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    if argv[1:] == ["watch"]:
        watch()
    if len(argv) != 3 or argv[1] not in ("up", "status", "clear"):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        conf = read_config(argv[2])
        if argv[1] == "status":
            lacking = missing(argv[2], conf)
            for what in lacking:
                print("missing: " + what)
            return 3 if lacking else 0
        with alone():
            (up if argv[1] == "up" else clear)(argv[2], conf)
    except (Problem, OSError, subprocess.TimeoutExpired, ValueError, KeyError) as problem:
        print("kloigos unit %s: %s" % (argv[2], problem), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
