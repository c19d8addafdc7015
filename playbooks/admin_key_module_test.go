package playbooks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Keys as lines of authorized_keys.
const (
	adminFormer = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGPKSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNePnAS kloigos"
	adminNext   = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl kloigos"
	adminOther  = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDKv1mMSUTyz1HwHReFVvD5obVsALAgJRNarH4TRpNe someone@desk"
)

type adminSaid struct {
	Failed  string   `json:"failed"`
	Changed bool     `json:"changed"`
	Done    []string `json:"done"`
}

// adminModule runs the module where sshd reads these files below a home.
func adminModule(t *testing.T, home, reads string, check bool, params map[string][]string) adminSaid {
	t.Helper()
	if exec.Command(python, "-c", "import ansible").Run() != nil {
		t.Skip("Ansible is not here (Debian: apt-get install ansible)")
	}
	given, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	mode := "real"
	if check {
		mode = "check"
	}
	out, err := exec.Command(python, "-B", "-c", `
import importlib.util, json, sys, types
home, reads, mode, given = sys.argv[1:]
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_admin_key", "library/kloigos_admin_key.py")
m = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m)
class Module:
    check_mode = mode == "check"
    params = dict({"add": [], "beside": [], "drop": []}, user="admin", **json.loads(given))
    def __init__(self, **_):
        pass
    def fail_json(self, msg, **_):
        self.exit_json(failed=msg)
    def exit_json(self, **result):
        print(json.dumps(result))
        sys.exit(0)
    def run_command(self, argv, **_):
        assert argv == ["/usr/sbin/sshd", "-T", "-C", "user=admin,host=localhost,addr=127.0.0.1"], argv
        return 0, "port 22\nauthorizedkeysfile %s\npermitrootlogin no\n" % reads, ""
m.AnsibleModule = Module
m.pwd = types.SimpleNamespace(getpwnam=lambda name: types.SimpleNamespace(pw_dir=home, pw_uid=1000))
m.main()
`, home, reads, mode, string(given)).CombinedOutput()
	var said adminSaid
	if err != nil || json.Unmarshal(out, &said) != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return said
}

// TestAdminKeyIsReplaced: a next key goes beside the former one with its options, twice is once, a check changes nothing, and only lines of
// the key go away. What others have in the file stays byte for byte.
func TestAdminKeyIsReplaced(t *testing.T) {
	home := t.TempDir()
	file := filepath.Join(home, ".ssh", "authorized_keys")
	if err := os.Mkdir(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	const from = `from="192.0.2.0/24",environment="A=b c" `
	first := "# " + adminFormer + "\n" + adminOther + "\n" + from + adminFormer + "\n\n# end"
	if err := os.WriteFile(file, []byte(first), 0o640); err != nil {
		t.Fatal(err)
	}
	const reads = ".ssh/authorized_keys2 %h/.ssh/authorized_keys"
	has := func(want string) {
		t.Helper()
		got, err := os.ReadFile(file)
		if err != nil || string(got) != want {
			t.Fatalf("%v\n%s\nwant\n%s", err, got, want)
		}
		if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
			t.Fatalf("%v %v", info.Mode(), err)
		}
	}
	add := map[string][]string{"add": {adminNext}, "beside": {strings.Replace(adminOther, "QABAAABgQ", "QABAAABgR", 1), adminFormer}}
	if said := adminModule(t, home, reads, true, add); said.Failed != "" || !said.Changed {
		t.Fatalf("%+v", said)
	}
	has(first)
	both := "# " + adminFormer + "\n" + adminOther + "\n" + from + adminFormer + "\n" + from + adminNext + "\n\n# end\n"
	for _, changes := range []bool{true, false} {
		if said := adminModule(t, home, reads, false, add); said.Failed != "" || said.Changed != changes {
			t.Fatalf("%+v, want changed %v", said, changes)
		}
		has(both)
	}
	drop := map[string][]string{"drop": {adminFormer}}
	if said := adminModule(t, home, reads, true, drop); said.Failed != "" || !said.Changed {
		t.Fatalf("%+v", said)
	}
	has(both)
	for _, changes := range []bool{true, false} {
		if said := adminModule(t, home, reads, false, drop); said.Failed != "" || said.Changed != changes {
			t.Fatalf("%+v, want changed %v", said, changes)
		}
		has("# " + adminFormer + "\n" + adminOther + "\n" + from + adminNext + "\n\n# end\n")
	}
	if entries, err := os.ReadDir(filepath.Dir(file)); err != nil || len(entries) != 1 {
		t.Fatalf("%v %v", entries, err)
	}
}

// TestAdminKeyThatIsNowhere: where no file has the key that logs in, nothing is written, and the line to add is told.
func TestAdminKeyThatIsNowhere(t *testing.T) {
	home := t.TempDir()
	for reads, named := range map[string]string{"none": "there is none", ".ssh/authorized_keys": "there is none", "%h/keys": "/keys"} {
		if err := os.WriteFile(filepath.Join(home, "keys"), []byte(adminOther+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		said := adminModule(t, home, reads, false, map[string][]string{"add": {adminNext}, "beside": {adminFormer}})
		if !strings.Contains(said.Failed, adminNext) || !strings.Contains(said.Failed, named) || said.Changed {
			t.Errorf("%s: %+v", reads, said)
		}
	}
}
