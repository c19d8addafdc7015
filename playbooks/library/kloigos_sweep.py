#!/usr/bin/python
"""Owns what a tenant may have left outside of his volume: finds it by UID, and removes it.

Crontab, at jobs, mail, IPC objects, core dumps, journal files and every file that belongs to the UID or to the group
of the same number, on the local file systems of the host. It never crosses into network or virtual file systems nor
into other units' volumes, never follows a link, and leaves the parts of the system alone that nobody but root can
write to. Run it when no process of the UID is left; it does not remove the account.

What lies under the login name goes only where it belongs to the UID. A linger mark and subordinate IDs have no owner:
they go only where /etc/passwd has the tenant's account, since the name may be a person's whom a directory knows.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import re
import shutil
import stat

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read

DOCUMENTATION = r"""
module: kloigos_sweep
short_description: Remove what a tenant left outside of his volume
options:
  login_user: {type: str, required: true, description: Login name}
  uid: {type: int, required: true, description: UID and GID}
  unit_id: {type: str, required: true, description: The unit that he had; a note of what was removed is kept for the evidence of its wipe}
  allocation_id: {type: str, required: true, description: Whose note it is}
author: Kloigos
"""

LOCAL = {"ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs", "jfs", "tmpfs", "overlay"}
VOLUMES = "/mnt/kloigos/"
# Only root can make anything in these, so nothing of a tenant is there; they are most of the files of a host.
ROOTS_OWN = {"/usr", "/boot", "/proc", "/sys", "/lost+found"}
# Removed with the tenant by other means (systemd, the account's removal); reading them is no use.
KLOIGOS_OWN = {"/etc/kloigos"}
PASSWD = "/etc/passwd"
SUBORDINATE = ("/etc/subuid", "/etc/subgid")
SPOOLS = ("/var/spool/cron/crontabs/", "/var/mail/", "/var/spool/mail/")
AT_JOBS = "/var/spool/cron/atjobs/[a-z]*"
LINGER = "/var/lib/systemd/linger/"
IPC = {"shm": ("shmctl", 0), "sem": ("semctl", 1), "msg": ("msgctl", 0)}
IPC_RMID = 0
# Beside the stamp of the wipe, which takes it over and removes it: what a cut run had removed is not forgotten.
NOTES = "/etc/kloigos/wiped/"
NOTED = 1000


class Sweep(Work):
    def __init__(self, module):
        super().__init__(module)
        self.user = module.params["login_user"]
        self.uid = module.params["uid"]
        self.note = NOTES + module.params["unit_id"] + ".swept"
        self.removed, self.left, self.noted = [], [], []

    # what was removed

    def open_note(self):
        """What an earlier, cut run for this allocation removed; the note of another allocation is begun anew."""
        text = read(self.note)
        lines = text.split("\n")
        if lines[0] == self.module.params["allocation_id"]:
            for line in lines[1:]:
                try:
                    self.noted.append(str(json.loads(line)))
                except ValueError:  # the run was cut while it wrote this line
                    continue
            if not self.check and not text.endswith("\n"):
                with open(self.note, "a", encoding="ascii") as file:
                    file.write("\n")
        elif not self.check:
            os.makedirs(NOTES, mode=0o700, exist_ok=True)
            with open(self.note, "w", encoding="ascii") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(self.module.params["allocation_id"] + "\n")

    def did(self, what):
        """Noted before it is done: a thing that is named twice is better than one that is not."""
        self.removed.append(what)
        if not self.check and len(self.noted) < NOTED:
            self.noted.append(what)
            with open(self.note, "a", encoding="ascii") as file:
                file.write(json.dumps(what) + "\n")

    def remove(self, path):
        if not os.path.lexists(path):
            return
        self.did(path)
        if self.check:
            return
        try:
            if stat.S_ISDIR(os.lstat(path).st_mode):
                shutil.rmtree(path)
            else:
                os.unlink(path)
        except OSError as problem:
            self.left.append("%s: %s" % (path, problem.strerror))

    # by name

    def account_is_here(self):
        return any(line.split(":")[:3:2] == [self.user, str(self.uid)] for line in read(PASSWD).splitlines())

    def spools(self):
        for path in [path + self.user for path in SPOOLS] + glob.glob(AT_JOBS):
            if os.path.lexists(path) and os.lstat(path).st_uid == self.uid:
                self.remove(path)
        if self.account_is_here():
            self.remove(LINGER + self.user)
        for pattern in ("core.*.%d.*", "*.%d.crash"):
            for path in glob.glob("/var/lib/systemd/coredump/" + pattern % self.uid) + glob.glob("/var/crash/" + pattern % self.uid):
                self.remove(path)

    def subordinate_ids(self):
        if not self.account_is_here():
            return
        for path in SUBORDINATE:
            lines = read(path).splitlines(keepends=True)
            kept = [line for line in lines if line.split(":")[0] not in (self.user, str(self.uid))]
            if kept != lines:
                self.did("%s of %s" % (path, self.user))
                if not self.check:
                    with open(path + ".kloigos-new", "w", encoding="utf-8") as file:
                        os.fchmod(file.fileno(), 0o644)
                        file.writelines(kept)
                    os.rename(path + ".kloigos-new", path)

    def journal_files(self):
        found = []
        for root in ("/var/log/journal/", "/run/log/journal/"):
            found += glob.glob("%s*/user-%d.journal*" % (root, self.uid)) + glob.glob("%s*/user-%d@*.journal*" % (root, self.uid))
        return found

    def journal(self):
        if not self.journal_files():
            return
        if not self.check:
            # journald writes on into a file that it has open, removed or not; rotated, it has let go of the old ones.
            code, _out, err = self.module.run_command(["/usr/bin/journalctl", "--rotate"])
            if code != 0:
                self.left.append("journal not rotated: " + err.strip())
        for path in self.journal_files():
            self.remove(path)

    # IPC

    def ipc(self):
        libc = ctypes.CDLL(None, use_errno=True)
        for name, (call, extra) in IPC.items():
            lines = read("/proc/sysvipc/" + name).splitlines()
            if not lines:
                continue
            columns = lines[0].split()
            for line in lines[1:]:
                row = dict(zip(columns, line.split()))
                if self.uid not in (int(row["uid"]), int(row["cuid"])):
                    continue
                identity = int(line.split()[1])
                self.did("ipc %s %d" % (name, identity))
                if not self.check and getattr(libc, call)(identity, *([0] * extra), IPC_RMID, None) != 0:
                    self.left.append("ipc %s %d: %s" % (name, identity, os.strerror(ctypes.get_errno())))
        if os.path.isdir("/dev/mqueue"):
            for entry in os.scandir("/dev/mqueue"):
                if entry.stat(follow_symlinks=False).st_uid == self.uid:
                    self.remove(entry.path)

    # by owner

    def file_systems(self):
        found = {}
        for line in read("/proc/self/mountinfo").splitlines():
            left, _, right = line.partition(" - ")
            # Octal escapes stand for blanks and the like.
            place = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match.group(1), 8)), left.split(" ")[4])
            if right.split(" ")[0] in LOCAL and not place.startswith(VOLUMES):
                found.setdefault(left.split(" ")[2], place)
        return found.values()

    def owned(self):
        found = []
        for root in self.file_systems():
            if any(root == own or root.startswith(own + "/") for own in ROOTS_OWN | KLOIGOS_OWN):
                continue
            device = os.lstat(root).st_dev
            pending = [root]
            while pending:
                try:
                    entries = list(os.scandir(pending.pop()))
                except OSError:
                    continue
                for entry in entries:
                    try:
                        info = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    if info.st_dev != device:
                        continue
                    if self.uid in (info.st_uid, info.st_gid):
                        found.append(entry.path)
                    elif stat.S_ISDIR(info.st_mode) and entry.path not in ROOTS_OWN | KLOIGOS_OWN:
                        pending.append(entry.path)
        return found

    def files(self):
        for path in self.owned():
            self.remove(path)
        if not self.check:
            self.left += ["%s is still there" % path for path in self.owned()]

    def main(self):
        self.open_note()
        self.spools()
        self.subordinate_ids()
        self.journal()
        self.ipc()
        self.files()
        self.module.exit_json(
            changed=bool(self.removed),
            removed=self.removed,
            noted=list(dict.fromkeys(self.noted)),
            leftovers=self.left,
            kloigos_changes=[{"action": "remove", "kind": "file" if what.startswith("/") and " of " not in what else "entry", "name": what} for what in self.removed],
            diff={"before": "".join(line + "\n" for line in self.removed), "after": ""},
        )


def main():
    module = AnsibleModule(
        argument_spec={
            "login_user": {"type": "str", "required": True},
            "uid": {"type": "int", "required": True},
            "unit_id": {"type": "str", "required": True},
            "allocation_id": {"type": "str", "required": True},
        },
        supports_check_mode=True,
    )
    sweep = Sweep(module)
    try:
        sweep.main()
    except (OSError, ValueError) as problem:
        module.fail_json(msg=str(problem), removed=sweep.removed)


if __name__ == "__main__":
    main()
