#!/usr/bin/python
"""The state behind the fence: whose host this is (incarnation), the newest number (token) and the log of numbers.

It claims a host for one control plane and refuses a host that belongs to another, unless an operator asked for just
that (refence). Its C(absent) takes the fence itself away, which is why it is the last thing that ever runs under it.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import re
import shutil
import struct
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read

DOCUMENTATION = r"""
module: kloigos_fence
short_description: Claim a host for a control plane, or take the fence away
description:
  - With C(refence) it ends what runs under the fence, whichever control plane's it is, and returns C(kloigos_result) with
    C(number), the highest number of this control plane that the host knows (0 for none). A database that was restored may
    be behind it, and the host lets in nothing that is older. A check returns none.
options:
  state: {type: str, choices: [claimed, absent], default: claimed, description: absent removes the fence and what is left of /etc/kloigos}
  incarnation: {type: str, description: The control plane; needed for state claimed}
  refence: {type: bool, default: false, description: Take the host from whoever has it}
  number: {type: int, default: 0, description: Of the holder; refused if the log has a newer one of this control plane. 0 is not compared}
author: Kloigos
"""

ROOT = "/etc/kloigos"
STATE = ROOT + "/fence"
LOG = "/var/log/kloigos/tokens.log"
RUNS = "/sys/fs/cgroup/system.slice/kloigos-runs.service"
SERVICE = "kloigos-runs.service"
WRAPPER = "/usr/local/lib/kloigos/fence-python"
UNITS_SLICE = "system-kloigos\\x2dunit.slice"  # systemd's own, around the instances of kloigos-unit@.service
RUNTIME = "/run/kloigos"
LOCK_SECONDS = 60
END_SECONDS = 20

# linux/fs.h
FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_APPEND_FL = 0x80086601, 0x40086602, 0x20


class Fence(Work):
    def directory(self, path, mode):
        if not os.path.isdir(path):
            self.change("create", "directory", path, note="mode %04o" % mode)
            if self.did("made " + path):
                os.mkdir(path)
                os.chmod(path, mode)
        elif os.stat(path).st_mode & 0o7777 != mode:
            self.change("change", "directory", path, before="mode %04o\n" % (os.stat(path).st_mode & 0o7777), after="mode %04o\n" % mode)
            if self.did("set the mode of " + path):
                os.chmod(path, mode)

    def store(self, name, text):
        path = os.path.join(STATE, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(text + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + ".new", path)
        directory = os.open(STATE, os.O_RDONLY)
        os.fsync(directory)
        os.close(directory)

    def lock(self):
        """The wrapper's own lock, so that no execution starts while the incarnation changes."""
        self.held = open(STATE + "/lock", "a", encoding="utf-8")
        os.fchmod(self.held.fileno(), 0o600)
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                fcntl.flock(self.held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError:
                if time.monotonic() > deadline:
                    self.module.fail_json(msg="the lock of the fence is busy")
                time.sleep(0.05)

    def append_only(self):
        """Where the file system can, even root only adds lines. Where it can't, the log is an ordinary file."""
        with open(LOG, "a", encoding="utf-8") as file:
            flags = bytearray(8)
            try:
                fcntl.ioctl(file, FS_IOC_GETFLAGS, flags)
                now = struct.unpack("l", flags)[0]
                if now & FS_APPEND_FL:
                    return
                fcntl.ioctl(file, FS_IOC_SETFLAGS, struct.pack("l", now | FS_APPEND_FL))
            except OSError:
                return
        self.did("made %s append-only" % LOG)

    def newest_in_log(self, incarnation):
        """A fence that was removed and comes back must not accept numbers that it had left behind."""
        # A line may have been written on behind what a full disk had cut of another.
        numbers = re.findall(r"^.* %s (\d+) \S+$" % re.escape(incarnation), read(LOG), re.M)
        return max(map(int, numbers), default=0)

    def log_refence(self, incarnation):
        with open(LOG, "ab+") as file:
            # What a full disk has cut of an earlier line is ended first, or it would swallow this one.
            file.seek(max(0, file.seek(0, os.SEEK_END) - 1))
            if file.read(1) not in (b"", b"\n"):
                file.write(b"\n")
            file.write(("%s %s 0 refence\n" % (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), incarnation)).encode())
            file.flush()
            os.fsync(file.fileno())

    def end_runs(self):
        """Tells whether there was anything to end. The groups stay: the wrapper knows by them whose a number is."""
        groups = []
        if os.path.isdir(RUNS):
            groups = [entry.path for entry in os.scandir(RUNS) if entry.name.startswith("run-")]
        groups = [group for group in groups if "populated 1" in read(group + "/cgroup.events")]
        for group in groups:
            with open(group + "/cgroup.kill", "w", encoding="utf-8") as file:
                file.write("1")
        deadline = time.monotonic() + END_SECONDS
        while any("populated 1" in read(group + "/cgroup.events") for group in groups):
            if time.monotonic() > deadline:
                self.module.fail_json(msg="older runs do not end")
            time.sleep(0.05)
        return bool(groups)

    def refuse_older(self, incarnation, number):
        """Where the wrapper does not check, since it is not there: what a run that is late by now would put back."""
        newest = self.newest_in_log(incarnation)
        if number and number < newest:
            message = "kloigos-fence: refused: token %d is older than %d" % (number, newest)
            if not self.check:
                self.module.fail_json(msg=message)
            self.module.warn(message)
            self.objections.append(message)

    def claim(self, incarnation, refence, number):
        """Returns the highest number that is known here of this incarnation; None if there is nothing to say of it."""
        if not refence:
            self.refuse_older(incarnation, number)
        current = read(STATE + "/incarnation").strip()
        if current and current != incarnation and not refence:
            message = ("this host belongs to another Kloigos (incarnation %s, asked by %s); if that one is gone or was restored "
                       "from a backup, refence the host" % (current, incarnation))
            if not self.check:
                self.module.fail_json(msg=message, other_incarnation=current)
            self.module.warn(message)
            self.objections.append(message)
            return None
        self.directory(ROOT, 0o711)
        self.directory(STATE, 0o700)
        self.directory(os.path.dirname(LOG), 0o755)
        if not os.path.exists(LOG):
            self.change("create", "file", LOG)
        if not os.path.exists(LOG) and self.did("made " + LOG):
            os.close(os.open(LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640))
        if not os.path.exists(STATE + "/lock"):
            self.change("create", "file", STATE + "/lock")
            self.did("made " + STATE + "/lock")
        if self.check:
            if current != incarnation:
                self.change("change" if current else "create", "file", STATE + "/incarnation", before=current and current + "\n", after=incarnation + "\n")
                self.did("set the incarnation to " + incarnation)
            return None
        self.append_only()
        self.lock()
        current = read(STATE + "/incarnation").strip()
        newest = self.newest_in_log(incarnation)
        if current == incarnation:
            token = read(STATE + "/token").strip()
            if refence and self.end_runs():
                self.did("ended what ran under the fence")
            return max(newest, int(token) if token.isdigit() else 0)
        if current and not refence:
            self.module.fail_json(msg="this host has just been claimed by another Kloigos (incarnation %s)" % current)
        self.did("set the incarnation to " + incarnation)
        # Without an incarnation the wrapper lets nobody in: that is the state that a cut in here leaves.
        if current:
            os.unlink(STATE + "/incarnation")
        if refence:  # the cut one comes here with no incarnation, and with what ran before
            self.end_runs()
            self.log_refence(incarnation)
        self.store("token", str(newest))
        self.store("incarnation", incarnation)
        return newest

    # absent

    def leave_the_cgroup(self):
        """This very process lives in the cgroup that goes; it moves to where the login that started it lives."""
        for line in read("/proc/%d/cgroup" % os.getppid()).splitlines():
            path = line.partition("::")[2]
            if path and "/run-" not in path:
                with open("/sys/fs/cgroup%s/cgroup.procs" % path, "w", encoding="utf-8") as file:
                    file.write(str(os.getpid()))
                return
        self.module.fail_json(msg="there is no cgroup to move to from the one that is to be removed")

    def systemctl(self, *arguments):
        code, out, err = self.module.run_command(["/usr/bin/systemctl"] + list(arguments))
        if code != 0:
            self.module.fail_json(msg="systemctl %s: %s" % (" ".join(arguments), (err or out).strip()))

    def unlink(self, path):
        if os.path.lexists(path):
            self.change("remove", "file", path)
            if self.did("removed " + path):
                os.unlink(path)

    def rmdir(self, path):
        """Only what is empty: anything else in there is someone else's."""
        if os.path.isdir(path) and not self.check:
            if os.listdir(path):
                self.warnings.append("%s is not empty and stays: %s" % (path, ", ".join(os.listdir(path))))
            else:
                self.did("removed " + path)
                os.rmdir(path)
        elif os.path.isdir(path):
            self.change("remove", "directory", path, note="if nothing else is in it")
            self.did("removed " + path)

    def remove(self):
        # Outside its cgroup a newer run can't end this, so it must wait until this is done; it finds no fence then.
        if not self.check and os.path.exists(STATE + "/lock"):
            self.lock()
        unit = "/etc/systemd/system/" + SERVICE
        if os.path.exists(unit):
            self.change("remove", "service", SERVICE, note="stopped and disabled")
        if os.path.exists(unit) and self.did("stopped " + SERVICE):
            if os.path.isdir(RUNS):
                self.leave_the_cgroup()
                for entry in os.scandir(RUNS):
                    if entry.is_dir():
                        os.rmdir(entry.path)
            self.systemctl("--quiet", "disable", "--now", SERVICE)
        self.unlink(unit)
        if self.done and not self.check:
            self.systemctl("daemon-reload")
        if os.path.isdir("/sys/fs/cgroup/system.slice/" + UNITS_SLICE) and self.did("stopped " + UNITS_SLICE):
            self.systemctl("stop", UNITS_SLICE)
        # The wrapper goes before its state, or a cut between the two would leave one that can only say "cannot check".
        self.unlink(WRAPPER)
        self.rmdir(os.path.dirname(WRAPPER))
        if os.path.isdir(RUNTIME):
            self.change("remove", "directory", RUNTIME)
        if os.path.isdir(RUNTIME) and self.did("removed " + RUNTIME):
            shutil.rmtree(RUNTIME)
        # What Ansible keeps for files on their way, for root and for the account that it logs in with.
        homes = {pwd.getpwuid(int(uid)).pw_dir for uid in (0, os.environ.get("SUDO_UID", "0"))}
        for home in sorted(homes):
            self.rmdir(home + "/.kloigos/tmp")
            self.rmdir(home + "/.kloigos")
        for name in ("incarnation", "token", "token.new", "lock"):
            self.unlink(os.path.join(STATE, name))
        self.rmdir(STATE)
        self.unlink(ROOT + "/files.d/host_bootstrap.json")
        self.rmdir(ROOT + "/files.d")
        self.rmdir(ROOT)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "choices": ["claimed", "absent"], "default": "claimed"},
            "incarnation": {"type": "str"},
            "refence": {"type": "bool", "default": False},
            "number": {"type": "int", "default": 0},
        },
        required_if=[("state", "claimed", ("incarnation",))],
        supports_check_mode=True,
    )
    fence = Fence(module)
    result = {}
    try:
        if module.params["state"] == "absent":
            fence.remove()
        else:
            if not re.fullmatch(r"[0-9a-zA-Z-]{1,64}", module.params["incarnation"]):
                module.fail_json(msg="the incarnation is malformed")
            newest = fence.claim(module.params["incarnation"], module.params["refence"], module.params["number"])
            if module.params["refence"] and not module.check_mode:
                result["kloigos_result"] = {"number": newest}
    except OSError as problem:
        module.fail_json(msg=str(problem), done=fence.done)
    fence.finish(**result)


if __name__ == "__main__":
    main()
