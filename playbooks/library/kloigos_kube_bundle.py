#!/usr/bin/python
"""Owns the programs and images of Kubernetes on a host: they come from one bundle, whose SHA-256 the play names.

A bundle is a tar file with C(bin/NAME) for each program and C(images/NAME.tar) for each image. Nothing else in it is taken. The
programs lie in a directory of their version, and links in /usr/local/bin lead there. A mark is written last, so that a cut
run begins anew and a second run changes nothing.

C(brought) brings another version beside the one that the host runs: its programs lie in their directory and its images in the
container runtime, and no link leads to them. C(present) afterwards only switches over.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tarfile
import urllib.error
import urllib.request

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read_mark, write_mark

DOCUMENTATION = r"""
module: kloigos_kube_bundle
short_description: Bring the programs and images of a version of Kubernetes to a host, or take them away
options:
  state: {type: str, required: true, choices: [present, brought, absent], description: See above}
  version: {type: str, description: Version of Kubernetes}
  source: {type: str, description: URL of the bundle, or a file on the host}
  sha256: {type: str, description: Of the bundle}
author: Kloigos
"""

LIBRARY = "/usr/local/lib/kloigos-kube"
STATE = "/var/lib/kloigos-kube"
MARK = STATE + "/bundle.json"
BROUGHT = STATE + "/brought.json"
FETCHED = STATE + "/bundle.tar"
BIN = "/usr/local/bin"
CTR = ["/usr/bin/ctr", "--namespace", "k8s.io"]
PROGRAM = re.compile(r"(?:\./)?bin/([a-z][a-z0-9-]{0,40})")
IMAGE = re.compile(r"(?:\./)?images/([A-Za-z0-9][A-Za-z0-9._-]{0,100}\.tar)")
NEEDED = {"kubeadm", "kubelet"}
# What the container runtime holds pods together with. Each version of Kubernetes has another version of it, so that the one
# of the bundle gets a name of ours, which the runtime's configuration tells.
PAUSE = re.compile(r"[a-z0-9.:/-]+/pause:[a-z0-9.-]+")
PAUSE_NAME = "kloigos.local/pause:bundle"
PIECE, SPARE = 1 << 20, 1 << 30


def names_in(image):
    """The names of the images in a file, as docker and ctr write them."""
    with tarfile.open(image) as tar:
        parts = set(tar.getnames())
        if "manifest.json" in parts:
            return [name for one in json.load(tar.extractfile("manifest.json")) for name in one.get("RepoTags") or []]
        if "index.json" in parts:
            return [one.get("annotations", {}).get("io.containerd.image.name", "") for one in json.load(tar.extractfile("index.json"))["manifests"]]
    return []


class Bundle(Work):
    def words(self, argv, out, err):
        return "%s: %s" % (" ".join(argv[:4]), (err or out).strip()[-2000:])

    # present

    def present(self):
        mark = read_mark(MARK)
        home = os.path.join(LIBRARY, self.params["version"])
        if mark.get("sha256") == self.params["sha256"] and self.complete(mark, home):
            return
        brought = self.bring(home)
        self.change("change", "link", os.path.join(BIN, "kubelet"), note="and those of the other programs, to %s" % self.params["version"])
        if self.check:
            return
        self.name_pause(brought["pause"])
        for name in brought["programs"]:
            self.link(name, os.path.join(home, name))
        write_mark(MARK, {"sha256": self.params["sha256"], "version": self.params["version"], "programs": brought["programs"]})
        if os.path.lexists(BROUGHT):
            os.unlink(BROUGHT)

    # brought

    def brought(self):
        mark = read_mark(MARK)
        home = os.path.join(LIBRARY, self.params["version"])
        if mark.get("sha256") != self.params["sha256"] or not self.complete(mark, home):
            self.bring(home)

    def bring(self, home):
        """Programs and images of the bundle at their places; returns what the mark of them says."""
        mark = read_mark(BROUGHT)
        if mark.get("sha256") == self.params["sha256"] and all(os.path.isfile(os.path.join(home, name)) for name in mark["programs"]):
            return mark
        self.change("create", "file", home, note="from %s, SHA-256 %s" % (self.params["source"], self.params["sha256"]))
        if self.check:
            return {}
        os.makedirs(STATE, mode=0o700, exist_ok=True)
        path = self.fetched()
        programs, images = self.unpack(path, home)
        names = []
        for image in images:
            names += names_in(image)
            self.run(CTR + ["images", "import", image])
            os.unlink(image)
        mark = {"sha256": self.params["sha256"], "version": self.params["version"], "programs": sorted(programs), "pause": self.pause_in(names)}
        write_mark(BROUGHT, mark)
        if os.path.lexists(FETCHED):
            os.unlink(FETCHED)
        return mark

    def complete(self, mark, home):
        return all(os.path.isfile(os.path.join(home, name)) and os.path.realpath(os.path.join(BIN, name)) == os.path.join(home, name) for name in mark["programs"])

    def fetched(self):
        source = self.params["source"]
        if source.startswith("/"):
            path = source
        else:
            path = FETCHED
            self.fetch(source)
        seen = hashlib.sha256()
        with open(path, "rb") as file:
            while piece := file.read(PIECE):
                seen.update(piece)
        if seen.hexdigest() != self.params["sha256"]:
            if path == FETCHED:
                os.unlink(FETCHED)
            self.fail("%s is not the bundle: its SHA-256 is %s, not %s" % (source, seen.hexdigest(), self.params["sha256"]))
        return path

    def fetch(self, source):
        try:
            with urllib.request.urlopen(source, timeout=60) as answer, open(FETCHED, "wb") as file:
                while piece := answer.read(PIECE):
                    if os.statvfs(STATE).f_bavail * os.statvfs(STATE).f_frsize < SPARE:
                        self.fail("the file system of %s has no room for the bundle" % STATE)
                    file.write(piece)
        except (OSError, urllib.error.URLError, ValueError) as problem:
            self.fail("the host cannot fetch %s: %s" % (source, problem))

    def unpack(self, path, home):
        """The programs and the files of images in a bundle, at their places."""
        programs, images = [], []
        os.makedirs(home, mode=0o755, exist_ok=True)
        with tarfile.open(path) as tar:
            for member in tar:
                if not member.isfile():
                    continue
                program, image = PROGRAM.fullmatch(member.name), IMAGE.fullmatch(member.name)
                if program:
                    self.put(tar, member, os.path.join(home, program[1]), 0o755)
                    programs.append(program[1])
                elif image:
                    target = os.path.join(STATE, image[1])
                    self.put(tar, member, target, 0o600)
                    images.append(target)
        if missing := NEEDED - set(programs):
            self.fail("the bundle has no %s" % ", ".join("bin/" + name for name in sorted(missing)))
        return programs, images

    def pause_in(self, names):
        found = [name for name in names if PAUSE.fullmatch(name)]
        if not found:
            self.fail("the bundle has no image of pause")
        return found[0]

    def name_pause(self, name):
        self.run(CTR + ["images", "tag", "--force", name, PAUSE_NAME])

    def put(self, tar, member, target, mode):
        temporary = target + ".kloigos-new"
        with tar.extractfile(member) as source, open(temporary, "wb") as file:
            shutil.copyfileobj(source, file, PIECE)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.rename(temporary, target)

    def link(self, name, target):
        path = os.path.join(BIN, name)
        if os.path.lexists(path):
            if not os.path.islink(path) or not os.readlink(path).startswith(LIBRARY + "/"):
                self.fail("%s is there and is not ours" % path)
            if os.readlink(path) == target:
                return
            os.unlink(path)
        os.symlink(target, path)

    # absent

    def absent(self):
        for name in sorted(os.listdir(BIN)) if os.path.isdir(BIN) else []:
            path = os.path.join(BIN, name)
            if os.path.islink(path) and os.readlink(path).startswith(LIBRARY + "/"):
                self.change("remove", "link", path)
                if not self.check:
                    os.unlink(path)
        if read_mark(MARK) and os.path.exists(CTR[0]):
            self.images()
        for path in (LIBRARY, STATE):
            if os.path.isdir(path) and not os.path.islink(path):
                self.change("remove", "directory", path)
                if not self.check:
                    shutil.rmtree(path)

    def images(self):
        found = self.run(CTR + ["images", "list", "--quiet"], fail=False)[1].split()
        for name in found:
            self.change("remove", "image", name)
        if found and not self.check:
            self.run(CTR + ["images", "remove", "--sync", "--"] + found)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["present", "brought", "absent"]},
            "version": {"type": "str"},
            "source": {"type": "str"},
            "sha256": {"type": "str"},
        },
        required_if=[("state", state, ("version", "source", "sha256")) for state in ("present", "brought")],
        supports_check_mode=True,
    )
    bundle = Bundle(module)
    try:
        {"present": bundle.present, "brought": bundle.brought, "absent": bundle.absent}[module.params["state"]]()
    except (OSError, tarfile.TarError, KeyError) as problem:
        module.fail_json(msg="bundle: %r" % (problem,))
    module.exit_json(changed=bool(bundle.changes), kloigos_changes=bundle.changes)


if __name__ == "__main__":
    main()
