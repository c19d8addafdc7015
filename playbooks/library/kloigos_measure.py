#!/usr/bin/python
"""Measures what the tenants of units use now: CPU and traffic over a second, memory, processes, and how full their volumes are.

It reads the counters of each tenant's slice (cgroup v2), of the file system of the unit's volume and of its own link, and
writes nothing. A slice or a volume that is not there is left out of the answer: nothing is known of it, which is not zero.
It also names the address of a unit that the host has lost, for longer than it takes to be brought back, and what a
unit with a network of its own lacks of it.
"""

from __future__ import annotations

import glob
import json
import os
import re
import time

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: kloigos_measure
short_description: Measure what the tenants of units use
description:
  - Returns C(kloigos_result) with what each tenant uses of CPU, memory, processes, disk and network.
options:
  units: {type: list, elements: dict, required: true, description: "id, uid of the tenant and mount of each unit"}
author: Kloigos
"""

SLICES = "/sys/fs/cgroup/user.slice/"
ADDRESSES = "/etc/kloigos/addresses/*.conf"
IP = "/usr/sbin/ip"
# Of units with a network of their own, with the program that says what one lacks.
NETWORKS = "/etc/kloigos/networks/*.conf"
NET_PROGRAM = "/usr/local/lib/kloigos/unit-net"
# The host's end of the link of such a unit: what it receives, the unit has sent.
LINKS = "/sys/class/net/klu%d/statistics/"
# A unit that lost its address is brought back within seconds (the host's watch).
WATCH_SECONDS = 5.0
# The counter of CPU time is looked at twice, so far apart.
SECONDS = 1.0


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def entry(path, name):
    """One number of a file that has a name and a number a line."""
    for line in read(path).splitlines():
        key, _space, value = line.partition(" ")
        if key == name:
            return int(value)
    raise ValueError("%s has no %s" % (path, name))


def cpu_time(slice_path):
    """Microseconds of CPU that were used, and when that was so; None where there is no slice."""
    try:
        return entry(slice_path + "/cpu.stat", "usage_usec"), time.monotonic()
    except (OSError, ValueError):
        return None


def of_slice(slice_path, before):
    """What the processes of a tenant use. The slice may go at any moment, and another of its name come."""
    after = cpu_time(slice_path)
    if before is None or after is None or after[0] < before[0]:
        return {}
    try:
        return {
            "cpu_millis": round((after[0] - before[0]) / (after[1] - before[1]) / 1000),
            "memory_bytes": int(read(slice_path + "/memory.current")),
            "cache_bytes": entry(slice_path + "/memory.stat", "inactive_file"),
            "processes": int(read(slice_path + "/pids.current")),
        }
    except (OSError, ValueError):
        return {}


def of_volume(mount):
    """How full a volume is. A directory where it should be mounted would tell of the system's disk."""
    try:
        if not os.path.ismount(mount):
            return {}
        found = os.statvfs(mount)
    except OSError:
        return {}
    return {"disk_used_bytes": (found.f_blocks - found.f_bfree) * found.f_frsize, "disk_bytes": found.f_blocks * found.f_frsize}


def traffic(uid):
    """Bytes that went to a unit and came from it, and when that was so; None where it has no link of its own."""
    try:
        return int(read(LINKS % uid + "tx_bytes")), int(read(LINKS % uid + "rx_bytes")), time.monotonic()
    except (OSError, ValueError):
        return None


def of_link(uid, before):
    """What went over the link of a unit: in all since it was made, and a second. It may be made anew at any moment."""
    after = traffic(uid)
    if before is None or after is None or after[0] < before[0] or after[1] < before[1]:
        return {}
    seconds = after[2] - before[2]
    return {
        "received_bytes": after[0], "sent_bytes": after[1],
        "receive_rate": round((after[0] - before[0]) / seconds), "send_rate": round((after[1] - before[1]) / seconds),
    }


def addresses_of_units():
    """The address of each tenant's UID."""
    found = {}
    for path in glob.glob(ADDRESSES):
        try:
            text = read(path)
        except (OSError, ValueError):
            continue
        uid, address = re.search(r"^UID=(\d+)$", text, re.M), re.search(r"^ADDRESS=([0-9.]+)$", text, re.M)
        if uid and address:
            found[int(uid.group(1))] = address.group(1)
    return found


def addresses_here(module):
    """Every IPv4 address of the host; None where nobody can tell."""
    if not os.path.exists(IP):
        return None
    code, out, _err = module.run_command([IP, "-j", "-4", "address", "show"], environ_update={"LC_ALL": "C"})
    try:
        links = json.loads(out) if code == 0 else None
    except ValueError:
        links = None
    return links and {a.get("local") for link in links for a in link.get("addr_info", [])}


def lost_addresses(module, units):
    """What units lack whose address is not on the host, by their ids."""
    promised, here = addresses_of_units(), addresses_here(module)
    if here is None:
        return {}
    return {u["id"]: ["address " + promised[int(u["uid"])]] for u in units if promised.get(int(u["uid"]), None) not in here | {None}}


def lost_networks(module, units):
    """What units lack of networks of their own, by their ids; 16 things at most."""
    uids = {int(u["uid"]): u["id"] for u in units}
    found = {}
    for path in sorted(glob.glob(NETWORKS)):
        try:
            uid = re.search(r"^UID=(\d+)$", read(path), re.M)
        except (OSError, ValueError):
            continue
        if uid and int(uid.group(1)) in uids and os.path.exists(NET_PROGRAM):
            code, out, err = module.run_command([NET_PROGRAM, "status", os.path.basename(path)[:-len(".conf")]], environ_update={"LC_ALL": "C"})
            if code != 0:
                lacks = [line[len("missing: "):] for line in out.splitlines() if line.startswith("missing: ")]
                found[uids[int(uid.group(1))]] = lacks[:16] or [(err or out).strip()[:200] or "exit %d" % code]
    return found


def lost(module, units):
    """What units lack of their networks, for longer than it takes to be brought back."""
    def look():
        return dict(lost_addresses(module, units), **lost_networks(module, units))
    first = look()
    if first:
        time.sleep(WATCH_SECONDS)
        again = look()
        return {unit: lacks for unit, lacks in again.items() if unit in first}
    return first


def measure(units):
    slices = {unit["id"]: "%suser-%d.slice" % (SLICES, int(unit["uid"])) for unit in units}
    before = {unit: cpu_time(path) for unit, path in slices.items()}
    carried = {unit["id"]: traffic(int(unit["uid"])) for unit in units}
    time.sleep(SECONDS)
    found = []
    for unit in units:
        use = dict(of_slice(slices[unit["id"]], before[unit["id"]]), **of_volume(unit["mount"]))
        use.update(of_link(int(unit["uid"]), carried[unit["id"]]))
        found.append(dict(use, id=unit["id"]))
    return found


def main():
    module = AnsibleModule(
        argument_spec={"units": {"type": "list", "elements": "dict", "required": True}},
        supports_check_mode=True,
    )
    units = measure(module.params["units"])
    lacking = lost(module, module.params["units"])
    units = [dict(unit, lacks=lacking[unit["id"]]) if unit["id"] in lacking else unit for unit in units]
    module.exit_json(changed=False, kloigos_result={"units": units})


if __name__ == "__main__":
    main()
