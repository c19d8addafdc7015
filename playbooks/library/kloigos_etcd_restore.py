#!/usr/bin/python
"""Puts the etcd of the control planes of a cluster back to a snapshot. Each state is one step, taken on every control plane before the next
one begins: a member on new data and one on old data never run at the same time.

- C(checked) tells the versions of etcd, of its image and of etcdutl, and fails where a restore could not work. It changes nothing.
- C(parts) keeps parts of the snapshot on the host, where only root reads them, and tells the numbers of all that are there.
- C(made) compares the whole with its size and SHA-256, and has etcdutl make the data directory of this member. Nothing stops.
- C(stopped) takes the manifests of the static pods away, and waits until nothing of them runs.
- C(swapped) puts the new directory in the place of the old one, which stays aside.
- C(started) puts the manifests back.
- C(settled) waits until the members of etcd are exactly those that were given, and all of them are well.
- C(finished) deletes what is not needed any more.
- C(back) takes C(swapped) and C(stopped) back. After C(started) it changes no data.

The new data is of a cluster with an id of its own, drawn from the id of the restore: its members refuse those of any other. What etcd had
stays in C(before-ID), until another snapshot is restored or Kubernetes is taken off the host. A cut run goes on where it stood: what it finds
on the disk says how far it came. A second run after that does nothing.

etcdutl is a program of the bundle, or else the one in the image of etcd. Revisions go up by a billion, and what was before counts as
compacted: whoever watches the API server reads all of it anew, and holds no newer state than there is.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import socket
import ssl
import time
import urllib.request
import zlib

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read, read_mark, write_mark

DOCUMENTATION = r"""
module: kloigos_etcd_restore
short_description: Put etcd back to a snapshot
options:
  state: {type: str, required: true, choices: [checked, parts, made, stopped, swapped, started, settled, finished, back], description: See above}
  node: {type: str, required: true, description: Name of the node}
  restore: {type: str, required: true, description: Id of the restore}
  size: {type: int, description: Bytes of the snapshot}
  sha256: {type: str, description: SHA-256 of the snapshot}
  count: {type: int, description: How many parts it has}
  members: {type: list, elements: dict, description: Name and address of every control plane}
  number: {type: int, description: Number of a part; of parts}
  content: {type: str, description: The part in base64; of parts}
author: Kloigos
"""

PKI = "/etc/kubernetes/pki/etcd/"
ENDPOINT = "https://127.0.0.1:2379"
DATA = "/var/lib/etcd"
MANIFESTS = "/etc/kubernetes/manifests"
HERE = "/var/lib/kloigos-kube/restore"
ETCDUTL = "/usr/local/bin/etcdutl"
CTR = ["/usr/bin/ctr", "--namespace", "k8s.io"]
PORTS = {"kube-apiserver.yaml": 6443, "kube-controller-manager.yaml": 10257, "kube-scheduler.yaml": 10259}
PEER = "https://%s:2380"
LARGEST = 8 << 30
ROOM = 1 << 30
STOPS, STARTS, PAUSE = 600, 900, 1  # seconds
PATIENCE = 10
LIMIT = 1 << 20
STATES = ["checked", "parts", "made", "stopped", "swapped", "started", "settled", "finished", "back"]
PLAIN = {
    "node": re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"),
    "restore": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "sha256": re.compile(r"[0-9a-f]{64}"),
}
ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
CLIENT_URL = re.compile(r"https://[0-9.]{7,15}:[0-9]{1,5}")
PORT = re.compile(r"--secure-port=([0-9]{1,5})\b")
IMAGE = re.compile(r"^\s*image: ([a-z0-9][A-Za-z0-9./:@_-]{0,250})$", re.M)
FLAG = re.compile(r"^\s*- --(name|data-dir|initial-advertise-peer-urls)=(\S{1,250})$", re.M)
VERSION = re.compile(r"\b([0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3})\b")


class Restore(Work):
    def __init__(self, module):
        super().__init__(module)
        for name, form in PLAIN.items():
            if self.params[name] is not None and not form.fullmatch(self.params[name]):
                module.fail_json(msg="%s is malformed" % name)
        self.peers = {}
        for member in self.params["members"] or []:
            if not PLAIN["node"].fullmatch(str(member.get("name"))) or not ADDRESS.fullmatch(str(member.get("address"))):
                module.fail_json(msg="members are malformed")
            self.peers[member["name"]] = PEER % member["address"]
        if self.params["members"] is not None and self.params["node"] not in self.peers:
            module.fail_json(msg="the node is none of the members")
        self.result = None
        self.mark = read_mark(self.at("mark.json")) or {}

    def at(self, name):
        return os.path.join(HERE, name)

    def note(self, **more):
        self.mark.update(more)
        write_mark(self.at("mark.json"), self.mark)

    # What the disk says. The restore that the mark is about may be another one.

    def before(self):
        return self.at("before-%s" % self.mark.get("restore", ""))

    def held(self):
        """Whether the manifests are away, all or some of them."""
        return os.path.isdir(self.at("manifests"))

    def exchanged(self):
        return os.path.isdir(self.before()) and not os.path.isdir(self.at("new"))

    def cluster(self):
        return ",".join("%s=%s" % pair for pair in sorted(self.peers.items()))

    def mine(self):
        if self.mark.get("restore") != self.params["restore"]:
            raise ValueError("the parts of the snapshot are not on the host")

    def prepared(self):
        """No step goes on with data that was made for other members."""
        self.mine()
        if self.mark.get("made") != self.cluster():
            raise ValueError("the host has no data directory for these control planes; ask for the restore again")

    # checked

    def checked(self):
        manifest = read(os.path.join(MANIFESTS, "etcd.yaml")) or read(self.at("manifests/etcd.yaml"))
        flags, image = dict(FLAG.findall(manifest)), IMAGE.search(manifest)
        want = {"name": self.params["node"], "data-dir": DATA, "initial-advertise-peer-urls": self.peers[self.params["node"]]}
        for name, value in want.items():
            if flags.get(name) != value:
                raise ValueError("the manifest of etcd has --%s=%s, not %s" % (name, flags.get(name, ""), value))
        self.fits()
        with self.etcdutl() as program:
            code, out = self.run([program, "version"])
        self.result = {"image": image.group(1) if image else "", "etcd": self.version(), "etcdutl": "".join(VERSION.findall(out)[:1])}

    def version(self):
        """Of the etcd that runs; empty if none answers."""
        try:
            return str(self.ask("/version").get("etcdserver", ""))[:32]
        except (OSError, ValueError):
            return ""

    def fits(self):
        beside = HERE
        while not os.path.isdir(beside):
            beside = os.path.dirname(beside)
        if os.path.ismount(DATA) or os.path.isdir(DATA) and os.stat(DATA).st_dev != os.stat(beside).st_dev:
            raise ValueError("%s is a file system of its own, and can't be replaced" % DATA)
        if not 0 < self.params["size"] <= LARGEST or shutil.disk_usage(beside).free < 3 * self.params["size"] + ROOM:
            raise ValueError("the disk has no room for the snapshot, its data directory and 1 GiB")

    # parts

    def parts(self):
        """Another restore begins anew. One that was given up before its data was started is taken back first."""
        if self.mark.get("restore") != self.params["restore"]:
            self.change("create", "parts of a snapshot of etcd", self.params["restore"])
            if self.check:
                return
            self.back()
            os.makedirs(HERE, mode=0o700, exist_ok=True)
            old = [name for name in os.listdir(HERE) if name.startswith("before")]
            for name in ["parts", "new"] + (old if self.mark.get("finished") else []):
                shutil.rmtree(self.at(name), ignore_errors=True)
            os.makedirs(self.at("parts"), mode=0o700, exist_ok=True)
            os.chmod(HERE, 0o700)
            self.mark = {}
            self.note(restore=self.params["restore"])
        if self.params["content"] and not self.check:
            content = base64.b64decode(self.params["content"], validate=True)
            path = self.at("parts/%d" % self.params["number"])
            with open(path + ".new", "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(content)
            os.rename(path + ".new", path)
        there = os.listdir(self.at("parts")) if os.path.isdir(self.at("parts")) else []
        self.result = {"parts": sorted(int(name) for name in there if name.isdigit())}

    # made

    def made(self):
        if self.mark.get("restore") == self.params["restore"] and self.mark.get("made") == self.cluster():
            return
        self.change("create", "data directory of etcd", self.at("new"))
        if self.check:
            return
        self.mine()
        if os.path.isdir(self.before()):
            raise ValueError("the data was put in its place for other control planes; ask for the restore again")
        self.fits()
        self.unpack()
        self.make()

    def unpack(self):
        unpacker, whole, size = zlib.decompressobj(), hashlib.sha256(), 0
        with open(self.at("snapshot.db"), "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            for number in range(self.params["count"]):
                with open(self.at("parts/%d" % number), "rb") as part:
                    packed = part.read()
                while packed:
                    piece = unpacker.decompress(packed, 1 << 20)
                    packed = unpacker.unconsumed_tail
                    size += len(piece)
                    if size > self.params["size"]:
                        raise ValueError("the snapshot is longer than it was")
                    whole.update(piece)
                    file.write(piece)
        if size != self.params["size"] or whole.hexdigest() != self.params["sha256"] or not unpacker.eof:
            raise ValueError("the snapshot on the host is not what was sent")

    def make(self):
        shutil.rmtree(self.at("new"), ignore_errors=True)
        node = self.params["node"]
        argv = ["snapshot", "restore", self.at("snapshot.db"), "--data-dir", self.at("new"), "--name", node, "--initial-cluster", self.cluster()]
        argv += ["--initial-advertise-peer-urls", self.peers[node], "--initial-cluster-token", "kloigos-" + self.params["restore"]]
        with self.etcdutl() as program:
            self.run([program] + argv + ["--bump-revision", "1000000000", "--mark-compacted"])
        os.unlink(self.at("snapshot.db"))
        os.sync()
        self.note(made=self.cluster())

    @contextlib.contextmanager
    def etcdutl(self):
        """The program of the bundle, or that of the image while it is mounted."""
        if os.access(ETCDUTL, os.X_OK):
            yield ETCDUTL
            return
        found = IMAGE.search(read(os.path.join(MANIFESTS, "etcd.yaml")) or read(self.at("manifests/etcd.yaml")))
        if not found:
            raise ValueError("the bundle has no etcdutl, and the manifest of etcd names no image that may have it")
        root = self.at("image")
        os.makedirs(root, mode=0o700, exist_ok=True)
        self.run(CTR + ["images", "mount", found.group(1), root])
        try:
            program = root + "/usr/local/bin/etcdutl"
            if not os.access(program, os.X_OK):
                raise ValueError("neither the bundle nor the image %s has etcdutl" % found.group(1))
            yield program
        finally:
            self.run(CTR + ["images", "unmount", "--rm", root], fail=False)

    # stopped

    def stopped(self):
        if self.mark.get("restore") == self.params["restore"] and self.mark.get("started"):
            return
        if self.manifests() or not self.held():
            self.change("stop", "static pods", MANIFESTS)
        if self.check:
            return
        self.prepared()
        self.stop()

    def manifests(self):
        return [name for name in sorted(os.listdir(MANIFESTS)) if name.endswith(".yaml")]

    def stop(self):
        """Takes the manifests away, which has kubelet stop the pods, and waits until nothing of them runs."""
        kept = self.at("manifests")
        os.makedirs(kept, mode=0o700, exist_ok=True)
        for name in self.manifests():
            shutil.copy2(os.path.join(MANIFESTS, name), os.path.join(kept, name + ".new"))
            os.rename(os.path.join(kept, name + ".new"), os.path.join(kept, name))
            os.unlink(os.path.join(MANIFESTS, name))
        ended = time.monotonic() + STOPS
        while self.runs():
            if time.monotonic() > ended:
                raise ValueError("%s did not stop within %d s" % (self.runs(), STOPS))
            time.sleep(PAUSE)

    def port(self, manifest, usual):
        found = PORT.search(read(manifest))
        return int(found.group(1)) if found else usual

    def runs(self):
        """Says what still runs: etcd holds a lock of its file, the others listen."""
        for name, usual in PORTS.items():
            manifest = self.at("manifests/" + name)
            if not os.path.exists(manifest):
                continue
            with socket.socket() as tried:
                tried.settimeout(2)
                if tried.connect_ex(("127.0.0.1", self.port(manifest, usual))) == 0:
                    return name[: -len(".yaml")]
        path = os.path.join(DATA, "member/snap/db")
        if os.path.exists(path):
            with open(path, "rb+") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    return "etcd"
        return ""

    # swapped

    def swapped(self):
        if self.mark.get("restore") == self.params["restore"] and self.exchanged():
            return
        self.change("change", "data of etcd", DATA, after=self.params["restore"])
        if self.check:
            return
        self.prepared()
        if not self.held() or self.manifests() or self.runs():
            raise ValueError("the static pods of the host run")
        self.swap()

    def swap(self):
        self.aside()
        self.place()
        os.sync()

    def aside(self):
        if os.path.isdir(self.before()):
            shutil.rmtree(DATA, ignore_errors=True)  # somebody made it after a cut between the two moves: what etcd had is aside
        elif os.path.isdir(DATA):
            os.rename(DATA, self.before())
        else:
            os.mkdir(self.before(), 0o700)

    def place(self):
        try:
            os.rename(self.at("new"), DATA)
        except OSError:
            os.rename(self.before(), DATA)  # without any data etcd would begin an empty cluster
            raise

    # started

    def started(self):
        if self.mark.get("restore") == self.params["restore"] and self.mark.get("started") and not self.held():
            return
        self.change("start", "static pods", MANIFESTS)
        if self.check:
            return
        self.prepared()
        if not self.exchanged():
            raise ValueError("the data of the snapshot is not in its place")
        self.note(started=True)
        self.start()

    def start(self):
        kept = self.at("manifests")
        os.makedirs(kept, mode=0o700, exist_ok=True)
        for name in sorted(os.listdir(kept)):
            if name.endswith(".yaml"):
                hidden = os.path.join(MANIFESTS, "." + name)  # kubelet passes over it
                shutil.copy2(os.path.join(kept, name), hidden)
                os.rename(hidden, os.path.join(MANIFESTS, name))
        shutil.rmtree(kept)

    # back

    def back(self):
        """Of what the mark is about: also of another restore, which was given up."""
        if not self.held():
            return
        self.change("start", "static pods", MANIFESTS)
        if self.check:
            return
        if not self.mark.get("started"):
            if self.exchanged() and os.path.isdir(DATA):
                os.rename(DATA, self.at("new"))
            if os.path.isdir(self.before()) and not os.path.isdir(DATA):
                os.rename(self.before(), DATA)
            os.sync()
        self.start()

    # settled

    def settled(self):
        if self.check:
            return
        self.prepared()
        ended = time.monotonic() + STARTS
        while True:
            why = self.unsettled()
            if not why:
                return
            if time.monotonic() > ended:
                raise ValueError("etcd is not well %d s after its start on what was restored: %s; what it had before is in %s" % (STARTS, why, self.before()))
            time.sleep(PAUSE)

    def unsettled(self):
        """Says what is missing. The list of members is read from a majority of them."""
        try:
            members = self.ask("/v3/cluster/member/list", {"linearizable": True}).get("members", [])
            found = {str(member.get("name", "")): ",".join(member.get("peerURLs", [])) for member in members if not member.get("isLearner")}
            if found != self.peers or len(members) != len(found):
                return "its members are %s" % (", ".join("%s at %s" % pair for pair in sorted(found.items())) or "none")
            leaders = set()
            for member in members:
                urls = member.get("clientURLs", [])
                if len(urls) != 1 or not CLIENT_URL.fullmatch(urls[0]):
                    return "the member %s has no address yet" % member["name"]
                said = self.ask("/v3/maintenance/status", {}, urls[0])
                if said.get("errors") or said.get("leader", "0") == "0":
                    return "the member %s has no leader, or an error" % member["name"]
                leaders.add(said["leader"])
            return "" if len(leaders) == 1 else "its members have different leaders"
        except (OSError, ValueError) as problem:
            return str(problem)[:200]

    def ask(self, path, body=None, endpoint=None):
        trust = ssl.create_default_context(cafile=PKI + "ca.crt")
        trust.load_cert_chain(PKI + "healthcheck-client.crt", PKI + "healthcheck-client.key")
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request((endpoint or ENDPOINT) + path, data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE, context=trust) as answer:
            return json.loads(answer.read(LIMIT))

    # finished

    def finished(self):
        if self.mark.get("finished") and self.mark.get("restore") == self.params["restore"]:
            return
        self.change("remove", "parts of a snapshot of etcd", self.params["restore"])
        if self.check:
            return
        self.prepared()
        if self.held() or not self.mark.get("started"):
            raise ValueError("the restore is not at its end")
        for name in ("parts", "new"):
            shutil.rmtree(self.at(name), ignore_errors=True)
        self.note(finished=True)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": STATES},
            "node": {"type": "str", "required": True},
            "restore": {"type": "str", "required": True},
            "size": {"type": "int"},
            "sha256": {"type": "str"},
            "count": {"type": "int"},
            "members": {"type": "list", "elements": "dict"},
            "number": {"type": "int"},
            "content": {"type": "str", "no_log": True},
        },
        required_if=[("state", state, ["size", "sha256", "count", "members"]) for state in STATES if state != "parts"],
        supports_check_mode=True,
    )
    work = Restore(module)
    try:
        getattr(work, module.params["state"])()
    except (OSError, ValueError, zlib.error) as problem:
        module.fail_json(msg=str(problem)[:500])
    result = {"changed": bool(work.changes), "kloigos_changes": work.changes}
    if work.result is not None:
        result["kloigos_result"] = work.result
    module.exit_json(**result)


if __name__ == "__main__":
    main()
