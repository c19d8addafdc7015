#!/usr/bin/python
"""Renews the certificates that kubeadm made for a control plane, and has its static pods start anew with them.

It renews all of them if one ends before C(until), and only then: a second run changes nothing. A mark is written before the first is
renewed and taken away after the last pod has started, so that a cut run restarts them. Authorities are never renewed, nor are the
certificates of kubelets: kubelets do that themselves. It returns C(kloigos_result) with the earliest end.
"""

from __future__ import annotations

import base64
import calendar
import glob
import os
import re
import ssl
import time

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read, read_mark, write_mark

DOCUMENTATION = r"""
module: kloigos_kube_certs
short_description: Renew the certificates of a control plane
options:
  node: {type: str, required: true, description: Name of the node}
  until: {type: int, required: true, description: "Seconds of Unix time; what ends before is renewed, and all else with it"}
author: Kloigos
"""

KUBEADM = "/usr/local/bin/kubeadm"
OPENSSL = "/usr/bin/openssl"
CTR = ["/usr/bin/ctr", "--namespace", "k8s.io"]
HOME = "/etc/kubernetes/"
MARK = "/var/lib/kloigos-kube/certificates.json"
CONFIGS = ["admin.conf", "super-admin.conf", "controller-manager.conf", "scheduler.conf"]
PODS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler"]
INSIDE = re.compile(r"client-certificate-data:\s*([A-Za-z0-9+/=]+)")
NODE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
API = ("127.0.0.1", 6443)
# A control plane in a machine that is emulated takes minutes.
PATIENCE, PAUSE = 900, 3


class Certificates(Work):
    def __init__(self, module):
        super().__init__(module)
        self.result = None
        if not NODE.fullmatch(self.params["node"]):
            module.fail_json(msg="node is malformed")

    def renewed(self):
        ends = self.ends()
        if not ends:
            self.module.fail_json(msg="the host has no certificates of a control plane")
        due = sorted(name for name, end in ends.items() if end < self.params["until"])
        if due:
            self.change("renew", "certificate", *due)
        if due or read_mark(MARK):
            self.change("restart", "static pod", *PODS)
            if not self.check:
                self.renew(due)
                ends = self.ends()
        self.result = {"end": min(ends.values()), "renewed": len(due)}

    def renew(self, due):
        if due:
            write_mark(MARK, {"until": self.params["until"]})
            self.run([KUBEADM, "certs", "renew", "all"])
            late = sorted(name for name, end in self.ends().items() if end < self.params["until"])
            if late:
                self.module.fail_json(msg="after the renewal there still end soon: %s" % ", ".join(late))
        for pod in PODS:
            self.restart(pod)
        self.served()
        os.unlink(MARK)

    def ends(self):
        """When each certificate ends, by its name."""
        found = {}
        for path in sorted(glob.glob(HOME + "pki/*.crt") + glob.glob(HOME + "pki/etcd/*.crt")):
            if not path.endswith("ca.crt"):
                found[path[len(HOME):]] = self.end(read(path))
        for name in CONFIGS:
            if inside := INSIDE.search(read(HOME + name)):
                found[name] = self.end(base64.b64decode(inside[1]).decode("ascii"))
        return found

    def end(self, text):
        out = self.run([OPENSSL, "x509", "-noout", "-enddate"], data=text)[1].strip()
        return calendar.timegm(time.strptime(out.partition("=")[2], "%b %d %H:%M:%S %Y %Z"))

    # static pods

    def containers(self, pod):
        """The containers of a static pod that run."""
        of = self.run(CTR + ["containers", "list", "--quiet", 'labels."io.kubernetes.container.name"==%s' % pod])[1].split()
        running = {line.split()[0] for line in self.run(CTR + ["tasks", "list"])[1].splitlines() if line.split()[-1:] == ["RUNNING"]}
        return running & set(of)

    def restart(self, pod):
        """Ends the containers of a static pod; the kubelet starts others."""
        before = self.containers(pod)
        for name in sorted(before):
            self.run(CTR + ["tasks", "kill", "--signal", "SIGTERM", name], fail=False)
        self.wait(lambda: self.containers(pod) - before, "%s did not start again" % pod)

    def served(self):
        """Waits until the API server shows the certificate that was made for it."""
        made = ssl.PEM_cert_to_DER_cert(read(HOME + "pki/apiserver.crt").partition("-----END")[0] + "-----END CERTIFICATE-----")

        def shows():
            try:
                return ssl.PEM_cert_to_DER_cert(ssl.get_server_certificate(API, timeout=10)) == made
            except (OSError, ValueError):
                return False

        self.wait(shows, "the API server does not show its new certificate")

    def wait(self, holds, otherwise):
        ends = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > ends:
                self.module.fail_json(msg="%s within %d s" % (otherwise, PATIENCE))
            time.sleep(PAUSE)


def main():
    module = AnsibleModule(
        argument_spec={"node": {"type": "str", "required": True}, "until": {"type": "int", "required": True}},
        supports_check_mode=True,
    )
    certificates = Certificates(module)
    try:
        certificates.renewed()
    except (OSError, ValueError) as problem:
        module.fail_json(msg="certificates: %r" % (problem,))
    module.exit_json(changed=bool(certificates.changes), kloigos_changes=certificates.changes, kloigos_result=certificates.result)


if __name__ == "__main__":
    main()
