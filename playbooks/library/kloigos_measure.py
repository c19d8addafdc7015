#!/usr/bin/python
"""Measures what the tenants of units use now: CPU over a second, memory, processes, and how full their volumes are.

It reads the counters of each tenant's slice (cgroup v2) and of the file system of the unit's volume, and writes
nothing. A slice or a volume that is not there is left out of the answer: nothing is known of it, which is not zero.
"""

from __future__ import annotations

import os
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
    module.exit_json(changed=False, kloigos_result={"units": measure(module.params["units"])})


if __name__ == "__main__":
    main()
