package runs_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"kloigos/rig/runs"
)

// TestProcessesAreFoundWhateverTheirParents, and though ssh writes its title over its environment; none of another root is.
func TestProcessesAreFoundWhateverTheirParents(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	run := filepath.Join(root, "r-1")
	marked := begin(t, "sleep", "KLOIGOS_RUN="+run)
	master := begin(t, "ssh: "+filepath.Join(run, "0a1b")+" [mux]")
	begin(t, "sleep", "KLOIGOS_RUN="+root+"-2/r-1")
	begin(t, "ssh: "+root+"-2/r-1/0a1b [mux]")
	begin(t, "sleep")
	want := []int{marked, master}
	slices.Sort(want)
	for _, dir := range []string{root, run, run + "/"} {
		got := runs.Processes(dir)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("below %s there are %v, not %v", dir, got, want)
		}
	}
	for _, pid := range want {
		if got := runs.Of(pid); got != run {
			t.Errorf("process %d is of %q", pid, got)
		}
	}
}

// begin starts a process that does nothing under a name, with this environment alone.
func begin(t *testing.T, name string, env ...string) (pid int) {
	t.Helper()
	cmd := exec.Command("/bin/sleep")
	cmd.Args, cmd.Env = []string{name, "60"}, append([]string{}, env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd.Process.Pid
}
