#!/usr/bin/python
"""Stands in for kloigos_live on the bench's host, where nobody could follow: it reads the files that systemd and nft
would load and keeps their hash as what is loaded."""

from __future__ import annotations

import glob
import hashlib
import os

from ansible.module_utils.basic import AnsibleModule

LOADED = "/run/kloigos/loaded"


def main():
    module = AnsibleModule(
        argument_spec={
            "watch": {"type": "list", "elements": "str", "default": []},
            "nft": {"type": "str", "choices": ["loaded", "absent"]},
        },
        supports_check_mode=True,
    )
    files = sorted(glob.glob("/etc/kloigos/nft/*.nft"))
    for unit in module.params["watch"]:
        files += glob.glob("/etc/systemd/system/%s.d/*kloigos.conf" % unit)
    total = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            total.update(file.read())
    before = ""
    if os.path.exists(LOADED):
        with open(LOADED, encoding="ascii") as file:
            before = file.read()
    if before != total.hexdigest():
        os.makedirs(os.path.dirname(LOADED), exist_ok=True)
        with open(LOADED, "w", encoding="ascii") as file:
            file.write(total.hexdigest())
    module.exit_json(changed=before != total.hexdigest(), files=len(files))


if __name__ == "__main__":
    main()
