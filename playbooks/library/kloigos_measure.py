#!/usr/bin/python
"""Measures what the tenants of units use now: CPU over a second, memory, processes, and how full their volumes are.

It reads the counters of each tenant's slice (cgroup v2) and of the file system of the unit's volume, and writes
nothing. A slice or a volume that is not there is left out of the answer: nothing is known of it, which is not zero.
It also names the address of a unit that the host has lost, for longer than it takes to be brought back.
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
  - Returns C(kloigos_result) with what each tenant uses of CPU, memory, processes and disk.
options:
  units: {type: list, elements: dict, required: true, description: "id, uid of the tenant and mount of each unit"}
author: Kloigos
"""

SLICES = "/sys/fs/cgroup/user.slice/"
ADDRESSES = "/etc/kloigos/addresses/*.conf"
IP = "/usr/sbin/ip"
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
    """Ids of the units whose address is not on the host, with the address."""
    promised = addresses_of_units()
    def look():
        here = addresses_here(module)
        return {} if here is None else {u["id"]: promised[int(u["uid"])] for u in units if promised.get(int(u["uid"]), None) not in here | {None}}
    lost = look()
    if lost:
        time.sleep(WATCH_SECONDS)
        again = look()
        lost = {unit: address for unit, address in lost.items() if unit in again}
    return lost


def measure(units):
    slices = {unit["id"]: "%suser-%d.slice" % (SLICES, int(unit["uid"])) for unit in units}
    before = {unit: cpu_time(path) for unit, path in slices.items()}
    time.sleep(SECONDS)
    found = []
    for unit in units:
        use = dict(of_slice(slices[unit["id"]], before[unit["id"]]), **of_volume(unit["mount"]))
        found.append(dict(use, id=unit["id"]))
    return found


def main():
    module = AnsibleModule(
        argument_spec={"units": {"type": "list", "elements": "dict", "required": True}},
        supports_check_mode=True,
    )
    units = measure(module.params["units"])
    lost = lost_addresses(module, module.params["units"])
    units = [dict(unit, lacks=["address " + lost[unit["id"]]]) if unit["id"] in lost else unit for unit in units]
    module.exit_json(changed=False, kloigos_result={"units": units})


if __name__ == "__main__":
    main()
