package playbooks

import (
	"encoding/json"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// heldBack asks the module what narrows a promise in a tree of control groups, and what of sshd keeps a tenant out.
const heldBack = `
import importlib.util, json, os, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_unit", "library/kloigos_unit.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
etc, files, sshd = sys.argv[1] + "/", json.loads(sys.argv[2]), sys.argv[3]
class Module:
    check_mode = False
    params = {"unit": {"id": "u1", "name": "h1-cu01", "cpus": "1-2", "memory_nodes": "0", "tasks_max": 2048, "memory_max_bytes": 1 << 30,
                       "memory_high_bytes": 1 << 29}, "allocation": {"id": "a1", "login_user": "alice", "uid": 70001, "address": "10.9.9.9"}, "network": "host"}
    def run_command(self, argv, **_):
        return (0, sshd, "") if argv[0] == m.SSHD else (0, "", "")
m.CGROUPS = etc + "cgroup/"
m.MANIFESTS, m.SSHD = etc + "units/", sys.executable
base = m.CGROUPS + "user-70001.slice/"
default = {"cpuset.cpus.effective": "1-2", "cpuset.mems.effective": "0", "pids.max": "2048", "memory.max": str(1 << 30), "memory.high": str(1 << 29), "cgroup.max.descendants": "1024", "cgroup.max.depth": "16"}
for path, text in list({"user-70001.slice/" + name: text for name, text in default.items()}.items()) + list(files.items()):
    os.makedirs(os.path.dirname(m.CGROUPS + path), exist_ok=True)
    with open(m.CGROUPS + path, "w") as file:
        file.write(text + "\n")
unit = m.Unit(Module())
limits = ["%s is %s" % (name, now) for name, (now, promised) in unit.limits().items() if now != promised]
print(json.dumps({"limits": limits, "narrowed": unit.narrowed(), "out": unit.kept_out()}))
`

type held struct{ Limits, Narrowed, Out []string }

func heldBackBy(t *testing.T, files map[string]string, sshd string) held {
	t.Helper()
	needAnsible(t)
	text, err := json.Marshal(files)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-B", "-c", heldBack, t.TempDir(), string(text), sshd).CombinedOutput()
	var got held
	if err != nil || json.Unmarshal(out, &got) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return got
}

func TestWhatNarrowsAPromiseIsNamed(t *testing.T) {
	t.Parallel()
	none := []string{}
	for name, c := range map[string]struct {
		files            map[string]string
		limits, narrowed []string
	}{
		"nothing":             {map[string]string{}, none, none},
		"no limits":           {map[string]string{"cpu.max": "max 100000", "memory.max": "max", "pids.max": "max", "user-70001.slice/cpu.max": "max 100000"}, none, none},
		"swap":                {map[string]string{"user-70001.slice/memory.swap.max": "max"}, []string{"memory_swap_max is max"}, none},
		"no swap":             {map[string]string{"user-70001.slice/memory.swap.max": "0"}, none, none},
		"a quota for users":   {map[string]string{"user-70001.slice/cpu.max": "50000 100000"}, []string{"cpu_quota is 50000"}, none},
		"a quota for all":     {map[string]string{"cpu.max": "50000 100000"}, none, []string{"cpu.max is 50000 100000 of user.slice"}},
		"memory for all":      {map[string]string{"memory.max": "1048576", "memory.high": "8796093022208"}, none, []string{"memory.max is 1048576 of user.slice"}},
		"tasks of a manager":  {map[string]string{"user-70001.slice/user@70001.service/pids.max": "100"}, none, []string{"pids.max is 100 of user@70001.service"}},
		"a quota of managers": {map[string]string{"user-70001.slice/user@70001.service/cpu.max": "1000 100000"}, none, []string{"cpu.max is 1000 100000 of user@70001.service"}},
	} {
		got := heldBackBy(t, c.files, "")
		if diff := cmp.Diff(held{c.limits, c.narrowed, none}, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// The answers have the form that `sshd -T` of OpenSSH 9.2 gives.
func TestSSHDThatKeepsTheTenantOut(t *testing.T) {
	t.Parallel()
	const ours = "pubkeyauthentication yes\nauthenticationmethods publickey\nauthorizedkeysfile /etc/kloigos/keys/%u\nforcecommand none\nchrootdirectory none\n"
	for sshd, want := range map[string][]string{
		ours: {},
		ours + "allowusers admin\nallowusers root\n":     {"AllowUsers does not name the login user alice"},
		ours + "allowusers admin root\n":                 {"AllowUsers does not name the login user alice"},
		ours + "allowusers admin\nallowusers al*\n":      {},
		ours + "allowusers alice@10.0.0.0/8\n":           {},
		ours + "denyusers bob\ndenyusers ali?e\n":        {"DenyUsers names the login user alice"},
		ours + "denyusers alice@10.0.0.0/8\n":            {},
		ours + "allowgroups sudo\n":                      {"AllowGroups names neither kloigos-tenants nor alice"},
		ours + "allowgroups sudo\nallowgroups kloigos-*": {},
		ours + "denygroups kloigos-tenants\n":            {"DenyGroups names a group of alice"},
		"pubkeyauthentication no\n" + ours:               {"PubkeyAuthentication is no, not yes"},
		"authorizedkeysfile .ssh/authorized_keys\n":      {"AuthorizedKeysFile is .ssh/authorized_keys, not /etc/kloigos/keys/%u"},
		"forcecommand /bin/false\n":                      {"ForceCommand is /bin/false, not none"},
	} {
		if diff := cmp.Diff(want, heldBackBy(t, map[string]string{}, sshd).Out); diff != "" {
			t.Errorf("%q:\n%s", sshd, diff)
		}
	}
}
