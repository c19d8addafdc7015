#!/usr/bin/python
"""Speaks to the etcd of a control plane, through the JSON gateway that every etcd has: no program of etcd is needed on the host.

- C(status) returns C(kloigos_result) with the members. Each is asked by itself, so that one that is down is told of.
- C(snapshot) keeps a snapshot of etcd on the host, compressed, where only root reads it, and returns its size, its SHA-256 and the
  number of its parts. It is checked by the sum that etcd puts at its end. What an attempt before left goes first.
- C(part) returns one part of it, C(forgotten) deletes it.
- C(removed) takes a member out, by its name, or by its address if it has never started. One that is no member is out.

It trusts the authority of etcd alone, and shows the client certificate that kubeadm made for looking at its health.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import ssl
import urllib.error
import urllib.request
import zlib

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work

DOCUMENTATION = r"""
module: kloigos_etcd
short_description: Ask the members of etcd how they are, take one out, or take a snapshot
options:
  state: {type: str, required: true, choices: [status, removed, snapshot, part, forgotten], description: See above}
  node: {type: str, required: true, description: Name of the node that asks, or of the member that goes}
  address: {type: str, description: Address of the member that goes}
  snapshot: {type: str, description: Id of a snapshot}
  number: {type: int, description: Number of a part of it}
author: Kloigos
"""

PKI = "/etc/kubernetes/pki/etcd/"
ENDPOINT = "https://127.0.0.1:2379"
PATIENCE = 10
LIMIT = 1 << 20
SNAPSHOTS = "/var/lib/kloigos-kube/snapshots"
PART, LARGEST = 700 << 10, 256 << 20
ROOM = 1 << 30  # that stays free for etcd itself
SUM = 32  # bytes of SHA-256 that etcd puts behind its data
ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
NODE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
ADDRESS = re.compile(r"[0-9]{1,3}(\.[0-9]{1,3}){3}")
CLIENT_URL = re.compile(r"https://[0-9.]{7,15}:[0-9]{1,5}")


class Etcd(Work):
    def __init__(self, module):
        super().__init__(module)
        self.result = None
        if not NODE.fullmatch(self.params["node"]):
            module.fail_json(msg="node is malformed")
        if self.params["address"] is not None and not ADDRESS.fullmatch(self.params["address"]):
            module.fail_json(msg="address is malformed")
        if self.params["snapshot"] is not None and not ID.fullmatch(self.params["snapshot"]):
            module.fail_json(msg="snapshot is malformed")
        self.trust = ssl.create_default_context(cafile=PKI + "ca.crt")
        self.trust.load_cert_chain(PKI + "healthcheck-client.crt", PKI + "healthcheck-client.key")

    def ask(self, path, body, endpoint=None):
        request = urllib.request.Request((endpoint or ENDPOINT) + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as answer:
            return json.loads(answer.read(LIMIT))

    def members(self):
        return self.ask("/v3/cluster/member/list", {}).get("members", [])

    # status

    def status(self):
        members = [self.one(member) for member in self.members()]
        self.result = {"members": members}

    def one(self, member):
        found = {
            "name": str(member.get("name", ""))[:64],
            "peers": [str(url)[:200] for url in member.get("peerURLs", [])][:4],
            "learner": bool(member.get("isLearner")),
            "healthy": False,
            "why": "it has never started",
            "size": 0,
            "applied": 0,
        }
        for url in member.get("clientURLs", []):
            if not CLIENT_URL.fullmatch(url):
                found["why"] = "its address is no HTTPS address of IPv4"
                continue
            try:
                said = self.ask("/v3/maintenance/status", {}, url)
            except (OSError, ValueError) as problem:
                found["why"] = str(problem)[:200]
                continue
            found["size"] = int(said.get("dbSize", 0))
            found["applied"] = int(said.get("raftAppliedIndex", 0))
            found["why"] = "; ".join(said.get("errors", []))[:200]
            if said.get("leader", "0") == "0":
                found["why"] = "it knows no leader"
            found["healthy"] = not found["why"]
            break
        return found

    # snapshot

    def snapshot(self):
        self.change("create", "snapshot of etcd", self.params["snapshot"])
        if self.check:
            return
        self.forgotten()
        os.makedirs(SNAPSHOTS, mode=0o700)
        descriptor = os.open(self.file(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                size, digest = self.receive(file)
        except BaseException:
            os.unlink(self.file())
            raise
        stored = os.path.getsize(self.file())
        self.result = {"size": size, "stored": stored, "sha256": digest, "parts": -(-stored // PART)}

    def file(self):
        return os.path.join(SNAPSHOTS, self.params["snapshot"])

    def receive(self, file):
        """Reads what etcd streams: JSON, a line for each piece."""
        packer, whole, data, end, size, stored = zlib.compressobj(), hashlib.sha256(), hashlib.sha256(), b"", 0, 0
        request = urllib.request.Request(ENDPOINT + "/v3/maintenance/snapshot", b"{}", {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as answer:
            for line in iter(lambda: answer.readline(LIMIT), b""):
                said = json.loads(line)
                if "error" in said:
                    raise ValueError("etcd broke off: %s" % str(said["error"].get("message"))[:200])
                piece = base64.b64decode(said["result"].get("blob", ""))
                size += len(piece)
                whole.update(piece)
                data.update((end + piece)[:-SUM])
                end = (end + piece)[-SUM:]
                packed = packer.compress(piece)
                stored += len(packed)
                self.bounded(stored)
                file.write(packed)
        file.write(packer.flush())
        if size <= SUM or data.digest() != end:
            raise ValueError("the snapshot is not whole: its sum differs")
        return size, whole.hexdigest()

    def bounded(self, stored):
        if stored > LARGEST:
            raise ValueError("the snapshot has more than %d MiB when it is compressed" % (LARGEST >> 20))
        if shutil.disk_usage(SNAPSHOTS).free < ROOM:
            raise ValueError("the disk has less than 1 GiB left, which etcd needs itself")

    def part(self):
        with open(self.file(), "rb") as file:
            file.seek(self.params["number"] * PART)
            content = file.read(PART)
        self.result = {"number": self.params["number"], "content": base64.b64encode(content).decode()}

    def forgotten(self):
        if not os.path.isdir(SNAPSHOTS):
            return
        self.change("remove", "snapshots of etcd", SNAPSHOTS)
        if not self.check:
            shutil.rmtree(SNAPSHOTS)

    # removed

    def removed(self):
        for member in self.members():
            name, peers = member.get("name", ""), member.get("peerURLs", [])
            at = self.params["address"] is not None and any("//%s:" % self.params["address"] in url for url in peers)
            if name != self.params["node"] and (name or not at):
                continue
            self.change("remove", "member of etcd", self.params["node"])
            if not self.check:
                self.ask("/v3/cluster/member/remove", {"ID": member["ID"]})


def words(problem):
    """What etcd says of a refusal stands in the body."""
    if isinstance(problem, urllib.error.HTTPError):
        return "etcd answered %d: %s" % (problem.code, problem.read(2000).decode("utf-8", "replace"))
    return "etcd: %s" % problem


def main():
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["status", "removed", "snapshot", "part", "forgotten"]},
            "node": {"type": "str", "required": True},
            "address": {"type": "str"},
            "snapshot": {"type": "str"},
            "number": {"type": "int"},
        },
        supports_check_mode=True,
    )
    try:
        etcd = Etcd(module)
        getattr(etcd, module.params["state"])()
    except (OSError, ValueError, KeyError) as problem:
        module.fail_json(msg=words(problem))
    result = {"changed": bool(etcd.changes), "kloigos_changes": etcd.changes}
    if etcd.result is not None:
        result["kloigos_result"] = etcd.result
    module.exit_json(**result)


if __name__ == "__main__":
    main()
