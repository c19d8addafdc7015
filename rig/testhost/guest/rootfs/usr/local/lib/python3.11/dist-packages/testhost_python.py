"""Keeps for root what Python compiles out of zip archives.

Ansible sends a module as a zip of sources, so every task compiles some forty files anew. That takes a third of a task's time
on an emulated processor. What is kept is found by the name and the whole source, so another module is compiled as always.
A throwaway test host needs this; nothing of the product knows of it.
"""

import os

directory = "/var/cache/testhost-python"


def keep():
    import hashlib
    import marshal
    import zipimport

    compiled = zipimport._compile_source

    def compile_once(path, source):
        name = path.rpartition(".zip")[2].encode() + b"\0" + source
        kept = os.path.join(directory, hashlib.sha256(name).hexdigest())
        try:
            with open(kept, "rb") as file:
                return marshal.load(file)
        except (OSError, EOFError, ValueError, TypeError):
            pass  # not there, or cut off by a reboot
        code = compiled(path, source)
        try:
            os.makedirs(directory, 0o700, exist_ok=True)
            with open("%s.%d" % (kept, os.getpid()), "wb") as file:
                marshal.dump(code, file)
            os.rename(file.name, kept)
        except OSError:
            pass  # a full disk, or one that is read only
        return code

    zipimport._compile_source = compile_once


if os.geteuid() == 0:
    keep()
