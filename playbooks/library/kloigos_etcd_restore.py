#!/usr/bin/python
"""Puts the etcd of the only control plane of a cluster back to a snapshot.

- C(parts) keeps parts of the snapshot on the host, where only root reads them, and returns C(kloigos_result) with the numbers of all that
  are there.
- C(restored) makes a data directory of them, stops the static pods, puts the new directory in the place of the old one, and starts the pods
  again. Before anything stops, the whole is compared with its size and its SHA-256, and etcdutl has read it.

What etcd had before stays in C(before), until another snapshot is restored or Kubernetes is taken off the host. A cut run goes on where it
stood: what it finds on the disk says how far it came. A second run after that does nothing.

etcdutl is a program of the bundle, or else the one in the image of etcd. Revisions go up by a billion, and what was before counts as
compacted: whoever watches the API server reads all of it anew, and holds no newer state than there is.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import re
import shutil
import socket
import ssl
import time
import urllib.request
import zlib
from json import loads

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read, read_mark, write_mark

DOCUMENTATION = r"""
module: kloigos_etcd_restore
short_description: Put etcd back to a snapshot
options:
  state: {type: str, required: true, choices: [parts, restored], description: See above}
  node: {type: str, required: true, description: Name of the node}
  snapshot: {type: str, required: true, description: Id of the snapshot}
  address: {type: str, description: Address of the node; of restored}
  size: {type: int, description: Bytes of the snapshot; of restored}
  sha256: {type: str, description: SHA-256 of the snapshot; of restored}
  count: {type: int, description: How many parts it has; of restored}
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
STOPS, STARTS = 600, 900  # seconds
PLAIN = {
    "node": re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"),
    "snapshot": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
    "address": re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}"),
    "sha256": re.compile(r"[0-9a-f]{64}"),
}
PORT = re.compile(r"--secure-port=([0-9]{1,5})\b")
IMAGE = re.compile(r"^\s*image: ([a-z0-9][A-Za-z0-9./:@_-]{0,250})$", re.M)


class Restore(Work):
    def __init__(self, module):
        super().__init__(module)
        for name, form in PLAIN.items():
            if self.params[name] is not None and not form.fullmatch(self.params[name]):
                module.fail_json(msg="%s is malformed" % name)
        self.result = None
        self.mark = read_mark(self.at("mark.json")) or {}

    def at(self, name):
        return os.path.join(HERE, name)

    def note(self, **more):
        self.mark.update(more)
        write_mark(self.at("mark.json"), self.mark)

    # parts

    def parts(self):
        """Another snapshot begins anew. What was before the last one goes only if that one was restored to its end."""
        if self.mark.get("snapshot") != self.params["snapshot"]:
            self.change("create", "parts of a snapshot of etcd", self.params["snapshot"])
            if self.check:
                return
            if os.path.isdir(self.at("manifests")):
                self.start()
            for name in ["parts", "new"] + (["before"] if self.mark.get("finished") else []):
                shutil.rmtree(self.at(name), ignore_errors=True)
            os.makedirs(self.at("parts"), mode=0o700, exist_ok=True)
            os.chmod(HERE, 0o700)
            self.mark = {}
            self.note(snapshot=self.params["snapshot"])
        if self.params["content"] and not self.check:
            content = base64.b64decode(self.params["content"], validate=True)
            path = self.at("parts/%d" % self.params["number"])
            with open(path + ".new", "wb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(content)
            os.rename(path + ".new", path)
        there = os.listdir(self.at("parts")) if os.path.isdir(self.at("parts")) else []
        self.result = {"parts": sorted(int(name) for name in there if name.isdigit())}

    # restored

    def restored(self):
        if self.mark.get("snapshot") == self.params["snapshot"] and self.mark.get("finished"):
            return
        self.change("change", "data of etcd", DATA, after=self.params["snapshot"])
        if self.check:
            return
        if self.mark.get("snapshot") != self.params["snapshot"]:
            raise ValueError("the parts of the snapshot are not on the host")
        if not self.mark.get("made"):
            self.fits()
            self.unpack()
            self.make()
        self.stop()
        try:
            self.swap()
        finally:
            self.start()
        self.wait()
        for name in ("parts", "new"):
            shutil.rmtree(self.at(name), ignore_errors=True)
        self.note(finished=True)

    def fits(self):
        if os.path.ismount(DATA) or os.stat(DATA).st_dev != os.stat(HERE).st_dev:
            raise ValueError("%s is a file system of its own, and can't be replaced" % DATA)
        if not 0 < self.params["size"] <= LARGEST or shutil.disk_usage(HERE).free < 3 * self.params["size"] + ROOM:
            raise ValueError("the disk has no room for the snapshot, its data directory and 1 GiB")

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
        node, peer = self.params["node"], PEER % self.params["address"]
        argv = ["snapshot", "restore", self.at("snapshot.db"), "--data-dir", self.at("new"), "--name", node, "--initial-cluster", "%s=%s" % (node, peer)]
        argv += ["--initial-advertise-peer-urls", peer, "--initial-cluster-token", "kloigos-" + self.params["snapshot"], "--bump-revision", "1000000000", "--mark-compacted"]
        if os.access(ETCDUTL, os.X_OK):
            self.run([ETCDUTL] + argv)
        else:
            self.from_image(argv)
        os.unlink(self.at("snapshot.db"))
        self.note(made=True)

    def from_image(self, argv):
        found = IMAGE.search(read(os.path.join(MANIFESTS, "etcd.yaml")))
        if not found:
            raise ValueError("the bundle has no etcdutl, and the manifest of etcd names no image that may have it")
        root = self.at("image")
        os.makedirs(root, mode=0o700, exist_ok=True)
        self.run(CTR + ["images", "mount", found.group(1), root])
        try:
            program = root + "/usr/local/bin/etcdutl"
            if not os.access(program, os.X_OK):
                raise ValueError("neither the bundle nor the image %s has etcdutl" % found.group(1))
            self.run([program] + argv)
        finally:
            self.run(CTR + ["images", "unmount", "--rm", root], fail=False)

    def stop(self):
        """Takes the manifests away, which has kubelet stop the pods, and waits until nothing of them runs."""
        kept = self.at("manifests")
        os.makedirs(kept, mode=0o700, exist_ok=True)
        for name in os.listdir(MANIFESTS):
            if name.endswith(".yaml"):
                shutil.copy2(os.path.join(MANIFESTS, name), os.path.join(kept, name + ".new"))
                os.rename(os.path.join(kept, name + ".new"), os.path.join(kept, name))
                os.unlink(os.path.join(MANIFESTS, name))
        ports = {name: self.port(os.path.join(kept, name), port) for name, port in PORTS.items() if os.path.exists(os.path.join(kept, name))}
        ended = time.monotonic() + STOPS
        while self.runs(ports):
            if time.monotonic() > ended:
                self.start()
                raise ValueError("%s did not stop within %d s; nothing was changed" % (self.runs(ports), STOPS))
            time.sleep(1)

    def port(self, manifest, usual):
        found = PORT.search(read(manifest))
        return int(found.group(1)) if found else usual

    def runs(self, ports):
        """Says what still runs: etcd holds a lock of its file, the others listen."""
        for name, port in ports.items():
            with socket.socket() as tried:
                tried.settimeout(2)
                if tried.connect_ex(("127.0.0.1", port)) == 0:
                    return name[: -len(".yaml")]
        path = os.path.join(DATA, "member/snap/db")
        if os.path.exists(path):
            with open(path, "rb+") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    return "etcd"
        return ""

    def swap(self):
        if not os.path.isdir(self.at("new")):
            return  # a run before did it
        if os.path.isdir(DATA):
            if os.path.isdir(self.at("before")):
                shutil.rmtree(DATA)  # of a restore that did not come to its end
            else:
                os.rename(DATA, self.at("before"))
        try:
            os.rename(self.at("new"), DATA)
        except OSError:
            os.rename(self.at("before"), DATA)  # without any data etcd would begin an empty cluster
            raise

    def start(self):
        kept = self.at("manifests")
        for name in sorted(os.listdir(kept)):
            if name.endswith(".yaml"):
                hidden = os.path.join(MANIFESTS, "." + name)  # kubelet passes over it
                shutil.copy2(os.path.join(kept, name), hidden)
                os.rename(hidden, os.path.join(MANIFESTS, name))
        shutil.rmtree(kept)

    def wait(self):
        trust = ssl.create_default_context(cafile=PKI + "ca.crt")
        trust.load_cert_chain(PKI + "healthcheck-client.crt", PKI + "healthcheck-client.key")
        request = urllib.request.Request(ENDPOINT + "/v3/maintenance/status", b"{}", {"Content-Type": "application/json"})
        ended = time.monotonic() + STARTS
        while True:
            try:
                with urllib.request.urlopen(request, timeout=10, context=trust) as answer:
                    if loads(answer.read(1 << 20)).get("leader", "0") != "0":
                        return
            except (OSError, ValueError):
                pass  # it starts
            if time.monotonic() > ended:
                raise ValueError("etcd did not start within %d s on what was restored; what it had before is in %s" % (STARTS, self.at("before")))
            time.sleep(1)


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["parts", "restored"]},
            "node": {"type": "str", "required": True},
            "snapshot": {"type": "str", "required": True},
            "address": {"type": "str"},
            "size": {"type": "int"},
            "sha256": {"type": "str"},
            "count": {"type": "int"},
            "number": {"type": "int"},
            "content": {"type": "str", "no_log": True},
        },
        required_if=[("state", "restored", ["address", "size", "sha256", "count"])],
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
