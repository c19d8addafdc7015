#!/usr/bin/python
"""Reads what a host is: topology, memory, disks with their signatures, uplink, what the kernel and the system can do.

It only reads; it is the one module that runs on a host before Kloigos has anything there, so it relies on
nothing but Python, sysfs, util-linux and iproute2, and says less (never fails) where one of them is missing.
"""

from __future__ import annotations

import glob
import json
import os
import platform
import re
import shutil
import time

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: kloigos_probe
short_description: Read the facts that a layout and its checks need
description:
  - Returns C(kloigos_result) with the CPU topology, memory per NUMA node, whole disks, volume groups, uplink and capabilities.
author: Kloigos
"""

# Not disks that a volume group can be made on, or views of ones that are listed already.
SKIPPED_DISKS = re.compile(r"^(loop|ram|zram|dm-|md|sr|fd|nbd|drbd)\d*")
# Of the links that udev makes for a disk, the one that says most to a person comes first. Links of LVM and device mapper
# name the content, not the disk, and go away with it.
BY_ID_ORDER = ("nvme-", "ata-", "scsi-", "virtio-", "usb-", "mmc-", "wwn-")
BY_ID_CONTENT = ("dm-", "lvm-pv-uuid-", "md-")

CPUS = "/sys/devices/system/cpu/"
NODES = "/sys/devices/system/node/"
MEMINFO = "/proc/meminfo"
CGROUPS = "/sys/fs/cgroup/"
# Bounds of what is believed: numbers of CPUs, threads of a core (8 are the most that were built), others with CPUs.
MOST_CPU, MOST_THREADS, MOST_RESERVED = 8191, 16, 256

ROOT = ""
MOST_ID_RANGES = 1024
LOGIN_DEFS = (
    ("UID_MIN", "UID_MAX", "UIDs"), ("GID_MIN", "GID_MAX", "GIDs"),
    ("SUB_UID_MIN", "SUB_UID_MAX", "subordinate UIDs"), ("SUB_GID_MIN", "SUB_GID_MAX", "subordinate GIDs"),
)

UNIT_PROGRAM = "/usr/local/lib/kloigos/unit"
ADDRESSES = "/etc/kloigos/addresses/"
ENABLED = "/etc/systemd/system/multi-user.target.wants/kloigos-unit@%s.service"
# The same of units with a network of their own.
NET_PROGRAM = "/usr/local/lib/kloigos/unit-net"
NETWORKS = "/etc/kloigos/networks/"
NET_ENABLED = "/etc/systemd/system/multi-user.target.wants/kloigos-net@%s.service"
WATCH = "kloigos-watch.service"
# What a unit's own network needs: unit-net, kloigos-net@ and kloigos-sshd@ use these. IPCNamespacePath= came with systemd 248.
NETWORK_TOOLS = ("ip", "nft", "unshare", "nsenter", "mount", "sshd")
NETWORK_SYSTEMD = 248
NETWORK_KERNEL = (
    ("/proc/self/ns/net", "network namespaces"), ("/proc/self/ns/ipc", "IPC namespaces"),
    ("/proc/sys/net/ipv4/ip_unprivileged_port_start", "ip_unprivileged_port_start"),
)
NETWORK_MODULES = ("veth", "nft_fib_inet", "nft_ct", "nft_reject_inet")
RESOLV = ("/etc/kloigos/resolv.conf", "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf", "/run/NetworkManager/no-stub-resolv.conf")
# A unit that lost something is brought back within seconds; what is missing for longer is a fault.
WATCH_SECONDS = 5

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def read(path, default=""):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip("\x00 \n\t")
    except OSError:
        return default


def number(path, default=0):
    try:
        return int(read(path))
    except ValueError:
        return default


def cpu_set(text):
    """The CPUs of a list as the kernel writes it; parts that are none are passed over."""
    cpus = set()
    for part in text.split(","):
        match = re.fullmatch(r"(\d{1,6})(?:-(\d{1,6}))?", part.strip(), re.ASCII)
        if match:
            cpus.update(range(int(match.group(1)), min(int(match.group(2) or match.group(1)), MOST_CPU) + 1))
    return cpus


def in_short(cpus):
    """A set as the kernel writes it."""
    text, cpus = [], sorted(cpus)
    while cpus:
        first = last = cpus.pop(0)
        while cpus and cpus[0] == last + 1:
            last = cpus.pop(0)
        text.append("%d" % first if first == last else "%d-%d" % (first, last))
    return ",".join(text)


def numbered(directory, prefix):
    """The numbers of the directories that are called prefix and a number."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [int(name[len(prefix):]) for name in names if re.fullmatch(prefix + r"\d{1,5}", name, re.ASCII)]


def meminfo_bytes(name, text):
    """A line of a meminfo, in bytes."""
    match = re.search(r"\b%s:\s+(\d{1,15}) kB" % name, text, re.ASCII)
    return int(match.group(1)) * 1024 if match else 0


def page_bytes(path):
    """The size of the huge pages that a directory is about."""
    match = re.search(r"-(\d{1,12})kB$", path, re.ASCII)
    return int(match.group(1)) * 1024 if match else 0


# Flags of a route whose next hop can't be used now.
UNUSABLE = {"dead", "linkdown"}


def hops_of(route):
    """The next hops of a route, each as a route of one next hop. A blackhole has none."""
    hops = [dict(route, **hop) for hop in route.get("nexthops") or [route]]
    return [hop for hop in hops if hop.get("dev")]


class Probe:
    def __init__(self, module):
        self.module = module

    def json_of(self, argv):
        """Output of a tool that speaks JSON; None when the tool is missing or says nothing."""
        binary = shutil.which(argv[0], path=SYSTEM_PATH)
        if binary is None:
            return None
        code, out, _err = self.module.run_command([binary] + argv[1:], environ_update={"LC_ALL": "C"})
        if code != 0 or not out.strip():
            return None
        try:
            return json.loads(out)
        except ValueError:
            return None

    def os_release(self):
        fields = {}
        for line in read("/etc/os-release").splitlines():
            key, equals, value = line.partition("=")
            if equals:
                fields[key] = value.strip().strip("\"'")
        return {"id": fields.get("ID", ""), "version_id": fields.get("VERSION_ID", ""), "name": fields.get("PRETTY_NAME", "")}

    def topology(self):
        online = sorted(cpu_set(read(CPUS + "online", "0"))) or [0]
        memory_bytes = meminfo_bytes("MemTotal", read(MEMINFO))
        nodes, node_of = self.nodes(online)
        if not nodes:  # a kernel without NUMA has one node that it does not show
            nodes = [{"node": 0, "cpus": in_short(online), "memory_bytes": memory_bytes,
                      "reserved_bytes": min(meminfo_bytes("Hugetlb", read(MEMINFO)), memory_bytes)}]
        cpus = [{"cpu": cpu, "node": node_of.get(cpu, nodes[0]["node"]), "socket": self.of_cpu(cpu, "physical_package_id")} for cpu in online]
        self.number_cores(cpus)
        return {"cpus": cpus, "nodes": nodes, "memory_bytes": memory_bytes, "reserved_cpus": self.reserved_cpus()}

    def nodes(self, online):
        nodes, node_of = [], {}
        for node in sorted(numbered(NODES, "node")):
            base = "%snode%d/" % (NODES, node)
            meminfo = read(base + "meminfo")
            memory = meminfo_bytes("MemTotal", meminfo)
            pages = sum(number(path + "/nr_hugepages") * page_bytes(path) for path in glob.glob(base + "hugepages/hugepages-*kB"))
            cpus = cpu_set(read(base + "cpulist")) & set(online)
            nodes.append({"node": node, "cpus": in_short(cpus), "memory_bytes": memory, "reserved_bytes": min(max(pages, 0), memory)})
            node_of.update((cpu, node) for cpu in cpus)
        return nodes, node_of

    def of_cpu(self, cpu, name):
        return min(max(number("%scpu%d/topology/%s" % (CPUS, cpu, name)), 0), 1 << 30)

    def number_cores(self, cpus):
        """The kernel's core_id can repeat within a socket (dies, clusters), so cores are told by the threads that they have and
        numbered within the socket. What can't be a core (too many threads, of several nodes) counts as none."""
        where = {c["cpu"]: (c["node"], c["socket"]) for c in cpus}
        cores = {}
        for c in cpus:
            base = "%scpu%d/topology/" % (CPUS, c["cpu"])
            threads = cpu_set(read(base + "core_cpus_list") or read(base + "thread_siblings_list")) & set(where)
            if threads:
                sane = len(threads) <= MOST_THREADS and c["cpu"] in threads and {where[t] for t in threads} == {where[c["cpu"]]}
                key = ("threads", min(threads) if sane else c["cpu"])
            else:
                key = ("id", self.of_cpu(c["cpu"], "die_id"), self.of_cpu(c["cpu"], "cluster_id"), self.of_cpu(c["cpu"], "core_id"), c["node"])
            of_socket = cores.setdefault(c["socket"], {})
            c["core"] = of_socket.setdefault(key, len(of_socket))

    def reserved_cpus(self):
        """CPUs that a unit can't have as its own: the scheduler keeps off isolated ones, and others' control groups use theirs."""
        found = []
        isolated = cpu_set(read(CPUS + "isolated"))
        if isolated:
            found.append({"cpus": in_short(isolated), "by": "the kernel parameter isolcpus"})
        ours = {"system.slice", "init.scope", "user.slice"}
        for top in sorted(glob.glob(CGROUPS + "*/")):
            name = os.path.basename(top.rstrip("/"))
            if name in ours:
                continue
            cpus = set()
            for path, below, _files in os.walk(top):
                cpus |= cpu_set(read(path + "/cpuset.cpus"))
                if path[len(top):].count("/") >= 3:
                    below[:] = []
            if cpus:
                found.append({"cpus": in_short(cpus), "by": "the control group " + name})
        return found[:MOST_RESERVED]

    def busy_numbers(self):
        """major:minor of everything mounted, and the paths of swap devices."""
        numbers, swaps = set(), set()
        for line in read("/proc/self/mountinfo").splitlines():
            fields = line.split()
            if len(fields) > 2:
                numbers.add(fields[2])
        for line in read("/proc/swaps").splitlines()[1:]:
            swaps.add(os.path.realpath(line.split()[0]))
        return numbers, swaps

    def in_use(self, sys_path, busy):
        numbers, swaps = busy
        if read(sys_path + "/dev") in numbers or "/dev/" + os.path.basename(sys_path) in swaps:
            return True
        below = [p for p in glob.glob(sys_path + "/*") if os.path.exists(p + "/partition")]
        below += [os.path.realpath(p) for p in glob.glob(sys_path + "/holders/*")]
        return any(self.in_use(p, busy) for p in below)

    def signatures(self, device):
        """Types of every signature on the disk itself. A disk that can't be read counts as one that carries something."""
        answer = self.json_of(["wipefs", "--json", "--no-act", device])
        if answer is None:
            try:
                with open(device, "rb") as file:
                    file.read(512)
            except OSError:
                return ["unreadable"]
            return [] if shutil.which("wipefs", path=SYSTEM_PATH) else ["unknown"]
        found = []
        for entry in answer.get("signatures", []):
            if entry.get("type") and entry["type"] not in found:
                found.append(entry["type"])
        return found

    def by_id(self, device):
        links = []
        for link in glob.glob("/dev/disk/by-id/*"):
            name = os.path.basename(link)
            if os.path.realpath(link) == device and not name.startswith(BY_ID_CONTENT):
                rank = next((i for i, prefix in enumerate(BY_ID_ORDER) if name.startswith(prefix)), len(BY_ID_ORDER))
                links.append((rank, len(name), link))
        return min(links)[2] if links else ""

    def devices(self):
        found, busy = [], self.busy_numbers()
        for sys_link in sorted(glob.glob("/sys/block/*")):
            name = os.path.basename(sys_link)
            size = number(sys_link + "/size") * 512
            device = "/dev/" + name.replace("!", "/")
            if SKIPPED_DISKS.match(name) or size == 0 or not os.path.exists(device):
                continue
            sys_path = os.path.realpath(sys_link)
            found.append({
                "path": device,
                "by_id": self.by_id(device),
                "size_bytes": size,
                "rotational": number(sys_path + "/queue/rotational") == 1,
                "discard": number(sys_path + "/queue/discard_max_bytes") > 0,
                "read_only": number(sys_path + "/ro") == 1,
                "model": read(sys_path + "/device/model"),
                "serial": read(sys_path + "/serial") or read(sys_path + "/device/serial"),
                "signatures": self.signatures(device),
                "mounted": self.in_use(sys_path, busy),
                "partitions": len(glob.glob(sys_path + "/*/partition")),
            })
        return found

    def volume_groups(self):
        answer = self.json_of(["vgs", "--reportformat", "json", "--units", "b", "--nosuffix", "-o", "vg_name,vg_size,vg_free"])
        groups = []
        for report in (answer or {}).get("report", []):
            for group in report.get("vg", []):
                groups.append({"name": group["vg_name"], "size_bytes": int(group["vg_size"]), "free_bytes": int(group["vg_free"])})
        return groups

    def of_units(self):
        """Addresses that units brought along; they go again with their tenants."""
        found = set()
        for path in glob.glob("/etc/kloigos/addresses/*.conf"):
            found.update(re.findall(r"^ADDRESS=(\S+)$", read(path), re.M))
        return found

    def addresses(self):
        links = self.json_of(["ip", "-j", "-4", "address", "show"]) or []
        every = {a.get("local", "") for link in links for a in link.get("addr_info", []) if a.get("scope") != "host"}
        return sorted(every - self.of_units() - {""})

    def uplink(self):
        nothing = {"interface": "", "address": "", "prefix": 0, "gateway": ""}
        routes = [hop for route in self.json_of(["ip", "-j", "-4", "route", "show", "default"]) or [] for hop in hops_of(route)]
        if not routes:
            return nothing
        # The first of those with the lowest metric; one whose link is down only where there is no other.
        route = min(routes, key=lambda r: (not UNUSABLE.isdisjoint(r.get("flags", [])), r.get("metric", 0), -r.get("weight", 1)))
        found = dict(nothing, interface=route["dev"], gateway=route.get("gateway", ""))
        for link in self.json_of(["ip", "-j", "-4", "address", "show", "dev", route["dev"]]) or []:
            addresses = [a for a in link.get("addr_info", []) if a.get("scope") == "global" and a.get("local") not in self.of_units()]
            # A unit's floating /32 lies on the same link; the host's own address is the one with a network.
            own = [a for a in addresses if a.get("prefixlen", 32) < 32 and not a.get("secondary")] or addresses
            if own:
                found["address"] = route.get("prefsrc") or own[0].get("local", "")
                found["prefix"] = own[0].get("prefixlen", 0)
        return found

    def id_overlaps(self):
        """Tenants whose UID lies in a range of subordinate IDs: whoever has the range reads their files in a user namespace."""
        tenants = []
        for path in sorted(glob.glob(ROOT + "/etc/kloigos/units/*.json")):
            try:
                holder = json.loads(read(path))["allocation"]
                tenants.append((holder["login_user"], int(holder["uid"])))
            except (ValueError, KeyError, TypeError):
                continue
        found = []
        for path in ("/etc/subuid", "/etc/subgid"):
            for entry in [line.strip().split(":") for line in read(ROOT + path).splitlines()]:
                if len(entry) == 3 and entry[1].isdigit() and entry[2].isdigit():
                    first, last = int(entry[1]), int(entry[1]) + int(entry[2]) - 1
                    found += ["%s (UID %d) in the range %d to %d of %s (%s)" % (user, uid, first, last, entry[0], path)
                              for user, uid in tenants if first <= uid <= last]
        return found

    def id_ranges(self):
        """Ranges of UIDs and GIDs that this host gives to others: subordinate ones, and those that new accounts will get."""
        found = []
        for path, kind in (("/etc/subuid", "UIDs"), ("/etc/subgid", "GIDs")):
            for entry in [line.strip().split(":") for line in read(ROOT + path).splitlines()]:
                if len(entry) == 3 and entry[1].isdigit() and entry[2].isdigit() and int(entry[2]) > 0:
                    found.append({"first": int(entry[1]), "last": int(entry[1]) + int(entry[2]) - 1, "given": True,
                                  "by": "the subordinate %s of %s (%s)" % (kind, entry[0], path)})
        login_defs = dict(re.findall(r"^\s*([A-Z_]+)\s+(\d{1,10})\s*(?:#.*)?$", read(ROOT + "/etc/login.defs"), re.M))
        for low, high, what in LOGIN_DEFS:
            if low in login_defs and high in login_defs and int(login_defs[low]) <= int(login_defs[high]):
                found.append({"first": int(login_defs[low]), "last": int(login_defs[high]), "given": False,
                              "by": "the %s of new accounts (%s to %s in /etc/login.defs)" % (what, low, high)})
        return found[:MOST_ID_RANGES]

    def capabilities(self):
        controllers = read("/sys/fs/cgroup/cgroup.controllers").split()
        version = ""
        systemctl = shutil.which("systemctl", path=SYSTEM_PATH)
        if systemctl and os.path.isdir("/run/systemd/system"):
            _code, out, _err = self.module.run_command([systemctl, "--version"])
            match = re.match(r"systemd (\d+)", out)
            version = match.group(1) if match else ""
        return {
            "unit_networks": self.unit_networks(version),
            "cgroup2": bool(controllers),
            "cpuset": "cpuset" in controllers,
            "apparmor": read("/sys/module/apparmor/parameters/enabled") == "Y",
            "nftables": shutil.which("nft", path=SYSTEM_PATH) is not None,
            "lvm": shutil.which("lvm", path=SYSTEM_PATH) is not None,
            "systemd": version,
            "python": platform.python_version(),
        }

    def unit_networks(self, systemd):
        """"possible", or what is not here of what a unit's own network needs."""
        lacking = [tool for tool in NETWORK_TOOLS if shutil.which(tool, path=SYSTEM_PATH) is None]
        if not systemd.isdigit() or int(systemd) < NETWORK_SYSTEMD:
            lacking.append("systemd %d (it is %s)" % (NETWORK_SYSTEMD, systemd or "not there"))
        lacking += ["%s in the kernel" % what for path, what in NETWORK_KERNEL if not os.path.exists(ROOT + path)]
        modprobe = shutil.which("modprobe", path=SYSTEM_PATH)
        if modprobe:  # without it the kernel has all that it will have
            lacking += ["the kernel module " + name for name in NETWORK_MODULES if self.module.run_command([modprobe, "-qn", name])[0] != 0]
        ours = read(ROOT + "/etc/kloigos/kloigos.nft")
        if ours and "chain units_out" not in ours:
            lacking.append("the packet filter of this release (initialize the host again)")
        if not self.uplink()["address"]:
            lacking.append("an uplink with an IPv4 address")
        lacking += self.closed_chains()
        if not self.units_can_ask():
            lacking.append("a name server that units reach, by IPv4 and not on the host itself (say one in /etc/kloigos/resolv.conf)")
        return "missing: " + ", ".join(lacking) if lacking else "possible"

    def closed_chains(self):
        """Chains of the host's own that drop what is forwarded, and name no interface of units: no table of ours can overrule them."""
        nft = shutil.which("nft", path=SYSTEM_PATH)
        if nft is None:
            return []
        code, out, _err = self.module.run_command([nft, "--json", "list", "chains"], environ_update={"LC_ALL": "C"})
        try:
            listed = json.loads(out)["nftables"] if code == 0 else []
        except (ValueError, KeyError, TypeError):
            return []
        found = []
        for chain in (entry["chain"] for entry in listed if "chain" in entry):
            if chain.get("hook") != "forward" or chain.get("policy") != "drop" or chain["table"] == "kloigos":
                continue
            name = [chain["family"], chain["table"], chain["name"]]
            _code, rules, _err = self.module.run_command([nft, "list", "chain"] + name, environ_update={"LC_ALL": "C"})
            if "klu" not in rules:
                found.append("a way through the chain %s, which drops what is forwarded (accept packets from and to klu* there)" % " ".join(name))
        return found

    def units_can_ask(self):
        """Whether one of the host's name servers can be reached from a network of a unit (unit-net); a host without any gives none."""
        servers = re.findall(r"^\s*nameserver\s+(\S+)", "\n".join(read(ROOT + path) for path in RESOLV), re.M)
        return not servers or any(re.fullmatch(r"\d+(\.\d+){3}", one) and one.split(".")[0] not in ("0", "127") and one != self.uplink()["address"] for one in servers)

    def lacking(self, program, name):
        """What an enabled unit lacks, in words."""
        code, out, err = self.module.run_command([program, "status", name], environ_update={"LC_ALL": "C"})
        if code == 0:
            return []
        found = [line[len("missing: "):] for line in out.splitlines() if line.startswith("missing: ")]
        return found or [(err or out).strip() or "exit %d" % code]

    def faults(self):
        """What of our own does not work on a host that carries units, each in a sentence."""
        units = []
        for settings, enabled, program in ((ADDRESSES, ENABLED, UNIT_PROGRAM), (NETWORKS, NET_ENABLED, NET_PROGRAM)):
            names = [os.path.basename(path)[:-len(".conf")] for path in sorted(glob.glob(settings + "*.conf"))]
            units += [(program, name) for name in names if os.path.lexists(enabled % name) and os.path.exists(program)]
        if not units:
            return []
        found = []
        systemctl = shutil.which("systemctl", path=SYSTEM_PATH)
        watched = systemctl is not None and self.module.run_command([systemctl, "--quiet", "is-active", WATCH])[0] == 0
        lacking = {unit: self.lacking(*unit) for unit in units}
        if watched and any(lacking.values()):
            time.sleep(WATCH_SECONDS)
            lacking = {unit: what and self.lacking(*unit) for unit, what in lacking.items()}
        if not watched:
            found.append("The service %s does not run: initialize the host again." % WATCH)
        found += ["Unit %s lacks: %s." % (name, ", ".join(what)) for (_program, name), what in lacking.items() if what]
        return found

    def fence(self):
        token = read("/etc/kloigos/fence/token")
        return {"incarnation": read("/etc/kloigos/fence/incarnation"), "fence_number": int(token) if token.isdigit() else 0}


def main():
    module = AnsibleModule(argument_spec={}, supports_check_mode=True)
    probe = Probe(module)
    result = {
        "machine_id": read("/etc/machine-id"),
        "hostname": platform.node(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "os": probe.os_release(),
        "devices": probe.devices(),
        "volume_groups": probe.volume_groups(),
        "uplink": probe.uplink(),
        "addresses": probe.addresses(),
        "id_overlaps": probe.id_overlaps(),
        "id_ranges": probe.id_ranges(),
        "capabilities": probe.capabilities(),
        "faults": probe.faults(),
    }
    result.update(probe.topology())
    result.update(probe.fence())
    module.exit_json(changed=False, kloigos_result=result)


if __name__ == "__main__":
    main()
