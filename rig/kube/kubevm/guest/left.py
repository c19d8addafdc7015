"""What a host shows of Kubernetes, a line for each thing: read before a cluster is made and after it was deleted."""

import glob
import json
import os
import re
import subprocess


def said(*argv):
    try:
        return subprocess.run(argv, capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def tell(what, names):
    for name in sorted(names):
        print(what, name)


tell("interface", (link["ifname"] for link in json.loads(said("/usr/sbin/ip", "-json", "link", "show"))))
tell("route", (line.strip() for line in said("/usr/sbin/ip", "route", "show").splitlines()))
ruleset = said("/usr/sbin/nft", "list", "ruleset")
# iptables makes tables with chains of its own, whose rules count here. What it makes stays, as it does wherever it was called.
tell("table", set(re.findall(r"^table (\S+ \S+)", ruleset, re.M)) - {family + name for family in ("ip ", "ip6 ") for name in ("filter", "nat", "mangle")})
tell("chain", set(re.findall(r"^\s+chain (\S+)", ruleset, re.M)) - {"INPUT", "OUTPUT", "FORWARD", "PREROUTING", "POSTROUTING"})
for command in ("iptables", "ip6tables"):
    tell(command, (line for line in said("/usr/sbin/%s-save" % command).splitlines() if line.startswith("-A ")))
tell("container", said("/usr/bin/ctr", "--namespace", "k8s.io", "containers", "list", "--quiet").split())
tell("image", said("/usr/bin/ctr", "--namespace", "k8s.io", "images", "list", "--quiet").split())
with open("/proc/mounts", encoding="utf-8") as file:
    tell("mount", {line.split()[1] for line in file if re.search("kube|containerd|cni|etcd", line)})
for pattern in ("/etc/kubernetes/*", "/etc/cni/net.d/*", "/var/lib/cni/*", "/var/lib/etcd/*", "/var/lib/kubelet/*", "/var/lib/kloigos-kube*", "/usr/local/bin/*",
                "/usr/local/lib/kloigos-kube/*", "/etc/systemd/system/*kube*", "/etc/systemd/system/*.wants/*", "/etc/sysctl.d/*", "/etc/modules-load.d/*",
                "/var/log/pods/*", "/var/log/containers/*", "/sys/fs/cgroup/kube*", "/run/kloigos-kubeadm-*", "/opt/cni/bin/*"):
    tell("file", glob.glob(pattern))
names = []
for path in glob.glob("/proc/[0-9]*/comm"):
    try:
        with open(path, encoding="utf-8") as file:
            names.append(file.read().strip())
    except OSError:
        pass
tell("process", {name for name in names if re.match("kube|etcd|containerd-shim|answer|pause", name)})
for name in ("net/ipv4/ip_forward", "net/bridge/bridge-nf-call-iptables"):
    if os.path.exists("/proc/sys/" + name):
        with open("/proc/sys/" + name, encoding="utf-8") as file:
            print("setting", name, file.read().strip())
