package playbooks

import (
	"encoding/json"
	"os/exec"
	"testing"
)

// TestSSHDFollowsWhatWasChanged: sshd is reloaded after a change of its files, whatever date they have, and only then.
func TestSSHDFollowsWhatWasChanged(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, os, sys, time
spec = importlib.util.spec_from_file_location("kloigos_confinement", "library/kloigos_confinement.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
root = sys.argv[1]
m.SSHD_CONFIG = root + "/sshd_config"
os.mkdir(root + "/sshd_config.d")
reloaded = time.monotonic()
class Module:
    check_mode = False
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
