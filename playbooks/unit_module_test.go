package playbooks

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// unitSaid is what kloigos_unit said of a unit that nobody has.
type unitSaid struct {
	Failed     string   `json:"failed"`
	Changed    bool     `json:"changed"`
	Foreign    bool     `json:"foreign"`
	Objections []string `json:"objections"`
	Ran        []string `json:"ran"`
}

// unitModule runs the module for a tenant on a host that has the account and the group daemon and the group staff, and
// on which the manifest, if any, says who holds the unit.
func unitModule(t *testing.T, state, user, holder string) unitSaid {
	t.Helper()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, sys, types
state, user, holder, etc = sys.argv[1:]
spec = importlib.util.spec_from_file_location("kloigos_unit", "library/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
ran = []
class Module:
    check_mode = state == "claimed"
    params = {
        "state": state, "volume_group": "vg", "profile_version": None,
        "unit": {"id": "u1", "name": "h1-cu01", "mount": "/mnt/kloigos/h1/cu01", "volume": "cu01"},
        "allocation": {"id": "a1", "login_user": user, "uid": 312345, "address": "10.9.9.9"},
    }
    def __init__(self, **_):
        pass
    def fail_json(self, msg, **_):
        self.exit_json(failed=msg)
    def exit_json(self, **result):
        print(json.dumps(dict(result, ran=ran)))
        sys.exit(0)
    def run_command(self, argv, **_):
        ran.append(" ".join(argv))
        return 0, "ActiveState=inactive\nUnitFileState=disabled\n", ""
m.AnsibleModule = Module
m.MANIFESTS = m.WIPED = m.KEYS = m.LINGER = m.CGROUPS = etc + "/"
if holder:
    with open(etc + "/u1.json", "w") as file:
        json.dump({"unit": {"id": "u1", "name": "h1-cu01"}, "allocation": {"id": holder, "uid": 312345}}, file)
account = lambda name, uid, home: types.SimpleNamespace(pw_name=name, pw_uid=uid, pw_dir=home)
group = lambda name, gid: types.SimpleNamespace(gr_name=name, gr_gid=gid)
m.pwd = types.SimpleNamespace(getpwall=lambda: [account("root", 0, "/root"), account("daemon", 1, "/usr/sbin")])
m.grp = types.SimpleNamespace(getgrall=lambda: [group("root", 0), group("daemon", 1), group("staff", 50)])
m.main()
`, state, user, holder, t.TempDir()).CombinedOutput()
	var said unitSaid
	if err != nil || json.Unmarshal(out, &said) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return said
}

// A login name that is taken on the host is refused before anything is put there.
func TestClaimRefusesTheNamesOfOthers(t *testing.T) {
	t.Parallel()
	for user, want := range map[string]string{"daemon": "the account daemon has UID 1", "staff": "the group staff has GID 50", "alice": ""} {
		said := unitModule(t, "claimed", user, "")
		refused := slices.ContainsFunc(said.Objections, func(o string) bool { return strings.Contains(o, "do not belong together here") })
		if refused != (want != "") || !strings.Contains(strings.Join(said.Objections, "; "), want) {
			t.Errorf("%s: %q", user, said.Objections)
		}
	}
}

// What was never set up for that reason can be given back, and what goes by that name stays as it is.
func TestTheNamesOfOthersAreNotGivenBack(t *testing.T) {
	t.Parallel()
	for _, user := range []string{"daemon", "staff"} {
		if said := unitModule(t, "stopped", user, ""); !said.Foreign || said.Changed || said.Failed != "" || len(said.Ran) > 0 {
			t.Errorf("%s of nobody: %+v", user, said)
		}
	}
	// With the tenant's own manifest there the account is a riddle, and a group of that name is somebody's of a directory.
	if said := unitModule(t, "stopped", "daemon", "a1"); said.Foreign || !strings.Contains(said.Failed, "is no tenant of") || len(said.Ran) > 0 {
		t.Errorf("daemon of a tenant: %+v", said)
	}
	if said := unitModule(t, "stopped", "staff", "a1"); said.Foreign || said.Failed != "" || len(said.Ran) == 0 {
		t.Errorf("staff of a tenant: %+v", said)
	}
	if said := unitModule(t, "claimed", "staff", "a1"); strings.Contains(strings.Join(said.Objections, "; "), "group") {
		t.Errorf("staff, whose keys are replaced: %+v", said)
	}
	if said := unitModule(t, "stopped", "alice", ""); said.Foreign || said.Failed != "" || len(said.Ran) == 0 {
		t.Errorf("alice: %+v", said)
	}
}
