package playbooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSSHDFollowsWhatWasChanged: sshd is reloaded after a change of its files, whatever date they have, and only then.
func TestSSHDFollowsWhatWasChanged(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, os, sys, time
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_confinement", "library/kloigos_confinement.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
root = sys.argv[1]
m.SSHD_CONFIG = root + "/sshd_config"
os.mkdir(root + "/sshd_config.d")
reloaded = time.monotonic()
class Module:
    check_mode, params = False, {}
    def fail_json(self, msg, **_):
        raise SystemExit(msg)
    def run_command(self, argv, **_):
        global reloaded
        if "reload" in argv:
            reloaded = time.monotonic()
        return 0, "ActiveState=active\nStateChangeTimestampMonotonic=%d\n" % (reloaded * 1e6), ""
def put(name, date=None):
    time.sleep(0.05)  # the kernel's clock of files goes in steps
    with open(root + "/" + name, "w") as file:
        file.write("UsePAM yes\n")
    if date:
        os.utime(root + "/" + name, (date, date))
    time.sleep(0.05)
def reloads():
    time.sleep(0.05)
    confinement = m.Confinement(Module())
    confinement.follow()
    return len(confinement.done)
said = {}
put("sshd_config")
said["a first file"] = [reloads(), reloads()]
put("sshd_config.d/10-future.conf", time.time() + 1e7)
said["one of the future"] = [reloads(), reloads()]
put("sshd_config.d/20-past.conf", 1e9)
said["one of the past"] = [reloads(), reloads()]
time.sleep(0.05)
os.remove(root + "/sshd_config.d/10-future.conf")
said["a file less"] = [reloads(), reloads()]
print(json.dumps(said))
`, t.TempDir()).CombinedOutput()
	var said map[string][2]int
	if err != nil || json.Unmarshal(out, &said) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, times := range said {
		if times != [2]int{1, 0} {
			t.Errorf("%s: %d reloads, and %d in the next run; want 1 and 0", name, times[0], times[1])
		}
	}
	if len(said) != 4 {
		t.Errorf("%s", out)
	}
}

// The sshd of a unit holds its tenant as the host's does, and admits nobody else.
func TestTheSSHDOfAUnitHoldsAsTheHosts(t *testing.T) {
	t.Parallel()
	hosts, err := os.ReadFile("roles/unit_confinement_base/files/sshd.conf")
	if err != nil {
		t.Fatal(err)
	}
	template, err := os.ReadFile("roles/unit_allocate/templates/sshd.conf.j2")
	if err != nil {
		t.Fatal(err)
	}
	units := strings.NewReplacer("{{ unit_allocate_unit.name }}", "h1-cu01", "{{ unit_allocate_allocation.login_user }}", "alice").Replace(string(template))
	options := regexp.MustCompile(`(?m)^\t(\w+) .*$`).FindAllStringSubmatch(string(hosts), -1)
	if len(options) < 10 {
		t.Fatalf("%d options of the host's sshd: this test would show little", len(options))
	}
	for _, option := range options {
		line := strings.TrimSpace(option[0])
		if option[1] == "AuthorizedKeysFile" {
			line = "AuthorizedKeysFile /etc/kloigos/unit-keys/%u"
		}
		if !strings.Contains(units, "\n"+line+"\n") {
			t.Errorf("the unit's sshd lacks %q", line)
		}
	}
	if _, err := os.Stat("/usr/sbin/sshd"); err != nil {
		t.Skip("no sshd here (Debian: apt-get install openssh-server)")
	}
	if err := os.MkdirAll("/run/sshd", 0o755); err != nil { // as the host's ssh.service has it; sshd wants it to look at its settings
		t.Skipf("sshd's directory is not here: %v", err)
	}
	dir := t.TempDir()
	key, file := filepath.Join(dir, "key"), filepath.Join(dir, "sshd.conf")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := os.WriteFile(file, []byte(units+"HostKey "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("/usr/sbin/sshd", "-T", "-f", file, "-C", "user=alice,host=localhost,addr=192.0.2.1,laddr=192.0.2.2,lport=22").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, line := range []string{"usepam yes", "allowusers alice", "permitrootlogin no", "permituserenvironment no", "subsystem sftp /usr/lib/openssh/sftp-server", "port 22"} {
		if !strings.Contains(string(out), line+"\n") {
			t.Errorf("the unit's sshd does not say %q in\n%s", line, out)
		}
	}
}
