#!/usr/bin/python
"""Runs kubeadm on a host: makes a control plane, joins a worker or another control plane, or takes a node away.

- A mark is written last. What a cut run left is taken away by kubeadm itself before it is tried again, so that a second
  run of a finished one changes nothing.
- C(init) returns C(kloigos_result) with the authority of the cluster and a certificate that it signed for the request of
  Kloigos. Neither is secret, and the key of the certificate is not on the host.
- C(uploaded) hands the keys of the cluster, encrypted, to the cluster itself, for C(control_plane) on another host to fetch.
- Tokens and keys stand in a file that only root can read, for as long as kubeadm runs, and in no message.
- C(upgraded) lets kubeadm of the new version upgrade a node: with C(apply) the cluster and the first control plane, else what is
  on this node. A mark of the version is written last; kubeadm itself goes on where a cut run stood.
- C(restarted) has the kubelet run the program that the link in /usr/local/bin leads to.
- C(absent) looks at what is left afterwards and fails if anything is: kubeadm ends well although it left containers,
  interfaces and tables of the packet filter.

It writes no configuration of the host beyond kubeadm's own.
"""

from __future__ import annotations

import glob
import json
import os
import re
import shutil
import subprocess

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.kloigos import Work, read_mark, write_mark

DOCUMENTATION = r"""
module: kloigos_kubeadm
short_description: Make a control plane, join a node, or take a node away
options:
  state: {type: str, required: true, choices: [init, joined, uploaded, control_plane, upgraded, restarted, absent], description: See above}
  node: {type: str, required: true, description: Name of the node}
  version: {type: str, description: Version of Kubernetes}
  address: {type: str, description: Address of the node}
  endpoint: {type: str, description: Where the API server is reached}
  endpoint_host: {type: str, description: The host of that}
  dns_name: {type: str, description: "Name that a DNS zone gives to the cluster; empty for none"}
  cluster: {type: str, description: Name of the cluster}
  service_range: {type: str, description: Range of services}
  pod_range: {type: str, description: Range of all pods}
  request: {type: str, description: Request for a certificate (PEM)}
  oidc_issuer: {type: str, description: Provider that people log in with; empty for none}
  oidc_client_id: {type: str, description: Client that its tokens are made for}
  oidc_username_claim: {type: str, description: Claim that names the user}
  oidc_groups_claim: {type: str, description: Claim that names the groups}
  token: {type: str, description: Lets the node join}
  ca_hash: {type: str, description: Of the authority of the cluster}
  apply: {type: bool, default: false, description: This node upgrades the cluster itself; the other nodes follow it}
  dns: {type: bool, default: true, description: The cluster runs CoreDNS, which is upgraded with it}
  certificate_key: {type: str, description: Encrypts the keys of the cluster on their way to another control plane}
author: Kloigos
"""

KUBEADM = "/usr/local/bin/kubeadm"
OPENSSL = "/usr/bin/openssl"
SYSTEMCTL = "/usr/bin/systemctl"
CTR = ["/usr/bin/ctr", "--namespace", "k8s.io"]
NFT = "/usr/sbin/nft"
IP = "/usr/sbin/ip"
SOCKET = "unix:///run/containerd/containerd.sock"
STATE = "/var/lib/kloigos-kube"
MARK = STATE + "/node.json"
UPGRADE = STATE + "/upgrade.json"
LIBRARY = "/usr/local/lib/kloigos-kube"
CA, CA_KEY = "/etc/kubernetes/pki/ca.crt", "/etc/kubernetes/pki/ca.key"
CERTIFICATE = "/etc/kubernetes/kloigos.crt"
CERTIFICATE_DAYS, CERTIFICATE_LEFT = 365, 90 * 86400
# Where kubeadm copies what it replaces, data of etcd with all secrets among it, and leaves it. It needs that only to go back in the same run.
COPIES = "/etc/kubernetes/tmp"
# What a node leaves, and kubeadm does not remove.
LEFT = ["/etc/kubernetes", "/var/lib/etcd", "/var/lib/cni", "/var/lib/kubelet", "/var/log/pods", "/var/log/containers", "/run/flannel"]
SLICES = ["kubepods.slice", "kubelet.slice"]
CGROUPS = "/sys/fs/cgroup/"
PROC = "/proc/"
TABLES = re.compile(r"table (ip|ip6) (kube-proxy)$", re.M)
# The plugins of CNI make a chain for each pod, and remove it only if they are asked to.
CHAINS = re.compile(r"^:((?:KUBE|CNI)-[A-Za-z0-9-]+) ", re.M)
OF_CHAINS = re.compile(r"\b(?:KUBE|CNI)-")
TOKEN = re.compile(r"\b(?:[a-z0-9]{6}\.[a-z0-9]{16}|(?<!sha256:)[0-9a-f]{64})\b")
# What kubeadm and its libraries tell beside the error: their logs, warnings, and how to have more of them.
NOISE = re.compile(r"[IWEF][0-9]{4} [0-9]{2}:|\{\"level\":|\s*\[WARNING |To see the stack trace")
# A control plane in a machine that is emulated takes minutes.
PATIENCE = "15m0s"
# Who leads has to say so in time, or ends. The usual 10 seconds are too few for a slow machine, which then starts it over and over.
LEADERS = [{"name": "leader-elect-lease-duration", "value": "60s"}, {"name": "leader-elect-renew-deadline", "value": "45s"}, {"name": "leader-elect-retry-period", "value": "5s"}]
# Milliseconds. With the usual 100 and 1000, members on slow machines choose a leader over and over, and no API server stays up. K3s has these too.
ELECTIONS = [{"name": "heartbeat-interval", "value": "500"}, {"name": "election-timeout", "value": "5000"}]
PLAIN = {
    "node": r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
    "version": r"v1\.[0-9]+\.[0-9]+",
    "address": r"[0-9]{1,3}(\.[0-9]{1,3}){3}",
    "endpoint": r"[a-z0-9.-]{1,253}:[0-9]{1,5}",
    "endpoint_host": r"[a-z0-9.-]{1,253}",
    "dns_name": r"[a-z0-9.-]{0,253}",
    "cluster": r"[a-z]([a-z0-9-]{0,38}[a-z0-9])?",
    "service_range": r"[0-9.]{7,15}/[0-9]{1,2}",
    "pod_range": r"[0-9.]{7,15}/[0-9]{1,2}",
    "token": r"[a-z0-9]{6}\.[a-z0-9]{16}",
    "ca_hash": r"sha256:[0-9a-f]{64}",
    "certificate_key": r"[0-9a-f]{64}",
    "oidc_issuer": r"(https://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/-]*)?)?",
    "oidc_client_id": r"([A-Za-z0-9][A-Za-z0-9._:/@-]{0,199})?",
    "oidc_username_claim": r"([A-Za-z][A-Za-z0-9_.:/-]{0,99})?",
    "oidc_groups_claim": r"([A-Za-z][A-Za-z0-9_.:/-]{0,99})?",
}
# Names of users and groups of the provider begin so: it can name nobody of Kloigos and no group of the cluster.
OIDC_PREFIX = "oidc:"


class Kubeadm(Work):
    def __init__(self, module):
        super().__init__(module)
        self.result = None
        for name, pattern in PLAIN.items():
            if self.params[name] is not None and not re.fullmatch(pattern, self.params[name]):
                module.fail_json(msg="%s is malformed" % name)

    def words(self, argv, out, err):
        text = err.strip() or out.strip()
        told = "\n".join(line for line in text.splitlines() if not NOISE.match(line)).strip() or text
        return "%s failed: %s" % (" ".join(argv[:2]), TOKEN.sub("(token)", told[-3000:]))

    def begin(self, wanted):
        """Whether there is anything to do. What a cut run left is taken away first."""
        mark = read_mark(MARK)
        if mark == wanted:
            return False
        if mark:
            self.module.fail_json(msg="the host is a node of %s already" % mark.get("endpoint"))
        self.change("create", "node", self.params["node"], note="of %s" % self.params["endpoint"])
        if self.check:
            return False
        if glob.glob("/etc/kubernetes/*.conf") or glob.glob("/etc/kubernetes/manifests/*") or os.path.exists("/var/lib/kubelet/config.yaml"):
            self.reset()
        return True

    def kubeadm(self, verb, documents, *more):
        """Runs kubeadm with a configuration."""
        self.run([SYSTEMCTL, "--quiet", "enable", "kubelet.service"])
        self.run_with("\n---\n".join(json.dumps(document) for document in documents), [KUBEADM, verb, *more, "--config"])

    def run_with(self, text, argv, **more):
        """Runs a program whose last argument names a file with a text. It is in memory: tokens and keys stay on no disk, also if the
        connection of this play is cut, or the play is killed."""
        descriptor = os.memfd_create("kloigos")
        try:
            with os.fdopen(os.dup(descriptor), "w", encoding="utf-8") as file:
                file.write(text)
            self.run(argv + ["/proc/self/fd/%d" % descriptor], pass_fds=[descriptor], **more)
        finally:
            os.close(descriptor)

    def registration(self):
        return {
            "name": self.params["node"],
            "criSocket": SOCKET,
            "imagePullPolicy": "IfNotPresent",
            "kubeletExtraArgs": [{"name": "node-ip", "value": self.params["address"]}],
        }

    def timeouts(self):
        return {
            "controlPlaneComponentHealthCheck": PATIENCE, "kubeletHealthCheck": PATIENCE, "kubernetesAPICall": "5m0s", "tlsBootstrap": PATIENCE, "discovery": PATIENCE,
            "etcdAPICall": PATIENCE,  # as long may a new member of etcd take until it has caught up
        }

    # init

    def init(self):
        if self.begin({"role": "control_plane", "endpoint": self.params["endpoint"]}):
            self.kubeadm("init", self.init_documents())
            write_mark(MARK, {"role": "control_plane", "endpoint": self.params["endpoint"]})
        if self.check and not os.path.exists(CA):
            self.result = {}
            return
        self.certificate()
        with open(CA, encoding="ascii") as authority, open(CERTIFICATE, encoding="ascii") as certificate:
            self.result = {"ca": authority.read(), "certificate": certificate.read()}

    def init_documents(self):
        names = sorted({self.params["endpoint_host"], self.params["address"], self.params["dns_name"]} - {"", None})
        has_dns = "coredns" in self.run(CTR + ["images", "list", "--quiet"])[1]
        return [
            {
                "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration",
                # The token that kubeadm makes anyhow ends at once; workers get their own.
                "bootstrapTokens": [{"ttl": "1m0s", "description": "made by kubeadm init; nobody uses it"}],
                "localAPIEndpoint": {"advertiseAddress": self.params["address"], "bindPort": 6443},
                "nodeRegistration": self.registration(),
                "timeouts": self.timeouts(),
            },
            {
                "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration",
                "kubernetesVersion": self.params["version"], "clusterName": self.params["cluster"], "controlPlaneEndpoint": self.params["endpoint"],
                "networking": {"serviceSubnet": self.params["service_range"], "dnsDomain": "cluster.local"},
                "apiServer": {"certSANs": names, **self.login()}, "controllerManager": {"extraArgs": LEADERS}, "scheduler": {"extraArgs": LEADERS},
                "etcd": {"local": {"extraArgs": ELECTIONS}},
                # A bundle without CoreDNS makes a cluster without DNS of its own.
                "dns": {"disabled": not has_dns},
            },
            {"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration", "cgroupDriver": "systemd"},
            {"apiVersion": "kubeproxy.config.k8s.io/v1alpha1", "kind": "KubeProxyConfiguration", "mode": "nftables", "clusterCIDR": self.params["pod_range"]},
        ]

    def login(self):
        """The flags of the API server for a provider, which other control planes take over from the cluster."""
        if not self.params["oidc_issuer"]:
            return {}
        flags = {
            "oidc-issuer-url": self.params["oidc_issuer"], "oidc-client-id": self.params["oidc_client_id"],
            "oidc-username-claim": self.params["oidc_username_claim"], "oidc-username-prefix": OIDC_PREFIX,
        }
        if self.params["oidc_groups_claim"]:
            flags.update({"oidc-groups-claim": self.params["oidc_groups_claim"], "oidc-groups-prefix": OIDC_PREFIX})
        return {"extraArgs": [{"name": name, "value": value} for name, value in sorted(flags.items())]}

    def certificate(self):
        """Has the authority sign the request, unless a certificate for its key is good for long enough."""
        wanted = self.run([OPENSSL, "req", "-noout", "-pubkey", "-verify"], data=self.params["request"])[1].strip()
        if os.path.exists(CERTIFICATE):
            present = self.run([OPENSSL, "x509", "-noout", "-pubkey", "-in", CERTIFICATE], fail=False)[1].strip()
            lasts = self.run([OPENSSL, "x509", "-noout", "-checkend", str(CERTIFICATE_LEFT), "-in", CERTIFICATE], fail=False)[0] == 0
            signed = self.run([OPENSSL, "verify", "-CAfile", CA, CERTIFICATE], fail=False)[0] == 0
            if present == wanted and lasts and signed:
                return
        self.change("create", "file", CERTIFICATE, note="signed by the authority of the cluster")
        if self.check:
            return
        new = CERTIFICATE + ".new"
        self.run_with(
            "basicConstraints=critical,CA:FALSE\nkeyUsage=critical,digitalSignature\nextendedKeyUsage=clientAuth\n",
            [OPENSSL, "x509", "-req", "-sha256", "-days", str(CERTIFICATE_DAYS), "-CA", CA, "-CAkey", CA_KEY,
             "-set_serial", "0x" + os.urandom(16).hex(), "-out", new, "-extfile"],
            data=self.params["request"],
        )
        os.chmod(new, 0o644)
        os.rename(new, CERTIFICATE)

    # joined

    def joined(self):
        self.join("worker", {})

    def join(self, role, more):
        wanted = {"role": role, "endpoint": self.params["endpoint"], "ca_hash": self.params["ca_hash"]}
        if not self.begin(wanted):
            return
        self.kubeadm("join", [dict(
            more,
            apiVersion="kubeadm.k8s.io/v1beta4", kind="JoinConfiguration",
            discovery={"bootstrapToken": {
                "apiServerEndpoint": self.params["endpoint"], "token": self.params["token"], "caCertHashes": [self.params["ca_hash"]],
            }},
            nodeRegistration=self.registration(),
            timeouts=self.timeouts(),
        )])
        write_mark(MARK, wanted)

    # control_plane

    def control_plane(self):
        self.join("control_plane", {"controlPlane": {
            "localAPIEndpoint": {"advertiseAddress": self.params["address"], "bindPort": 6443}, "certificateKey": self.params["certificate_key"],
        }})

    # uploaded

    def uploaded(self):
        """A new key for each join: it is done again each time, and the backend deletes what it left."""
        self.change("create", "secret", "kube-system/kubeadm-certs", note="the keys of the cluster, encrypted, for one join")
        if self.check:
            return
        self.kubeadm("init", [
            {
                "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "InitConfiguration", "certificateKey": self.params["certificate_key"],
                "localAPIEndpoint": {"advertiseAddress": self.params["address"], "bindPort": 6443}, "nodeRegistration": self.registration(),
            },
            {
                "apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "ClusterConfiguration",
                "kubernetesVersion": self.params["version"], "controlPlaneEndpoint": self.params["endpoint"],
            },
        ], "phase", "upload-certs", "--upload-certs")

    # upgraded

    def upgraded(self):
        wanted = {"version": self.params["version"]}
        if read_mark(UPGRADE) == wanted:
            return
        self.change("change", "node", self.params["node"], note="Kubernetes %s" % self.params["version"])
        if self.check:
            return
        common = {"imagePullPolicy": "IfNotPresent"}
        if not self.params["dns"]:  # kubeadm asks for the CoreDNS of a cluster that has none
            common["ignorePreflightErrors"] = ["CoreDNSUnsupportedPlugins", "CoreDNSMigration"]
            common["skipPhases"] = ["addon/coredns"]
        document = {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "UpgradeConfiguration", "timeouts": dict(self.timeouts(), upgradeManifests=PATIENCE)}
        if self.params["apply"]:
            document["apply"] = dict(common, kubernetesVersion=self.params["version"])
        else:
            document["node"] = common
        program = os.path.join(LIBRARY, self.params["version"], "kubeadm")
        self.run_with(json.dumps(document), [program, "upgrade"] + (["apply", "--yes"] if self.params["apply"] else ["node"]) + ["--config"])
        shutil.rmtree(COPIES, ignore_errors=True)
        write_mark(UPGRADE, wanted)

    # restarted

    def restarted(self):
        program = os.path.join(LIBRARY, self.params["version"], "kubelet")
        if self.running() == program:
            return
        self.change("restart", "service", "kubelet.service", note="with %s" % program)
        if self.check:
            return
        self.run([SYSTEMCTL, "restart", "kubelet.service"])
        if (found := self.running()) != program:
            self.module.fail_json(msg="the kubelet runs %s, not %s" % (found or "no program", program))

    def running(self):
        """The program of the kubelet; empty if it does not run."""
        pid = self.run([SYSTEMCTL, "show", "--property", "MainPID", "--value", "kubelet.service"], fail=False)[1].strip()
        if not pid.isdecimal() or pid == "0":
            return ""
        try:
            return os.readlink(PROC + pid + "/exe")
        except OSError:
            return ""

    # absent

    def absent(self):
        left = self.left()
        if not left and not read_mark(MARK):
            return
        self.change("remove", "node", self.params["node"], note="; ".join(left)[:400])
        if self.check:
            return
        self.reset()
        if left := self.left():
            self.module.fail_json(msg="after the reset there is still: %s" % "; ".join(left))
        for path in (MARK, UPGRADE):
            if os.path.exists(path):
                os.unlink(path)

    def reset(self):
        for path in glob.glob("/run/kloigos-kubeadm-*"):  # configurations that cut plays of older releases left
            if os.path.isdir(path):
                shutil.rmtree(path, ignore_errors=True)
            else:
                os.unlink(path)
        if os.path.exists(KUBEADM):
            self.run([KUBEADM, "reset", "--force", "--cri-socket", SOCKET], fail=False)  # the look afterwards decides
        self.run([SYSTEMCTL, "stop", "kubelet.service"], fail=False)
        self.containers()
        self.run([SYSTEMCTL, "stop", "--"] + SLICES, fail=False)
        for interface in self.interfaces():
            self.run([IP, "link", "delete", interface], fail=False)
        self.filters()
        for path in LEFT:
            self.unmount(path)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)

    def containers(self):
        for verb, more in (("tasks", ["kill", "--all", "--signal", "SIGKILL"]), ("tasks", ["delete", "--force"]), ("containers", ["delete"])):
            for name in self.run(CTR + [verb, "list", "--quiet"], fail=False)[1].split():
                self.run(CTR + [verb] + more + ["--", name], fail=False)

    def interfaces(self):
        code, out = self.run([IP, "-json", "link", "show"], fail=False)
        links = json.loads(out) if code == 0 and out.strip() else []
        return [link["ifname"] for link in links if link["ifname"] == "cni0" or link.get("master") == "cni0"]

    def filters(self):
        for family, name in TABLES.findall(self.tables()):
            self.run([NFT, "delete", "table", family, name], fail=False)
        for command in ("iptables", "ip6tables"):
            saved = self.saved(command)
            if CHAINS.search(saved):
                kept = "\n".join(line for line in saved.splitlines() if not OF_CHAINS.search(line)) + "\n"
                self.run(["/usr/sbin/%s-restore" % command], data=kept, fail=False)

    def tables(self):
        return self.run([NFT, "list", "tables"], fail=False)[1] if os.path.exists(NFT) else ""

    def saved(self, command):
        path = "/usr/sbin/%s-save" % command
        return self.run([path], fail=False)[1] if os.path.exists(path) else ""

    def unmount(self, path):
        with open("/proc/mounts", encoding="utf-8", errors="replace") as file:
            mounts = [line.split()[1] for line in file]
        for mount in sorted((m for m in mounts if m.startswith(path + "/")), reverse=True):
            subprocess.run(["/bin/umount", "--", mount], check=False, capture_output=True)

    def left(self):
        """What of Kubernetes is on the host, in words."""
        found = []
        if os.path.exists(CTR[0]):
            names = self.run(CTR + ["containers", "list", "--quiet"], fail=False)[1].split()
            if names:
                found.append("%d containers" % len(names))
        found += ["interface %s" % name for name in self.interfaces()]
        found += ["table %s %s" % table for table in TABLES.findall(self.tables())]
        found += ["chains of Kubernetes in %s" % command for command in ("iptables", "ip6tables") if CHAINS.search(self.saved(command))]
        found += ["cgroup %s" % name for name in SLICES if os.path.isdir(CGROUPS + name)]
        found += [path for path in LEFT if os.path.isdir(path) and os.listdir(path)]
        return found


def main():
    text = {name: {"type": "str"} for name in ("version", "address", "endpoint", "endpoint_host", "dns_name", "cluster", "service_range", "pod_range", "request", "ca_hash", "oidc_issuer", "oidc_client_id", "oidc_username_claim", "oidc_groups_claim")}
    module = AnsibleModule(
        argument_spec={
            "state": {"type": "str", "required": True, "choices": ["init", "joined", "uploaded", "control_plane", "upgraded", "restarted", "absent"]},
            "node": {"type": "str", "required": True},
            "token": {"type": "str", "no_log": True},
            "certificate_key": {"type": "str", "no_log": True},
            "apply": {"type": "bool", "default": False},
            "dns": {"type": "bool", "default": True},
            **text,
        },
        required_if=[
            ("state", "init", ("version", "address", "endpoint", "endpoint_host", "cluster", "service_range", "pod_range", "request")),
            ("state", "joined", ("address", "endpoint", "token", "ca_hash")),
            ("state", "uploaded", ("version", "address", "endpoint", "certificate_key")),
            ("state", "upgraded", ("version",)),
            ("state", "restarted", ("version",)),
            ("state", "control_plane", ("address", "endpoint", "token", "ca_hash", "certificate_key")),
        ],
        supports_check_mode=True,
    )
    kubeadm = Kubeadm(module)
    try:
        getattr(kubeadm, module.params["state"])()
    except (OSError, ValueError, KeyError) as problem:
        module.fail_json(msg="kubeadm: %s" % TOKEN.sub("(token)", repr(problem)))
    result = {"changed": bool(kubeadm.changes), "kloigos_changes": kubeadm.changes}
    if kubeadm.result is not None:
        result["kloigos_result"] = kubeadm.result
    module.exit_json(**result)


if __name__ == "__main__":
    main()
