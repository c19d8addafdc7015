#!/usr/bin/python
"""Owns the program of the agent, its enrolment token and its removal.

The host fetches the program from the control plane, in parts, and takes it only if its SHA-256 is the one that the play
names. C(present) also names the services that run with something older than what is on the disk, by comparing their
start with the times of the files. C(enrolled) waits until the agent has used its token and returns whether it did as
C(kloigos_result); it never fails, since a control plane that cannot be reached yet is no fault of the installation. C(absent)
stops the agent and its slice, and removes program, versions, key, token and the folder of its socket.
"""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
import ssl
import time
import urllib.error
import urllib.request

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work

DOCUMENTATION = r"""
module: kloigos_agent
short_description: Bring the agent's program and token to a host, or take them away
options:
  state: {type: str, required: true, choices: [present, enrolled, absent], description: See above}
  url: {type: str, description: Where the program is fetched from}
  sha256: {type: str, description: Of the program}
  size: {type: int, description: Of the program, in bytes}
  token: {type: str, default: "", description: What enrols the agent; empty for none}
author: Kloigos
"""

PROGRAM = "/usr/lib/kloigos-agent/kloigos-agent"
NEW = "/usr/lib/kloigos-agent/.kloigos-agent.kloigos-new"
STATE = "/var/lib/kloigos-agent"
VERSIONS = "/var/lib/kloigos-agent-versions"
TOKEN = STATE + "/token"
CA = "/etc/kloigos-agent/ca.pem"
USER = "kloigos-agent"
SYSTEMCTL = "/usr/bin/systemctl"
UNITS = "/etc/systemd/system/"
# What each service is started with.
MADE_OF = {
    "kloigos-agent.service": [PROGRAM, CA, "/etc/kloigos-agent/agent.env", UNITS + "kloigos-agent.service"],
    "kloigos-agent-read.service": [PROGRAM, UNITS + "kloigos-agent-read.service"],
}
SOCKET = "kloigos-agent-read.socket"
# What brings updates: it ends first, or it would install one again.
UPDATES = ["kloigos-agent-update.path", "kloigos-agent-update.service"]
# What the services run in: a slice stays when the last of them has ended. It ends last.
SLICE = "kloigosagent.slice"
# Made for the socket, and left there by systemd.
RUN = "/run/kloigos-agent"
# One answer of the control plane, the space that stays free beside the program, and how often a part is asked for.
PART, SPARE, TRIES = 1 << 20, 10 << 20, 4
ENROLLED_WITHIN = 60


def digest(path):
    if not os.path.isfile(path):
        return ""
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


class Agent(Work):
    def __init__(self, module):
        super().__init__(module)
        self.facts = {}

    def show(self, *units):
        """What systemd says of each unit."""
        _code, out = self.run([SYSTEMCTL, "show", "--property=Id,LoadState,ActiveState,UnitFileState,MainPID,ExecMainStartTimestampMonotonic", "--"] + list(units))
        blocks = [dict(line.split("=", 1) for line in block.splitlines()) for block in out.strip("\n").split("\n\n")]
        return dict(zip(units, blocks))

    # present

    def present(self):
        self.program()
        self.token()
        self.facts["stale"] = [] if self.check else self.stale()

    def program(self):
        if digest(PROGRAM) == self.params["sha256"]:
            return
        self.change("change" if os.path.exists(PROGRAM) else "create", "file", PROGRAM, note="fetched from %s, SHA-256 %s" % (self.params["url"], self.params["sha256"]))
        if self.check:
            return
        room = os.statvfs(os.path.dirname(PROGRAM))
        if room.f_bavail * room.f_frsize < self.params["size"] + SPARE:
            self.module.fail_json(msg="the file system of %s has no room for the agent" % PROGRAM)
        try:
            with open(os.open(NEW, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o700), "wb") as file:
                seen = hashlib.sha256()
                for part in self.parts():
                    seen.update(part)
                    file.write(part)
                file.flush()
                os.fsync(file.fileno())
            if seen.hexdigest() != self.params["sha256"]:
                self.module.fail_json(msg="what %s sent is not the program: its SHA-256 is %s, not %s" % (self.params["url"], seen.hexdigest(), self.params["sha256"]))
            os.chmod(NEW, 0o755)
            os.rename(NEW, PROGRAM)
        finally:
            if os.path.lexists(NEW):
                os.unlink(NEW)

    def parts(self):
        trusted = ssl.create_default_context(cafile=CA if os.path.getsize(CA) > 0 else None)
        # A proxy of the environment is not what the agent will use.
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=trusted), urllib.request.ProxyHandler({}))
        at = 0
        while at < self.params["size"]:
            part = self.part(opener, at)
            if not part or len(part) > PART:
                self.module.fail_json(msg="%s sent %d bytes of the program, not %d" % (self.params["url"], at, self.params["size"]))
            at += len(part)
            yield part

    def part(self, opener, at):
        body = json.dumps({"sha256": self.params["sha256"], "offset": at}).encode()
        request = urllib.request.Request(self.params["url"].rstrip("/") + "/api/agent/v1/program", body, {"Content-Type": "application/json"})
        for left in reversed(range(TRIES)):
            try:
                with opener.open(request, timeout=30) as answer:
                    return answer.read(PART + 1)
            except (OSError, urllib.error.URLError) as problem:
                if not left:
                    self.module.fail_json(msg="the host cannot fetch the agent from %s: %s" % (self.params["url"], problem))
                time.sleep(2)
        return b""

    def token(self):
        if not self.params["token"]:
            return
        self.change("create", "file", TOKEN, note="enrols the agent once; the agent removes it")
        if self.check:
            return
        owner = pwd.getpwnam(USER)
        with open(os.open(TOKEN + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600), "w", encoding="ascii") as file:
            os.fchown(file.fileno(), owner.pw_uid, owner.pw_gid)
            file.write(self.params["token"] + "\n")
        os.rename(TOKEN + ".new", TOKEN)

    def stale(self):
        """Services that run and were started before one of their files was written."""
        found = []
        for unit, state in self.show(*MADE_OF).items():
            started = int(state.get("ExecMainStartTimestampMonotonic") or 0) / 1e6
            if state.get("ActiveState") != "active" or not started:
                continue
            age = time.monotonic() - started
            if any(os.path.exists(path) and time.time() - os.stat(path).st_mtime < age for path in MADE_OF[unit]):
                found.append(unit)
        return found

    # enrolled

    def enrolled(self):
        end = time.monotonic() + (0 if self.check else ENROLLED_WITHIN)
        while os.path.exists(TOKEN) and time.monotonic() < end:
            time.sleep(0.5)
        self.facts["kloigos_result"] = {"enrolled": os.path.exists(STATE + "/identity.json") and not os.path.exists(TOKEN)}

    # absent

    def absent(self):
        for unit, state in self.show(*UPDATES, SOCKET, *MADE_OF, SLICE).items():
            if state.get("UnitFileState") == "enabled":
                self.change("change", "service", unit, note="disabled")
                if not self.check:
                    self.run([SYSTEMCTL, "--quiet", "disable", "--", unit])
            if state.get("LoadState") == "loaded" and state.get("ActiveState") not in ("inactive", None):
                self.change("change", "service", unit, note="stopped")
                if not self.check:
                    self.run([SYSTEMCTL, "stop", "--", unit])
                    self.module.run_command([SYSTEMCTL, "reset-failed", "--", unit])
        for path in (PROGRAM, NEW):
            if os.path.lexists(path):
                self.change("remove", "file", path)
                if not self.check:
                    os.unlink(path)
        for path, note in ((VERSIONS, "versions that updates brought"), (RUN, "the folder of its socket")):
            if os.path.isdir(path) and not os.path.islink(path):
                self.change("remove", "directory", path, note=note)
                if not self.check:
                    shutil.rmtree(path)
        left = sorted(os.listdir(STATE)) if os.path.isdir(STATE) and not os.path.islink(STATE) else []
        for name in left:
            path = os.path.join(STATE, name)
            self.change("remove", "file", path)
            if self.check:
                continue
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            else:
                os.unlink(path)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["present", "enrolled", "absent"]},
            "url": {"type": "str"},
            "sha256": {"type": "str"},
            "size": {"type": "int"},
            "token": {"type": "str", "default": "", "no_log": True},
        },
        required_if=[("state", "present", ("url", "sha256", "size"))],
        supports_check_mode=True,
    )
    agent = Agent(module)
    try:
        {"present": agent.present, "enrolled": agent.enrolled, "absent": agent.absent}[module.params["state"]]()
    except (OSError, ValueError, KeyError) as problem:
        module.fail_json(msg="agent: %r" % (problem,))
    module.exit_json(changed=bool(agent.changes), kloigos_changes=agent.changes, **agent.facts)


if __name__ == "__main__":
    main()
