package playbooks

import (
	"os/exec"
	"strings"
	"testing"
)

// renewedPlane has the module renew the certificates of a control plane. openssl is the real one; kubeadm and the container runtime
// are played: kubeadm writes certificates that end a year later, and a container that is ended comes back under another name.
const renewedPlane = `
import importlib.util, os, subprocess, sys, time
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_kube_certs", "library/kloigos_kube_certs.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
directory, runs = sys.argv[1], sys.argv[2:]
m.HOME, m.MARK, m.PAUSE = directory + "/", directory + "/mark.json", 0
os.makedirs(directory + "/pki/etcd")

def certify(path, days):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-days", str(days),
                    "-keyout", directory + "/key", "-out", path], check=True, capture_output=True)

def made(days):
    for name in ("pki/apiserver.crt", "pki/etcd/server.crt"):
        certify(directory + "/" + name, days)
    certify(directory + "/inside", days)
    with open(directory + "/inside", "rb") as file, open(directory + "/admin.conf", "w") as to:
        to.write("users:\n- user:\n    client-certificate-data: " + m.base64.b64encode(file.read()).decode() + "\n")

made(30)
certify(directory + "/pki/ca.crt", 1)
number, containers = [0], {}
for pod in m.PODS:
    containers[pod] = pod + "-0"

class Cut(Exception):
    pass

class Module:
    check_mode = False
    params = {"node": "k1", "until": int(time.time()) + 60 * 86400}
    def run_command(self, argv, data=None, **_):
        if argv[0] == m.OPENSSL:
            done = subprocess.run(argv, input=data.encode(), capture_output=True)
            return done.returncode, done.stdout.decode(), done.stderr.decode()
        if argv[0] == m.KUBEADM:
            print("kubeadm " + " ".join(argv[1:]))
            made(365)
        elif argv[3:5] == ["containers", "list"]:
            return 0, containers[argv[-1].rpartition("==")[2]] + "\n", ""
        elif argv[3:5] == ["tasks", "list"]:
            return 0, "TASK PID STATUS\n" + "".join("%s 1 RUNNING\n" % name for name in containers.values()), ""
        elif argv[3:5] == ["tasks", "kill"]:
            pod = argv[-1].rpartition("-")[0]
            if "cut" in runs and pod == "kube-apiserver":
                runs.remove("cut")
                raise Cut()
            print("ended " + pod)
            number[0] += 1
            containers[pod] = "%s-%d" % (pod, number[0])
        return 0, "", ""
    def fail_json(self, msg, **_):
        raise SystemExit("failed: " + msg)

m.ssl.get_server_certificate = lambda *_, **__: open(directory + "/pki/apiserver.crt").read()
for run in ("check", "play", "play", "play"):
    if run == "check" and "check" not in runs:
        continue
    Module.check_mode = run == "check"
    work = m.Certificates(Module())
    try:
        work.renewed()
        print(run, len(work.changes), "renewed", work.result["renewed"], "days", (work.result["end"] - int(time.time()) + 3600) // 86400)
    except Cut:
        print("cut")
print("mark", os.path.exists(m.MARK))
`

func renewPlane(t *testing.T, runs ...string) string {
	t.Helper()
	needAnsible(t)
	out, err := exec.Command(python, append([]string{"-B", "-c", renewedPlane, t.TempDir()}, runs...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

const renewedOnce = `kubeadm certs renew all
ended etcd
ended kube-apiserver
ended kube-controller-manager
ended kube-scheduler
`

// Authorities count for nothing, and a second play restarts nothing.
func TestCertificatesOfAControlPlane(t *testing.T) {
	t.Parallel()
	want := "check 7 renewed 3 days 30\n" + renewedOnce + "play 7 renewed 3 days 365\nplay 0 renewed 0 days 365\nplay 0 renewed 0 days 365\nmark False\n"
	if out := renewPlane(t, "check"); out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}

// Certificates are new, and what runs still has the old ones: the mark tells.
func TestACutRenewalRestartsWhatRuns(t *testing.T) {
	t.Parallel()
	out := renewPlane(t, "cut")
	want := "kubeadm certs renew all\nended etcd\ncut\n" + strings.TrimPrefix(renewedOnce, "kubeadm certs renew all\n") + "play 4 renewed 0 days 365\nplay 0 renewed 0 days 365\nmark False\n"
	if out != want {
		t.Errorf("%s\nwant\n%s", out, want)
	}
}
