package playbooks

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// takenBack has the module look at a tree of processes, and at a home of which somebody took the tenant.
const takenBack = `
import importlib.util, json, os, sys, types
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_unit", "library/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
root, check = sys.argv[1] + "/", sys.argv[2] == "check"
ran, owned = [], []
class Module:
    check_mode = check
    params = {"unit": {"id": "u1", "name": "h1-cu01", "mount": root + "cu01"}, "allocation": {"id": "a1", "login_user": "alice", "uid": 70001, "address": "10.9.9.9"}, "network": "host"}
    def fail_json(self, msg, **_):
        sys.exit(msg)
    def run_command(self, argv, **_):
        ran.append(" ".join(argv))
        for pid in argv[argv.index("au") + 2:-1]:
            put(pid, cgroup="0::/user.slice/user-70001.slice/" + next(arg for arg in argv if arg.endswith(".scope")))
        return 0, "", ""
m.PROC = root + "proc/"
state = {}
def put(pid, uids=None, cgroup=None, status="S (sleeping)"):
    os.makedirs(m.PROC + pid, exist_ok=True)
    was = state.setdefault(pid, {})
    was.update({k: v for k, v in {"uids": uids, "cgroup": cgroup, "status": status}.items() if v})
    with open(m.PROC + pid + "/status", "w") as file:
        file.write("Name:\tx\nState:\t%s\nUid:\t%s\n" % (was["status"], was["uids"]))
    with open(m.PROC + pid + "/cgroup", "w") as file:
        file.write(was["cgroup"] + "\n")
slice = "0::/user.slice/user-70001.slice"
put("10", "70001\t70001\t70001\t70001", slice + "/session-1.scope")
put("11", "70001\t70001\t70001\t70001", slice + "0/session-1.scope")  # of another slice whose name begins alike
put("12", "70001\t70001\t70001\t70001", "0::/system.slice/x.service")
put("13", "70001\t70001\t70001\t70001", "0::/system.slice/x.service", "Z (zombie)")
put("14", "0\t70001\t70001\t70001", "0::/system.slice/ssh.service")  # root's, on behalf of the tenant
put("15", "70002\t70002\t70002\t70002", "0::/system.slice/x.service")
os.makedirs(root + "cu01/home/alice")
real = os.lstat
m.os.lstat = lambda path: types.SimpleNamespace(st_uid=0, st_gid=0) if path.endswith("/alice") else real(path)
m.os.lchown = lambda path, uid, gid: owned.append("%s %d:%d" % (path[len(root):], uid, gid))
unit = m.Unit(Module())
unit.take_back_strays()
unit.own_home()
print(json.dumps({"ran": ran, "done": unit.done, "owned": owned}))
`

// What was moved out of the tenant's slice comes back, and the home is the tenant's; a check only says so.
func TestWhatATenantLostComesBack(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	for mode, really := range map[string]bool{"run": true, "check": false} {
		out, err := exec.Command(python, "-B", "-c", takenBack, t.TempDir(), mode).CombinedOutput()
		var got struct{ Ran, Done, Owned []string }
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		if len(got.Done) != 2 || !strings.Contains(got.Done[0], "took 2 processes back into user-70001.slice") || !strings.HasSuffix(got.Done[1], "/alice back to alice") {
			t.Errorf("%s: done %q", mode, got.Done)
		}
		if moved := slices.ContainsFunc(got.Ran, func(c string) bool {
			return strings.Contains(c, " Slice s user-70001.slice PIDs au 2 11 12 0") || strings.Contains(c, " Slice s user-70001.slice PIDs au 2 12 11 0")
		}); moved != really {
			t.Errorf("%s: ran %q", mode, got.Ran)
		}
		want := []string{}
		if really {
			want = append(want, "cu01/home/alice 70001:70001")
		}
		if diff := cmp.Diff(want, got.Owned); diff != "" {
			t.Errorf("%s: %s", mode, diff)
		}
	}
}

const shutOut = `
import importlib.util, json, os, sys, types
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_live", "library/kloigos_live.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
root = sys.argv[1] + "/"
class Module:
    check_mode, params = sys.argv[2] == "check", {}
m.ALLOW_LISTS, m.DROP_IN, m.ALLOW_REGISTRY = [root + "cron.allow", root + "at.allow"], root + "%s.conf", root + "schedulers.json"
m.pwd = types.SimpleNamespace(getpwall=lambda: [types.SimpleNamespace(pw_name=name, pw_uid=uid) for name, uid in (("root", 0), ("admin", 1000), ("alice", 70001))])
for name, text in (("user-70001.slice.conf", ""), ("cron.allow", "# ours\nroot\nalice\nadmin\n"), ("at.allow", "root\nalice2\n")):
    with open(root + name, "w") as file:
        file.write(text)
os.chmod(root + "cron.allow", 0o640)
live = m.Live(Module())
live.schedulers("closed")
print(json.dumps({"lists": [m.read(path) for path in m.ALLOW_LISTS], "mode": "%o" % (os.stat(root + "cron.allow").st_mode & 0o777), "done": len(live.done)}))
`

// A tenant whom somebody named in a list of cron or at is taken out of it; the rest of the list stays.
func TestTenantsAreTakenOutOfAllowLists(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	for mode, want := range map[string]string{"run": "# ours\nroot\nadmin\n", "check": "# ours\nroot\nalice\nadmin\n"} {
		out, err := exec.Command(python, "-B", "-c", shutOut, t.TempDir(), mode).CombinedOutput()
		var got struct {
			Lists []string
			Mode  string
			Done  int
		}
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		if got.Done != 1 || got.Mode != "640" || !cmp.Equal(got.Lists, []string{want, "root\nalice2\n"}) {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}
