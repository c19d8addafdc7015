package playbooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Where no wrapper checks, since it was taken away, a late run's first task is refused by the numbers in the log.
func TestClaimRefusesAnOlderNumber(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "tokens.log")
	write(t, log, fmt.Sprintf("2026-01-01T00:00:00Z %s 5 a\n2026-01-01T00:00:01Z %[1]s 6 b\n2026-01-01T00:00:02Z 11111111-2222 9 c\n", incarnation), 0o600)
	for _, c := range []struct {
		number int
		check  bool
		want   string
	}{
		{5, false, "failed kloigos-fence: refused: token 5 is older than 6"},
		{5, true, "warned kloigos-fence: refused: token 5 is older than 6"},
		{6, false, "taken"},
		{7, false, "taken"},
		{0, false, "taken"},
	} {
		out, err := exec.Command(python, "-c", `
import importlib.util, sys
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_fence", "library/kloigos_fence.py")
fence = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fence)
class Module:
    check_mode, params = sys.argv[4] == "true", {}
    def fail_json(self, msg, **_):
        print("failed " + msg)
        sys.exit(0)
    def warn(self, msg):
        print("warned " + msg)
        sys.exit(0)
fence.LOG = sys.argv[1]
fence.Fence(Module()).refuse_older(sys.argv[2], int(sys.argv[3]))
print("taken")
`, log, incarnation, strconv.Itoa(c.number), strconv.FormatBool(c.check)).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != c.want {
			t.Errorf("%d: %s, %v; want %s", c.number, out, err, c.want)
		}
	}
}

// moduleRun is what kloigos_fence said when it was run as a whole, with the fence's paths for its own.
type moduleRun struct {
	Failed string           `json:"failed"`
	Done   []string         `json:"done"`
	Result map[string]int64 `json:"kloigos_result"`
}

func (f fence) module(t *testing.T, check bool, params map[string]any) moduleRun {
	t.Helper()
	all := map[string]any{"state": "claimed", "incarnation": incarnation, "refence": false, "number": 0}
	for name, value := range params {
		all[name] = value
	}
	given, err := json.Marshal(map[string]any{"params": all, "check": check, "dir": filepath.Dir(f.state), "runs": f.runs})
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), python, "-c", `
import importlib.util, json, sys, types
given = json.load(sys.stdin)
import ansible.module_utils
ansible.module_utils.__path__.append("module_utils")
spec = importlib.util.spec_from_file_location("kloigos_fence", "library/kloigos_fence.py")
fence = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fence)
class Module:
    check_mode, params = given["check"], given["params"]
    def __init__(self, **_):
        pass
    def fail_json(self, msg, **_):
        self.exit_json(failed=msg)
    def exit_json(self, **result):
        print(json.dumps(result))
        sys.exit(0)
    def warn(self, msg):
        pass
    def run_command(self, argv):
        raise AssertionError(argv)
here = given["dir"]
fence.AnsibleModule = Module
fence.ROOT, fence.STATE, fence.LOG, fence.RUNS = here + "/etc", here + "/fence", here + "/tokens.log", given["runs"]
fence.SERVICE, fence.UNITS_SLICE, fence.RUNTIME, fence.WRAPPER = "kloigos-none.service", "kloigos-none.slice", here + "/run", here + "/lib/fence-python"
fence.pwd = types.SimpleNamespace(getpwuid=lambda _: types.SimpleNamespace(pw_dir=here))
fence.LOCK_SECONDS = 0.2
fence.Fence.systemctl = lambda self, *_: None
fence.Fence.append_only = lambda self: None  # or the test could not remove its folder
fence.main()
`)
	command.Stdin = bytes.NewReader(given)
	out, problems, status := outcome(t, command)
	var said moduleRun
	if err := json.Unmarshal([]byte(out), &said); err != nil || status != 0 {
		t.Fatalf("status %d, %s%s", status, out, problems)
	}
	return said
}

// After a restore the database is behind the host: what runs there is ended, and the host tells how far it had come.
func TestRefenceOfOurOwnHost(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.module(t, false, nil) // as a host is that was claimed before
	refence := map[string]any{"refence": true}
	old, _ := f.asleep(t, 41, "lost")
	if said := f.module(t, true, refence); said.Result != nil || len(said.Done) > 0 {
		t.Errorf("a check: %+v", said)
	}
	if said := f.module(t, false, map[string]any{"number": 41}); said.Result != nil || len(said.Done) > 0 {
		t.Errorf("no re-fence: %+v", said)
	}
	said := f.module(t, false, refence)
	if said.Failed != "" || said.Result["number"] != 41 || len(said.Done) != 1 {
		t.Errorf("%+v", said)
	}
	_ = old.Wait()
	if signal := old.ProcessState.Sys().(syscall.WaitStatus).Signal(); signal != syscall.SIGKILL {
		t.Errorf("the older run ended with %v", signal)
	}
	if said := f.module(t, false, refence); said.Result["number"] != 41 || len(said.Done) > 0 {
		t.Errorf("once more, with nothing to end: %+v", said)
	}
	// The log may know of more than was stored, and be gone.
	for log, want := range map[string]int64{
		fmt.Sprintf("2026-01-01T00:00:00Z %s 42 a\n", incarnation):                             42,
		fmt.Sprintf("2026-01-01T00:00:00Z %s 42026-01-01T00:00:01Z %[1]s 43 a\n", incarnation): 43, // behind a cut line
		"": 41,
	} {
		write(t, f.log, log, 0o640)
		if said := f.module(t, false, refence); said.Result["number"] != want {
			t.Errorf("with %q in the log: %+v", log, said)
		}
	}
}

// The stored number is the other control plane's then: what counts of ours is in the log.
func TestRefenceOfTheHostOfAnother(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const other = "11111111-2222-3333-4444-555555555555"
	f.run(t, incarnation, 90, "theirs", "pass")
	write(t, f.log, read(t, f.log)+"2026-01-01T00:00:00Z "+other+" 7 a\n2026-01-01T00:00:0", 0o640)
	said := f.module(t, false, map[string]any{"refence": true, "incarnation": other})
	if said.Failed != "" || said.Result["number"] != 7 {
		t.Errorf("%+v", said)
	}
	lines := strings.Split(read(t, f.log), "\n")
	if len(lines) != 5 || lines[2] != "2026-01-01T00:00:0" || !strings.HasSuffix(lines[3], " "+other+" 0 refence") {
		t.Errorf("%q", lines)
	}
	if got := read(t, f.state+"/token"); got != "7\n" {
		t.Errorf("the stored token is %q", got)
	}
	if _, problems, status := f.run(t, other, 8, "ours", "pass"); status != 0 {
		t.Errorf("status %d, %q", status, problems)
	}
}

// A re-fence that was cut has left a host without an incarnation, and maybe with what ran before.
func TestRefenceThatWasCutIsMadeGood(t *testing.T) {
	t.Parallel()
	f := setup(t)
	old, _ := f.asleep(t, 5, "theirs")
	if err := os.Remove(f.state + "/incarnation"); err != nil {
		t.Fatal(err)
	}
	f.module(t, false, map[string]any{"refence": true, "incarnation": "11111111-2222-3333-4444-555555555555"})
	_ = old.Wait()
	if signal := old.ProcessState.Sys().(syscall.WaitStatus).Signal(); signal != syscall.SIGKILL {
		t.Errorf("what ran before ended with %v", signal)
	}
	if lines := read(t, f.log); !strings.HasSuffix(lines, " 0 refence\n") {
		t.Errorf("the log is %q", lines)
	}
}

// What takes the fence away has left the cgroup by which a newer run could end it: so the one waits for the other.
func TestFenceIsRemovedUnderItsLock(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.module(t, false, nil)
	held, err := os.Open(f.state + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	absent := map[string]any{"state": "absent"}
	if said := f.module(t, true, absent); said.Failed != "" || len(said.Done) == 0 {
		t.Errorf("a check: %+v", said)
	}
	if said := f.module(t, false, absent); said.Failed != "the lock of the fence is busy" || read(t, f.state+"/incarnation") == "" {
		t.Errorf("%+v", said)
	}
	_ = held.Close()
	if said := f.module(t, false, absent); said.Failed != "" || len(said.Done) == 0 {
		t.Errorf("%+v", said)
	}
	if _, err := os.Stat(f.state); err == nil {
		t.Error("the state is still there")
	}
	if said := f.module(t, false, absent); said.Failed != "" || len(said.Done) > 0 {
		t.Errorf("where there is no fence: %+v", said)
	}
}
