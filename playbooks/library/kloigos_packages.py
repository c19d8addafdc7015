#!/usr/bin/python
"""Packages that must be there.

What is installed is read from dpkg's own status file, because loading apt's cache costs seconds on a small host and
nearly every run has nothing to do. A run that was cut in the middle of dpkg is finished first. Packages are never
removed or upgraded here.
"""

from __future__ import annotations

import fcntl
import glob
import os
import re
import shutil
import time

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: kloigos_packages
short_description: Install what is missing of a list of Debian packages
options:
  names: {type: list, elements: str, required: true, description: Package names}
  lists_valid_seconds: {type: int, default: 86400, description: Age of the package lists up to which they are not fetched again}
author: Kloigos
"""

STATUS = "/var/lib/dpkg/status"
# Written by dpkg while it works and merged into the status file at its end: left over only by a cut.
JOURNAL = "/var/lib/dpkg/updates/[0-9]*"
LOCK = "/var/lib/dpkg/lock-frontend"
# Of apt's lists: apt waits for dpkg's lock if told to, and never for this one.
LISTS_LOCK = "/var/lib/apt/lists/lock"
LOCK_SECONDS = 300
BROKEN = ("half-installed", "unpacked", "half-configured", "triggers-awaited", "triggers-pending")
ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "NEEDRESTART_SUSPEND": "1",
    "LC_ALL": "C",
}
OPTIONS = [
    "-o", "DPkg::Lock::Timeout=%d" % LOCK_SECONDS,
    "-o", "Dpkg::Options::=--force-confdef",
    "-o", "Dpkg::Options::=--force-confold",
    "-o", "APT::Install-Recommends=false",
]


def installed():
    """Names of installed packages, and those that dpkg stopped in the middle of."""
    names, broken = set(), set()
    try:
        with open(STATUS, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return names, broken
    for name, status in re.findall(r"^Package: (\S+)\n(?:[^\n]+\n)*?Status: (.*)$", text, re.M):
        state = status.rsplit(" ", 1)[-1]
        if state == "installed":
            names.add(name)
        elif state in BROKEN:
            broken.add(name)
    return names, broken


def is_interrupted():
    return bool(installed()[1] or glob.glob(JOURNAL))


class Packages:
    def __init__(self, module):
        self.module = module

    def run(self, argv, fail=True):
        code, out, err = self.module.run_command(argv, environ_update=ENVIRONMENT)
        if code != 0 and fail:
            tail = "\n".join((out + err).strip().splitlines()[-20:])
            self.module.fail_json(msg="%s failed: %s" % (" ".join(argv[:1] + argv[-1:]), tail), rc=code)
        return code

    def wait_for(self, lock, what):
        """Until nobody has the lock. False where it was free at once."""
        deadline, waited = time.monotonic() + LOCK_SECONDS, False
        with open(lock, "a", encoding="utf-8") as file:
            while True:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return waited
                except OSError:
                    if time.monotonic() > deadline:
                        self.module.fail_json(msg="another package manager has held %s lock for %d s" % (what, LOCK_SECONDS))
                    waited = True
                    time.sleep(1)

    def update(self, apt, fail):
        """Fetches the lists, after whoever is at it now."""
        self.wait_for(LISTS_LOCK, "apt's lists'")
        command = [apt, "-q"] + OPTIONS[:2] + ["update"]
        if self.run(command, fail=False) == 0:
            return
        # Somebody may have come first; their lists are as good, but these are wanted for sure.
        again = self.wait_for(LISTS_LOCK, "apt's lists'")
        if again or fail:
            self.run(command, fail=fail)

    def lists_are_old(self):
        lists = glob.glob("/var/lib/apt/lists/*Packages*") + glob.glob("/var/lib/apt/lists/*InRelease")
        age = time.time() - max((os.path.getmtime(name) for name in lists), default=0)
        return age > self.module.params["lists_valid_seconds"]

    def install(self, names):
        apt = shutil.which("apt-get")
        if apt is None:
            self.module.fail_json(msg="this host has no apt-get; Kloigos manages Debian and its kin")
        command = [apt, "-y", "-q"] + OPTIONS + ["install", "--"] + names
        fresh = False
        if self.lists_are_old():
            # A mirror that is down fails the installation below with a better message than the update has.
            self.update(apt, fail=False)
            fresh = True
        if self.run(command, fail=fresh) != 0:
            self.update(apt, fail=True)
            self.run(command)


def main():
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "required": True},
            "lists_valid_seconds": {"type": "int", "default": 86400},
        },
        supports_check_mode=True,
    )
    names = sorted(set(module.params["names"]))
    wrong = [name for name in names if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]+", name)]
    if wrong:
        module.fail_json(msg="not the names of packages: " + ", ".join(wrong))
    present, _broken = installed()
    interrupted = is_interrupted()
    missing = [name for name in names if name not in present]
    diff = {"before": "", "after": "".join(name + "\n" for name in missing)}
    if interrupted:
        diff["after"] += "(dpkg --configure -a first)\n"
    changes = [{"action": "create", "kind": "package", "name": name} for name in missing]
    if interrupted:
        changes.insert(0, {"action": "change", "kind": "package manager", "name": "dpkg", "note": "an installation that was cut is finished first"})
    packages = Packages(module)
    if not module.check_mode:
        if interrupted:
            packages.wait_for(LOCK, "dpkg's")
            if is_interrupted():
                packages.run(["dpkg", "--force-confdef", "--force-confold", "--configure", "-a"])
            present, _broken = installed()
            missing = [name for name in names if name not in present]
        if missing:
            packages.install(missing)
            left = [name for name in missing if name not in installed()[0]]
            if left:
                module.fail_json(msg="still not installed: " + ", ".join(left))
    module.exit_json(changed=bool(missing or interrupted), missing=missing, interrupted=interrupted, diff=diff, kloigos_changes=changes)


if __name__ == "__main__":
    main()
