#!/usr/bin/python
"""Owns sets of files: puts them, and takes away all that it once put for an owner.

A registry (/etc/kloigos/files.d/<owner>.json) is written before the first file is touched, so after a cut at any point
the next run knows what may be there: files that an owner no longer names are removed, and C(state=absent) needs no
list. A file that was on the host before is kept in the registry and comes back when ours goes.

It refuses to replace a directory by a file or the other way round.
"""

from __future__ import annotations

import base64
import glob
import grp
import json
import os
import pwd
import re
import stat

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = r"""
module: kloigos_files
short_description: Many files, directories and links of one owner, in one task
options:
  owner: {type: str, required: true, description: Name of the set}
  state: {type: str, choices: [present, absent], default: present, description: absent removes the whole set}
  files:
    type: list
    elements: dict
    default: []
    description: The set; needed for state present only
author: Kloigos
"""

REGISTRY = "/etc/kloigos/files.d"
REGISTRY_PARENTS = (("/etc/kloigos", 0o711), (REGISTRY, 0o700))
# Whoever loses the registry must not take our own file for one that was there before.
MARK = "Kloigos"
# An original is kept in the registry itself; what is larger is no configuration file.
ORIGINAL_LIMIT = 1 << 20


def parents(path):
    """Directories above path, outermost first, without the root."""
    found = []
    while (path := os.path.dirname(path)) != "/":
        found.append(path)
    return found[::-1]


def kind_of(path):
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        return "link"
    return "directory" if stat.S_ISDIR(mode) else "file"


def content_of(path):
    with open(path, "rb") as file:
        return file.read()


def original_of(path):
    """What to bring back when ours goes: None for nothing."""
    kind = kind_of(path)
    if kind in (None, "directory"):
        return None
    info = os.lstat(path)
    if kind == "link":
        return {"kind": "link", "target": os.readlink(path)}
    if info.st_size > ORIGINAL_LIMIT:
        raise ValueError("%s is too large to be kept" % path)
    content = content_of(path)
    if MARK.encode() in content:
        return None
    return {
        "kind": "file",
        "content": base64.b64encode(content).decode(),
        "mode": "%04o" % stat.S_IMODE(info.st_mode),
        "uid": info.st_uid,
        "gid": info.st_gid,
    }


def write_file(path, content, mode, uid, gid, check=None):
    """Replaces path in one step. The temporary file has a fixed name, so that a cut leaves nothing that a second run does not take."""
    temporary = os.path.join(os.path.dirname(path), ".%s.kloigos-new" % os.path.basename(path))
    if os.path.lexists(temporary):
        os.unlink(temporary)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            os.fchown(file.fileno(), uid, gid)
            os.fchmod(file.fileno(), mode)
            file.flush()
            os.fsync(file.fileno())
        if check is not None:
            check(temporary)
        os.rename(temporary, path)
    finally:
        if os.path.lexists(temporary):
            os.unlink(temporary)


class Registry:
    def __init__(self, owner):
        self.path = os.path.join(REGISTRY, owner + ".json")
        self.entries = {}
        if os.path.exists(self.path):
            self.entries = json.loads(content_of(self.path))["files"]
        self.saved = json.dumps(self.entries)
        self.elsewhere = set()
        for other in glob.glob(os.path.join(REGISTRY, "*.json")):
            if other != self.path:
                self.elsewhere.update(json.loads(content_of(other))["files"])

    def save(self):
        if json.dumps(self.entries) == self.saved:
            return
        for directory, mode in REGISTRY_PARENTS:
            if not os.path.isdir(directory):
                os.mkdir(directory)
                os.chmod(directory, mode)
        text = json.dumps({"about": "What Kloigos put here; do not edit", "files": self.entries}, indent=1) + "\n"
        write_file(self.path, text.encode(), 0o600, 0, 0)
        self.saved = json.dumps(self.entries)

    def remove(self):
        if os.path.exists(self.path):
            os.unlink(self.path)

    def made_elsewhere(self, path):
        """Whether another owner's set has made this directory as well; the last of them takes it away."""
        return path in self.elsewhere


class Files:
    def __init__(self, module):
        self.module = module
        self.check = module.check_mode
        self.registry = Registry(module.params["owner"])
        self.changed_paths, self.removed_paths, self.kept_paths, self.diffs = [], [], [], []
        self.changes = {}

    def diff(self, path, before, after):
        self.diffs.append({"before_header": path, "after_header": path, "before": before, "after": after})

    def change(self, action, kind, path, before, after, note=""):
        """What a plan shows: one entry for each path, whatever else of it changes."""
        entry = self.changes.setdefault(path, {"action": action, "kind": kind, "name": path, "before": "", "after": "", "note": note})
        entry["before"] += before
        entry["after"] += after

    def readable(self, content):
        try:
            return content.decode()
        except UnicodeDecodeError:
            return "(%d bytes)\n" % len(content)

    # present

    def wanted(self, spec):
        try:
            # Numbers are taken as they are: a file may be there before the account that will own it.
            spec["uid"] = int(spec["user"]) if spec["user"].isdigit() else pwd.getpwnam(spec["user"]).pw_uid
            spec["gid"] = int(spec["group"]) if spec["group"].isdigit() else grp.getgrnam(spec["group"]).gr_gid
        except KeyError as missing:
            if not self.check:
                self.module.fail_json(msg="%s: %s" % (spec["path"], missing.args[0]))
            spec["uid"], spec["gid"] = None, None
        mode = spec["mode"] or ("0755" if spec["kind"] == "directory" else "0644")
        if not re.fullmatch(r"0[0-7]{3,4}", mode):
            self.module.fail_json(msg="%s: mode %s is not octal with a leading zero" % (spec["path"], mode))
        spec["octal"] = int(mode, 8)
        if spec["json"] is not None:
            spec["content"] = json.dumps(spec["json"], indent=2, sort_keys=True) + "\n"
        return spec

    def present(self, specs):
        specs = [self.wanted(spec) for spec in specs]
        entries = self.registry.entries
        names = set()
        for spec in specs:
            path = spec["path"]
            if not path.startswith("/") or os.path.normpath(path) != path:
                self.module.fail_json(msg="%s is not a plain absolute path" % path)
            found = kind_of(path)
            if found and found != spec["kind"] and "directory" in (found, spec["kind"]):
                self.module.fail_json(msg="%s is a %s, not a %s" % (path, found, spec["kind"]))
            for directory in parents(path):
                if directory in entries:
                    names.add(directory)
                elif not os.path.isdir(directory) or (self.registry.made_elsewhere(directory) and directory not in names):
                    entries[directory] = {"kind": "directory", "original": None}
                    names.add(directory)
            names.add(path)
            if path not in entries and not (spec["kind"] == "directory" and found):
                entries[path] = {"kind": spec["kind"], "original": original_of(path)}
            elif path in entries:
                entries[path]["kind"] = spec["kind"]
        gone = [path for path in entries if path not in names]
        if not self.check:
            self.registry.save()
        for spec in specs:
            self.put(spec)
        for path in sorted(gone, reverse=True):
            self.take(path, entries[path])
            del entries[path]
        if not self.check:
            self.registry.save()

    def put(self, spec):
        path, kind = spec["path"], spec["kind"]
        if not self.check:
            for directory in parents(path):
                if not os.path.isdir(directory):
                    os.mkdir(directory, 0o755)
                    os.chmod(directory, 0o755)
        found = kind_of(path)
        if kind == "link":
            before = os.readlink(path) if found == "link" else None
            if before != spec["target"]:
                was = "link to %s\n" % before if before else found and found + "\n" or ""
                self.changed(path, was, "link to %s\n" % spec["target"])
                self.change("change" if found else "create", "link", path, was, "link to %s\n" % spec["target"])
                if not self.check:
                    if found:
                        os.unlink(path)
                    os.symlink(spec["target"], path)
            return
        if kind == "directory":
            if found is None:
                self.changed(path, "", "directory %04o %s:%s\n" % (spec["octal"], spec["user"], spec["group"]))
                self.change("create", "directory", path, "", "", "mode %04o, owner %s:%s" % (spec["octal"], spec["user"], spec["group"]))
                if not self.check:
                    os.mkdir(path, spec["octal"])
        else:
            content = (spec["content"] or "").encode()
            before = content_of(path) if found == "file" else None
            if before != content:
                self.changed(path, self.readable(before or b""), self.readable(content))
                note = "" if found else "mode %04o, owner %s:%s" % (spec["octal"], spec["user"], spec["group"])
                self.change("change" if found else "create", "file", path, self.readable(before or b""), self.readable(content), note)
                if not self.check:
                    write_file(path, content, spec["octal"], spec["uid"], spec["gid"], lambda candidate: self.validate(spec, candidate))
        self.permissions(spec)

    def permissions(self, spec):
        path = spec["path"]
        if kind_of(path) in (None, "link"):
            return
        info = os.lstat(path)
        now = (stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid)
        want = (spec["octal"], spec["uid"], spec["gid"])
        if None in want or now == want:
            return
        self.changed(path, "mode %04o owner %d:%d\n" % now, "mode %04o owner %d:%d\n" % want)
        self.change("change", spec["kind"], path, "mode %04o owner %d:%d\n" % now, "mode %04o owner %d:%d\n" % want)
        if not self.check:
            os.chown(path, spec["uid"], spec["gid"])
            os.chmod(path, spec["octal"])

    def validate(self, spec, candidate):
        if not spec["validate"]:
            return
        argv = [candidate if argument == "%s" else argument for argument in spec["validate"]]
        code, out, err = self.module.run_command(argv)
        if code != 0:
            self.module.fail_json(msg="%s would not be valid: %s" % (spec["path"], (err or out).strip()))

    def changed(self, path, before, after):
        if path not in self.changed_paths:
            self.changed_paths.append(path)
        self.diff(path, before, after)

    # absent

    def take(self, path, entry):
        found = kind_of(path)
        original = entry.get("original")
        if found == "directory":
            if entry["kind"] != "directory" or self.registry.made_elsewhere(path):
                return
            # What someone else put there stays, and with it the directory.
            left = [name for name in os.listdir(path) if os.path.join(path, name) not in self.removed_paths]
            if left:
                self.kept_paths.append(path)
                return
            self.removed_paths.append(path)
            self.diff(path, "directory\n", "")
            self.change("remove", "directory", path, "", "")
            if not self.check:
                os.rmdir(path)
            return
        if original is None:
            if found is None:
                return
            self.removed_paths.append(path)
            was = self.readable(content_of(path)) if found == "file" else "link\n"
            self.diff(path, was, "")
            self.change("remove", found, path, was, "")
            if not self.check:
                os.unlink(path)
            return
        self.restore(path, found, original)

    def restore(self, path, found, original):
        if original["kind"] == "link":
            if found == "link" and os.readlink(path) == original["target"]:
                return
            self.changed(path, found or "", "link to %s\n" % original["target"])
            self.change("change", "link", path, found or "", "link to %s\n" % original["target"], "as it was before Kloigos")
            if not self.check:
                if found:
                    os.unlink(path)
                os.symlink(original["target"], path)
            return
        content = base64.b64decode(original["content"])
        before = content_of(path) if found == "file" else b""
        if found == "file" and before == content:
            return
        self.changed(path, self.readable(before), self.readable(content))
        self.change("change", "file", path, self.readable(before), self.readable(content), "as it was before Kloigos")
        if not self.check:
            write_file(path, content, int(original["mode"], 8), original["uid"], original["gid"])

    def absent(self):
        for path in sorted(self.registry.entries, reverse=True):
            self.take(path, self.registry.entries[path])
        if not self.check:
            self.registry.remove()


def keep(module):
    """Brings what was written, renamed and removed to the disk: what a job is told to have done is so after a power cut as well."""
    if not module.check_mode:
        module.run_command(["sync", "--file-system", "/etc", "/var/lib"], check_rc=True)


def main():
    module = AnsibleModule(
        argument_spec={
            "owner": {"type": "str", "required": True},
            "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
            "files": {
                "type": "list",
                "elements": "dict",
                "default": [],
                "options": {
                    "path": {"type": "str", "required": True},
                    "kind": {"type": "str", "choices": ["file", "directory", "link"], "default": "file"},
                    "content": {"type": "str"},
                    "json": {"type": "raw"},
                    "target": {"type": "str"},
                    "mode": {"type": "str"},
                    "user": {"type": "str", "default": "root"},
                    "group": {"type": "str", "default": "root"},
                    "validate": {"type": "list", "elements": "str", "default": []},
                },
                "mutually_exclusive": [("content", "json")],
                "required_if": [("kind", "link", ("target",))],
            },
        },
        supports_check_mode=True,
    )
    if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,127}", module.params["owner"]):
        module.fail_json(msg="owner %r is not a plain name" % module.params["owner"])
    files = Files(module)
    try:
        if module.params["state"] == "present":
            files.present(module.params["files"])
        else:
            files.absent()
    except (OSError, ValueError) as problem:
        module.fail_json(msg=str(problem), changed_paths=files.changed_paths)
    keep(module)
    module.exit_json(
        changed=bool(files.changed_paths or files.removed_paths),
        changed_paths=files.changed_paths,
        removed_paths=files.removed_paths,
        kept_paths=files.kept_paths,
        diff=files.diffs,
        kloigos_changes=list(files.changes.values()),
    )


if __name__ == "__main__":
    main()
