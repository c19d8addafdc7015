"""What the modules of Kloigos share: reading what a host says, marks that survive a cut, and how a run tells what it did.

Modules in library/ import it as C(ansible.module_utils.kloigos). The gate of playbooks takes this file only as a release
wrote it (sharedDigests in backend/internal/bundle/shared.go): a module of your own may import it, and may not change it.
"""

from __future__ import annotations

import json
import os


def read(path, default=""):
    """The text of a file; default where it can't be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return default


def read_mark(path):
    """What L(write_mark) wrote; empty where there is nothing, or nothing that can be read."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def write_mark(path, mark):
    """Writes a mark in one step: a cut leaves the old one or the new one."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(mark, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(path + ".new", path)


class Work:
    """One run of a module.

    done: what was carried out, or would be in a check. follows: what happens because of it. objections: what stands in the
    way; only a check goes on then. changes: what a plan shows, one entry for each thing.
    """

    environment = {"LC_ALL": "C"}

    def __init__(self, module):
        self.module, self.check, self.params = module, module.check_mode, module.params
        self.done, self.follows, self.warnings, self.objections, self.changes = [], [], [], [], []

    def change(self, action, kind, *names, **more):
        """What a plan shows. C(more) may hold before, after and note, all texts."""
        self.changes += [dict(more, action=action, kind=kind, name=name) for name in names]

    def run(self, argv, fail=True, **more):
        """Runs a program. Returns its exit code and what it printed; fails with its words if it failed and C(fail) is set."""
        code, out, err = self.module.run_command(argv, environ_update=self.environment, **more)
        if code != 0 and fail:
            self.fail(self.words(argv, out, err))
        return code, out

    def words(self, argv, out, err):
        return "%s: %s" % (" ".join(argv), (err or out).strip())

    def fail(self, message):
        self.module.fail_json(msg=message, done=self.done)

    def did(self, what, *commands, fail=True):
        """Notes a change and, unless this is a check, runs the commands that make it. Returns whether it is no check."""
        self.done.append(what)
        if not self.check:
            for argv in commands:
                self.run(argv, fail)
        return not self.check

    def lines(self):
        return self.done + ["follows: " + what for what in self.follows] + ["in the way: " + what for what in self.objections]

    def finish(self, **result):
        self.module.exit_json(
            changed=bool(self.done or self.follows),
            done=self.done,
            follows=self.follows,
            warnings=self.warnings,
            objections=self.objections,
            kloigos_changes=self.changes,
            diff={"before": "", "after": "".join(line + "\n" for line in self.lines())},
            **result,
        )
