package ansible

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// endWithin is what is promised of a cancel. It takes a second where the machine is not busy with other tests.
const endWithin = 10 * time.Second

// longPlay runs a play that sleeps on the host, and tells by the channel when it is asleep there.
func (b *bed) longPlay(t *testing.T) (play Play, asleep func() bool) {
	t.Helper()
	seconds := "98" + itoa(b.port) // to be recognised by
	line := "sleep\x00" + seconds + "\x00"
	t.Cleanup(func() { endOnTheHost(t, line) })
	return b.play("sleep.yml", map[string]any{"demo_seconds": seconds}), func() bool {
		return slices.Contains(ansibleCommandLines(), line)
	}
}

// endOnTheHost ends what a killed run left asleep on the host, where no later run comes to fence it: what waits for the
// sleep ends with it.
func endOnTheHost(t *testing.T, line string) {
	t.Helper()
	for _, pid := range processIDs() {
		parent, _, ok := parentOf(pid)
		if cmdline, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "cmdline")); ok && string(cmdline) == line {
			_ = unix.Kill(pid, unix.SIGKILL)
			eventually(t, "what waited for the sleep has ended", func() bool { _, state, ok := parentOf(parent); return parent <= 1 || !ok || state == 'Z' })
		}
	}
}

// sshMasters counts the shared connections of this bed's runs.
func (b *bed) sshMasters() int {
	n := 0
	for _, line := range ansibleCommandLines() {
		if strings.HasPrefix(line, "ssh: "+b.root) {
			n++
		}
	}
	return n
}

// zombies counts the children of this process that nobody has waited for.
func zombies() int {
	n := 0
	for _, pid := range processIDs() {
		if parent, state, ok := parentOf(pid); ok && parent == os.Getpid() && state == 'Z' {
			n++
		}
	}
	return n
}

func TestCancelEndsEverything(t *testing.T) {
	b := setup(t)
	play, asleep := b.longPlay(t)
	ctx, cancel := context.WithCancel(t.Context())
	type result struct {
		out Outcome
		err error
	}
	done := make(chan result, 1)
	var log recorder
	go func() {
		out, err := b.runner.Run(ctx, play, log.add)
		done <- result{out, err}
	}()
	eventually(t, "the host sleeps", asleep)
	if b.sshMasters() != 1 {
		t.Errorf("%d ssh masters, want 1: this test would show nothing", b.sshMasters())
	}
	cancelled := time.Now()
	cancel()
	r := <-done
	if took := time.Since(cancelled); took > endWithin {
		t.Errorf("it took %s", took)
	}
	if r.err != nil {
		t.Fatal(r.err)
	}
	if f := r.out.Failure; f == nil || f.Code != CodeCancelled || f.Task != "Wait" {
		t.Errorf("failure %+v", f)
	}
	b.checkNothingIsLeft(t)
	eventually(t, "no zombie is left", func() bool { return zombies() == 0 })
	if last := log.events[len(log.events)-1]; last.Kind != EventFinished || !strings.HasPrefix(last.Message, "cancelled") {
		t.Errorf("last event %+v", last)
	}
}

func TestTimeout(t *testing.T) {
	b := setup(t)
	play, _ := b.longPlay(t)
	play.Timeout = 200 * time.Millisecond
	out, _ := b.run(t, play)
	if f := out.Failure; f == nil || f.Code != CodeTimeout {
		t.Errorf("failure %+v", f)
	}
}

// backendJob is what the test hands to the process that plays the backend.
type backendJob struct {
	RunRoot string
	Play    Play
}

func backendForTest(file string) int {
	raw, err := os.ReadFile(file)
	if err != nil {
		return 1
	}
	var job backendJob
	if json.Unmarshal(raw, &job) != nil {
		return 1
	}
	r, err := NewRunner(Config{RunRoot: job.RunRoot})
	if err != nil {
		return 1
	}
	if _, err := r.Run(context.Background(), job.Play, nil); err != nil {
		return 1
	}
	return 0
}

// startBackend runs the long play in a process of its own, until the host sleeps.
func (b *bed) startBackend(t *testing.T) *exec.Cmd {
	t.Helper()
	play, asleep := b.longPlay(t)
	job, err := json.Marshal(struct {
		RunRoot string
		Play    map[string]any
	}{b.root, map[string]any{
		"Name": play.Name, "Bundle": play.Bundle, "Playbook": play.Playbook, "Hosts": play.Hosts, "Vars": play.Vars,
	}})
	if err != nil {
		t.Fatal(err)
	}
	b.write(t, "job.json", job, 0o600)
	backend := exec.Command("/proc/self/exe", backendArg, filepath.Join(b.dir, "job.json"))
	backend.Stderr = os.Stderr
	if err := backend.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the host sleeps", asleep)
	return backend
}

func TestKilledBackendLeavesNothing(t *testing.T) {
	b := setup(t)
	backend := b.startBackend(t)
	// Another backend that starts beside it must not touch its run.
	if n, err := SweepRuns(b.runner.config.RunRoot); n != 0 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	if len(b.processes()) < 3 {
		t.Errorf("%d processes run: this test would show nothing", len(b.processes()))
	}
	killed := time.Now()
	if err := backend.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = backend.Wait()
	eventually(t, "all is gone", func() bool { left, _ := os.ReadDir(b.root); return len(left) == 0 && len(b.processes()) == 0 })
	if took := time.Since(killed); took > endWithin {
		t.Errorf("it took %s", took)
	}
}

// Where backend and supervisor are killed at once, as by the kernel for want of memory, the next start cleans up.
func TestSweepEndsWhatBothLeft(t *testing.T) {
	b := setup(t)
	backend := b.startBackend(t)
	supervisors := descendants(backend.Process.Pid)
	// The supervisor is stopped first, so that it cannot see the backend's end before its own.
	for _, pid := range supervisors {
		if parent, _, _ := parentOf(pid); parent == backend.Process.Pid {
			_ = unix.Kill(pid, unix.SIGSTOP)
			_ = backend.Process.Kill()
			_ = unix.Kill(pid, unix.SIGKILL)
			eventually(t, "the supervisor is dead", func() bool { return deadWithThreads(pid) })
		}
	}
	_ = backend.Wait()
	eventually(t, "what was behind the wall has ended with it", func() bool { return b.sshMasters() == 0 && len(b.processes()) == 0 })
	left, _ := os.ReadDir(b.root)
	if len(left) != 1 {
		t.Fatalf("%d directories: this test would show nothing", len(left))
	}
	// And what nevertheless carries the run's mark.
	stray := exec.Command("/bin/sleep", "600")
	stray.Env = []string{markName + "=" + filepath.Join(b.root, left[0].Name())}
	if err := stray.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = stray.Wait(); close(ended) }()
	if n, err := SweepRuns(b.runner.config.RunRoot); n != 1 || err != nil {
		t.Errorf("swept %d, %v", n, err)
	}
	select {
	case <-ended:
	case <-time.After(endWithin):
		t.Error("what carried the mark goes on")
		_ = stray.Process.Kill()
	}
	b.checkNothingIsLeft(t)
}

// A supervisor that dies alone must not leave a run without one.
func TestKilledSupervisor(t *testing.T) {
	b := setup(t)
	play, asleep := b.longPlay(t)
	done := make(chan error, 1)
	go func() {
		_, err := b.runner.Run(t.Context(), play, nil)
		done <- err
	}()
	eventually(t, "the host sleeps", asleep)
	for _, pid := range processIDs() {
		cmdline, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "cmdline"))
		if strings.HasPrefix(string(cmdline), "kloigos-supervisor\x00"+SuperviseArg+"\x00"+b.root) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "supervisor died") {
		t.Errorf("got %v", err)
	}
}

// What something else ended is told from a playbook that is wrong, also where it was one of Ansible's own children.
func TestKilledAnsible(t *testing.T) {
	for name, is := range map[string]struct{ program, parent string }{
		"Ansible": {"ansible-playbook", "bwrap"}, "its worker": {"ansible-playbook", "ansible-playbook"}, "its ssh": {"ssh", "ansible-playbook"},
	} {
		t.Run(name, func(t *testing.T) {
			b := setup(t)
			play, asleep := b.longPlay(t)
			done := make(chan Outcome, 1)
			go func() {
				out, err := b.runner.Run(t.Context(), play, nil)
				if err != nil {
					t.Error(err)
				}
				done <- out
			}()
			eventually(t, "the host sleeps", asleep)
			var of []int
			for pid := range b.processes() {
				if over, _, _ := parentOf(pid); programOf(pid) == is.program && programOf(over) == is.parent {
					of = append(of, pid)
				}
			}
			killed := 0
			for _, pid := range of { // all are known by now: the children of one that is killed get the parent of another case
				if unix.Kill(pid, unix.SIGKILL) == nil {
					killed++
				}
			}
			out := <-done
			if f := out.Failure; killed != 1 || f == nil || f.Code != CodeKilled || !strings.Contains(f.Message, "killed") {
				t.Errorf("%d were killed: %+v", killed, f)
			}
			b.checkNothingIsLeft(t)
		})
	}
}

// programOf is the name that a process was called by; of a Python, what it was told to run.
func programOf(pid int) string {
	line, _ := os.ReadFile(filepath.Join("/proc", itoa(pid), "cmdline"))
	words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	if strings.HasPrefix(filepath.Base(words[0]), "python") {
		return filepath.Base(words[len(words)-1])
	}
	return filepath.Base(words[0])
}

// deadWithThreads tells whether a process has let go of its files: its first thread is a zombie as soon as it has ended
// itself, while others may still hold them, and with them the lock of the run.
func deadWithThreads(pid int) bool {
	threads, err := os.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	_, state, ok := parentOf(pid)
	return err != nil || !ok || state == 'Z' && len(threads) == 1
}
