#!/usr/bin/python
"""Stands in for kloigos_unit on the bench's host, which has no LVM, no systemd and no AppArmor: the same arguments, the
same place in the play, but a volume is a directory and a mark in it. It refuses a unit that is somebody else's."""

from __future__ import annotations

import json
import os

from ansible.module_utils.basic import AnsibleModule

MANIFESTS = "/etc/kloigos/units/"


def claim(unit, allocation):
    """Takes the volume, once."""
    mark = os.path.join(unit["mount"], ".holder")
    os.makedirs(unit["mount"], mode=0o750, exist_ok=True)
    if os.path.exists(mark):
        with open(mark, encoding="utf-8") as file:
            holder = file.read()
        if holder != allocation["id"]:
            raise ValueError("it is held by %s" % holder)
        return []
    with open(mark, "w", encoding="utf-8") as file:
        file.write(allocation["id"])
        os.fsync(file.fileno())
    return ["claimed " + unit["mount"]]


def run(unit, allocation, profile_version):
    """Compares what was promised with what is there."""
    with open(MANIFESTS + unit["id"] + ".json", encoding="utf-8") as file:
        manifest = json.load(file)
    if manifest["allocation"]["id"] != allocation["id"] or manifest["apparmor_version"] != profile_version:
        raise ValueError("the manifest is of another allocation")
    missing = [path for path in manifest["paths"].values() if path.startswith("/usr/") and not os.path.exists(path)]
    if missing:
        raise ValueError("missing: %s" % missing)
    return []


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["claimed", "running", "stopped"]},
            "unit": {"type": "dict", "required": True},
            "allocation": {"type": "dict", "required": True},
            "volume_group": {"type": "str", "required": True},
            "profile_version": {"type": "str"},
            "network": {"type": "str", "choices": ["host"], "default": "host"},
        },
        required_if=[("state", "running", ("profile_version",))],
        supports_check_mode=True,
    )
    unit, allocation = module.params["unit"], module.params["allocation"]
    try:
        if module.params["state"] == "claimed":
            done = claim(unit, allocation)
        else:
            done = run(unit, allocation, module.params["profile_version"])
    except (OSError, ValueError, KeyError) as problem:
        module.fail_json(msg="%s: %r" % (unit.get("name"), problem))
    module.exit_json(changed=bool(done), done=done, diff={"before": "", "after": "".join(line + "\n" for line in done)})


if __name__ == "__main__":
    main()
