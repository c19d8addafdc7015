package playbooks

import (
	"os/exec"
	"strings"
	"testing"
)

// upgradedNode has the modules upgrade a host on which programs only print their arguments, as often as the test says.
const upgradedNode = `
import importlib.util, io, json, os, sys, tarfile
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
def load(name):
    spec = importlib.util.spec_from_file_location(name, "library/%s.py" % name)
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m
m, b = load("kloigos_kubeadm"), load("kloigos_kube_bundle")
directory, runs = sys.argv[1], sys.argv[2:]
for path in ("lib/v1.36.3", "state", "bin", "proc/7"):
    os.makedirs(os.path.join(directory, path))
m.STATE, m.LIBRARY, m.PROC = directory + "/state", directory + "/lib", directory + "/proc/"
m.UPGRADE, m.COPIES = m.STATE + "/upgrade.json", directory + "/copies"
b.LIBRARY, b.STATE, b.BIN = m.LIBRARY, m.STATE, directory + "/bin"
b.MARK, b.FETCHED, b.BROUGHT = b.STATE + "/bundle.json", b.STATE + "/bundle.tar", b.STATE + "/brought.json"

def add(tar, name, content):
    member = tarfile.TarInfo(name)
    member.size = len(content)
    tar.addfile(member, io.BytesIO(content))

with tarfile.open(directory + "/bundle.tar", "w") as tar:
    for name in ("kubeadm", "kubelet"):
        add(tar, "bin/" + name, b"#!/bin/sh\n")
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as inner:
        add(inner, "manifest.json", json.dumps([{"RepoTags": ["registry.k8s.io/pause:3.11"]}]).encode())
    add(tar, "images/pause.tar", file.getvalue())
for name in ("kubeadm", "kubelet"):
    open(directory + "/lib/v1.36.3/" + name, "w").close()
    os.symlink(directory + "/lib/v1.36.3/" + name, directory + "/bin/" + name)
os.symlink(directory + "/lib/v1.36.3/kubelet", directory + "/proc/7/exe")

class Cut(Exception):
    pass

REFUSED = """E1127 06:48:22.188688    2045 remote_runtime.go:1177] "RuntimeConfig from runtime service failed" err="rpc error"
\t[WARNING ContainerRuntimeVersion]: You must update your container runtime to a version that supports the CRI method RuntimeConfig.
W1127 06:49:08.315313    2045 checks.go:907] detected that the sandbox image is inconsistent
{"level":"warn","ts":"2026-11-27T06:51:09.849254Z","logger":"etcd-client","msg":"retrying of unary invoker failed"}
error: error execution phase control-plane: couldn't upgrade control plane. Errors faced:
\t[ERROR CreateJob]: it did not complete
To see the stack trace of this error execute with --v=5 or higher
"""

class Module:
    check_mode = False
    def __init__(self, state, **more):
        self.params = dict.fromkeys(list(m.PLAIN) + ["source", "sha256"])
        self.params.update(state=state, node="k1", version="v1.36.4", apply=False, dns=True, **more)
    def run_command(self, argv, data=None, **_):
        name = argv[0].rsplit("/", 1)[-1]
        if argv[1:2] == ["show"]:
            return 0, "7\n", ""
        print(" ".join([name] + [a for a in argv[1:] if not a.startswith((directory, "--namespace", "/proc/"))]), end="")
        if "--config" in argv:
            print(" " + json.dumps(json.load(open(argv[-1])), sort_keys=True), end="")
        print()
        if name == "kubeadm":
            os.makedirs(m.COPIES + "/kubeadm-backup-etcd", exist_ok=True)
        if "cut" in runs and name == "kubeadm":
            runs.remove("cut")
            raise Cut()
        if "refused" in runs and name == "kubeadm":
            return 1, "[upgrade] Running pre-flight checks", REFUSED
        if argv[1:2] == ["restart"]:
            os.unlink(directory + "/proc/7/exe")
            os.symlink(os.path.realpath(directory + "/bin/kubelet"), directory + "/proc/7/exe")
        return 0, "", ""
    def fail_json(self, msg, **_):
        raise SystemExit("failed: " + msg)

bundle = dict(source=directory + "/bundle.tar", sha256=b.hashlib.sha256(open(directory + "/bundle.tar", "rb").read()).hexdigest())
def play(check):
    changes = 0
    for kind, state, more in ((b.Bundle, "brought", bundle), (m.Kubeadm, "upgraded", {}), (b.Bundle, "present", bundle), (m.Kubeadm, "restarted", {})):
        module = Module(state, **more)
        module.check_mode = check
        work = kind(module)
        getattr(work, state)()
        changes += len(work.changes)
    return changes

if "check" in runs:
    print("check:", play(True), os.readlink(directory + "/bin/kubelet").rsplit("/", 2)[1])
if "bring" in runs:
    b.Bundle(Module("brought", **bundle)).brought()
    print("brought:", os.readlink(directory + "/bin/kubelet").rsplit("/", 2)[1])
for _ in range(runs.count("play")):
    try:
        print("play:", play(False), os.readlink(directory + "/bin/kubelet").rsplit("/", 2)[1])
    except Cut:
        print("cut")
    except SystemExit as problem:
        print(problem)
if "apply" in runs:
    module = Module("upgraded")
    os.path.exists(m.UPGRADE) and os.unlink(m.UPGRADE)
    module.params.update(apply=True, dns=False)
    m.Kubeadm(module).upgraded()
print("left:", [name for name in os.listdir(directory) if name.startswith(("kloigos-", "copies"))])
`

func upgradeNode(t *testing.T, runs ...string) string {
	t.Helper()
	needAnsible(t)
	out, err := exec.Command(python, append([]string{"-B", "-c", upgradedNode, t.TempDir()}, runs...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

const nodeConfig = ` {"apiVersion": "kubeadm.k8s.io/v1beta4", "kind": "UpgradeConfiguration", "node": {"imagePullPolicy": "IfNotPresent"}, "timeouts": `

// A second play changes nothing, and no file with a configuration stays.
func TestTheUpgradeOfANode(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.TrimSpace(upgradeNode(t, "check", "bring", "play", "play")), "\n")
	want := []string{
		"check: 5 v1.36.3", "ctr k8s.io images import", "brought: v1.36.3", "kubeadm upgrade node --config" + nodeConfig,
		"ctr k8s.io images tag --force registry.k8s.io/pause:3.11 kloigos.local/pause:bundle", "systemctl restart kubelet.service", "play: 3 v1.36.4", "play: 0 v1.36.4", "left: []",
	}
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("%q, want %q", line, want[i])
		}
	}
}

// kubeadm that was cut runs again: it goes on by itself.
func TestACutUpgradeRunsAgain(t *testing.T) {
	t.Parallel()
	out := upgradeNode(t, "cut", "play", "play", "play")
	if strings.Count(out, "kubeadm upgrade node") != 2 || !strings.Contains(out, "cut\n") || !strings.Contains(out, "play: 0 v1.36.4") || !strings.Contains(out, "left: []") {
		t.Error(out)
	}
}

// The message of a failure begins with the error: warnings and logs of libraries before it would fill what a person is shown.
func TestAFailedUpgradeNamesItsError(t *testing.T) {
	t.Parallel()
	out := upgradeNode(t, "refused", "play")
	_, said, _ := strings.Cut(out, "failed: ")
	want := "upgrade failed: error: error execution phase control-plane: couldn't upgrade control plane. Errors faced:\n\t[ERROR CreateJob]: it did not complete\nleft: ['copies']\n" // a person may need them
	if !strings.HasSuffix(said, want) || strings.Contains(said, "WARNING") {
		t.Errorf("%q, want %q", said, want)
	}
}

// A cluster without CoreDNS has none to upgrade.
func TestTheFirstControlPlaneUpgradesTheCluster(t *testing.T) {
	t.Parallel()
	out := upgradeNode(t, "bring", "apply")
	for _, want := range []string{"kubeadm upgrade apply --yes --config", `"kubernetesVersion": "v1.36.4"`, `"skipPhases": ["addon/coredns"]`, `"upgradeManifests": "15m0s"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}
