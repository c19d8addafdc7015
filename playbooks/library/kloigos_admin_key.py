#!/usr/bin/python
"""Changes which keys of Kloigos log in as the admin user of a host.

It asks sshd which files it reads for the user. A new key goes behind the key that logs in now, into the same file and with the
same options (C(from=), C(restrict), ...). Only whole lines with one of the named keys change. Each file is replaced in one step,
so a cut leaves the old one or the new one; mode and owner stay.
"""

from __future__ import annotations

import os
import pwd
import re

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work

DOCUMENTATION = r"""
module: kloigos_admin_key
short_description: Change which keys log in as the admin user
options:
  user: {type: str, required: true, description: Name of the admin user}
  add: {type: list, elements: str, default: [], description: Lines of authorized_keys that are to log in}
  beside: {type: list, elements: str, default: [], description: Lines that log in now}
  drop: {type: list, elements: str, default: [], description: Lines that are to log in no more}
author: Kloigos
"""

SSHD = "/usr/sbin/sshd"
# A user gives a name and no address here: rules of Match for the network do not count.
MATCH = "user=%s,host=localhost,addr=127.0.0.1"
LARGEST = 1 << 20


def parts(line):
    """Type and base64 of a line without options."""
    words = line.split()
    if len(words) < 2 or not re.fullmatch(r"[A-Za-z0-9+/]{40,}={0,2}", words[1]):
        raise ValueError("not a line of authorized_keys: %r" % line)
    return words[0], words[1]


def options(line, key):
    """What stands before a key in a line of a file; None if the line is about something else."""
    kind, blob = parts(key)
    if line.lstrip().startswith("#"):
        return None
    found = re.search(r"(?:^|(?<=\s))%s[ \t]+%s(?=\s|$)" % (re.escape(kind), re.escape(blob)), line)
    return line[: found.start()] if found else None


class AdminKey(Work):
    def files(self):
        """The files that sshd reads for the user, in its order."""
        user = self.params["user"]
        try:
            account = pwd.getpwnam(user)
        except KeyError:
            self.fail("the host has no account %s" % user)
        _code, out = self.run([SSHD, "-T", "-C", MATCH % user])
        names = []
        for line in out.splitlines():
            word, _, rest = line.partition(" ")
            if word.lower() == "authorizedkeysfile":
                names = [name for name in rest.split() if name != "none"]
        tokens = {"h": account.pw_dir, "u": user, "U": str(account.pw_uid), "%": "%"}
        named = [re.sub("%(.)", lambda m: tokens.get(m.group(1), m.group(0)), name) for name in names]
        return [os.path.realpath(os.path.join(account.pw_dir, name)) for name in named]

    def work(self):
        files = {}
        for name in self.files():
            try:
                if os.path.getsize(name) > LARGEST:
                    self.fail("%s is larger than 1 MiB" % name)
                with open(name, encoding="utf-8", errors="surrogateescape") as file:
                    files[name] = file.read().removesuffix("\n").split("\n")
            except FileNotFoundError:
                continue
        for key in self.params["add"]:
            self.add(files, key)
        for key in self.params["drop"]:
            self.drop(files, key)

    def add(self, files, key):
        if any(options(line, key) is not None for lines in files.values() for line in lines):
            return
        for name, lines in files.items():
            for at, line in enumerate(lines):
                before = next((o for o in (options(line, other) for other in self.params["beside"]) if o is not None), None)
                if before is None:
                    continue
                lines.insert(at + 1, before + key)
                self.change("change", "file", name, note="add the key %s" % key)
                if self.did("add a key to %s" % name):
                    self.write(name, lines)
                return
        self.fail(
            "none of the files that sshd reads for %s has the key that Kloigos logs in with (%s). Add this line where it stands: %s"
            % (self.params["user"], ", ".join(files) or "there is none", key)
        )

    def drop(self, files, key):
        for name, lines in files.items():
            kept = [line for line in lines if options(line, key) is None]
            if len(kept) == len(lines):
                continue
            files[name] = kept
            self.change("change", "file", name, note="remove the key %s" % key)
            if self.did("remove a key from %s" % name):
                self.write(name, kept)

    def write(self, name, lines):
        """Replaces a file in one step, with mode and owner as they were."""
        was = os.stat(name)
        new = name + ".kloigos-new"
        if os.path.lexists(new):
            os.unlink(new)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "w", encoding="utf-8", errors="surrogateescape") as file:
            file.write("".join(line + "\n" for line in lines))
            os.fchown(file.fileno(), was.st_uid, was.st_gid)
            os.fchmod(file.fileno(), was.st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
        os.rename(new, name)


def main():
    module = AnsibleModule(
        argument_spec={
            "user": {"type": "str", "required": True},
            "add": {"type": "list", "elements": "str", "default": [], "no_log": False},
            "beside": {"type": "list", "elements": "str", "default": [], "no_log": False},
            "drop": {"type": "list", "elements": "str", "default": [], "no_log": False},
        },
        supports_check_mode=True,
    )
    work = AdminKey(module)
    try:
        work.work()
    except (OSError, ValueError) as problem:
        work.fail("keys of %s: %s" % (module.params["user"], problem))
    work.finish()


if __name__ == "__main__":
    main()
