package playbooks

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// leftovers has the module look at a host, and take away what is left of the packet filter, where programs answer as they did on
// a host with a pod on it.
const leftovers = `
import importlib.util, os, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_kubeadm", "library/kloigos_kubeadm.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
directory = sys.argv[1]
m.MARK, m.CGROUPS = directory + "/node.json", directory + "/cgroup/"
m.LEFT = [directory + path for path in m.LEFT]
os.makedirs(m.CGROUPS + "kubepods.slice")
os.makedirs(directory + "/var/log/pods/default_web")
saved = """*nat
:PREROUTING ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:CNI-e17bd10ac799cca275a3e8b8 - [0:0]
:KUBE-KUBELET-CANARY - [0:0]
:OURS - [0:0]
-A POSTROUTING -s 10.244.0.2/32 -m comment --comment "name: \\"kloigos\\" id: \\"cee2\\"" -j CNI-e17bd10ac799cca275a3e8b8
-A POSTROUTING -s 192.0.2.0/24 -j OURS
-A CNI-e17bd10ac799cca275a3e8b8 ! -d 224.0.0.0/4 -j MASQUERADE
COMMIT
"""
class Module:
    check_mode = False
    params = dict.fromkeys(m.PLAIN)
    def run_command(self, argv, data=None, **_):
        name = argv[0].rsplit("/", 1)[-1]
        if data is not None:
            print("%s <<\n%s" % (name, data), end="")
        return 0, saved if name == "iptables-save" else "", ""
m.os.path.exists = lambda path: path.endswith("iptables-save") or path == m.NFT
node = m.Kubeadm(Module())
print("left:", "; ".join(node.left()).replace(directory, "D"))
node.filters()
`

// kubeadm's own reset ends well although it left all this.
func TestWhatANodeLeavesIsFound(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	out, err := exec.Command(python, "-B", "-c", leftovers, t.TempDir()).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	if want := "left: chains of Kubernetes in iptables; cgroup kubepods.slice; D/var/log/pods\n"; !strings.HasPrefix(text, want) {
		t.Errorf("found %q, want %q", text, want)
	}
	// What is no part of Kubernetes stays.
	want := "iptables-restore <<\n*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]\n:OURS - [0:0]\n-A POSTROUTING -s 192.0.2.0/24 -j OURS\nCOMMIT\n"
	if !strings.Contains(text, want) {
		t.Errorf("restored %q, want %q", text, want)
	}
}

// logins has the module write the flags of the API server for a provider, and refuse what could be other flags.
const logins = `
import importlib.util, json
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_kubeadm", "library/kloigos_kubeadm.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
class Refused(Exception):
    pass
class Module:
    check_mode = False
    def __init__(self, **params):
        self.params = dict(dict.fromkeys(m.PLAIN), **params)
    def fail_json(self, msg):
        raise Refused(msg)
def login(**params):
    try:
        return json.dumps(m.Kubeadm(Module(**params)).login(), sort_keys=True)
    except Refused as why:
        return str(why)
print(login(oidc_issuer=""))
print(login(oidc_issuer="https://login.example.org", oidc_client_id="kubernetes", oidc_username_claim="sub", oidc_groups_claim="groups"))
print(login(oidc_issuer="https://login.example.org --anonymous-auth=true"))
print(login(oidc_issuer="https://login.example.org", oidc_client_id="a,b"))
`

func TestFlagsOfAProviderOfLogins(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	out, err := exec.Command(python, "-B", "-c", logins).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	want := `{}
{"extraArgs": [{"name": "oidc-client-id", "value": "kubernetes"}, {"name": "oidc-groups-claim", "value": "groups"}, ` +
		`{"name": "oidc-groups-prefix", "value": "oidc:"}, {"name": "oidc-issuer-url", "value": "https://login.example.org"}, ` +
		`{"name": "oidc-username-claim", "value": "sub"}, {"name": "oidc-username-prefix", "value": "oidc:"}]}
oidc_issuer is malformed
oidc_client_id is malformed
`
	if string(out) != want {
		t.Errorf("%s, want %s", out, want)
	}
}

// killed has the module run a program that reads its configuration twice, and kills the module then: nothing can tidy up.
const killed = `
import importlib.util, subprocess, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_kubeadm", "library/kloigos_kubeadm.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
m.KUBEADM = sys.argv[1]
class Module:
    check_mode = False
    params = dict.fromkeys(m.PLAIN)
    def run_command(self, argv, pass_fds=(), **_):
        if argv[0] == m.KUBEADM:
            subprocess.run(argv, pass_fds=pass_fds)
        return 0, "", ""
m.Kubeadm(Module()).kubeadm("join", [{"token": "abcdef.0123456789abcdef"}])
print("not killed")
`

// The configuration of a join has a token, and that of a control plane the key to all keys of the cluster.
func TestAKilledJoinLeavesNoConfiguration(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	before, err := filepath.Glob("/run/kloigos-kubeadm-*")
	if err != nil {
		t.Fatal(err)
	}
	kubeadm := filepath.Join(t.TempDir(), "kubeadm")
	script := "#!/bin/sh\ncat \"$3\"\necho\ncat \"$3\"\necho\nreadlink \"$3\"\nkill -KILL $PPID\n"
	if err := os.WriteFile(kubeadm, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-B", "-c", killed, kubeadm).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("%v, want a killed process\n%s", err, out)
	}
	config := `{"token": "abcdef.0123456789abcdef"}` + "\n"
	if want := config + config + "/memfd:kloigos (deleted)\n"; string(out) != want {
		t.Errorf("kubeadm saw %q, want %q", out, want)
	}
	if after, err := filepath.Glob("/run/kloigos-kubeadm-*"); err != nil || len(after) != len(before) {
		t.Errorf("left %v, %v", after, err)
	}
}
