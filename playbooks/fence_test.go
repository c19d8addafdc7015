package playbooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

const (
	incarnation = "0b0e7f3e-6f0c-4d52-9a51-3f2f8f1f4a11"
	refused     = 97
	unchecked   = 98
)

// fence is a wrapper rendered with paths of its own, over a real cgroup v2 directory.
type fence struct {
	wrapper, state, runs, log string
}

// setup renders the template of the role for a throwaway state directory. It needs root and a writable cgroup v2
// hierarchy, as the wrapper does.
func setup(t testing.TB) fence {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("the fence works on cgroups: run this test as root")
	}
	dir := t.TempDir()
	f := fence{
		wrapper: filepath.Join(dir, "fence-python"),
		state:   filepath.Join(dir, "fence"),
		runs:    cgroup(t),
		log:     filepath.Join(dir, "tokens.log"),
	}
	text, err := Files.ReadFile("roles/host_bootstrap/templates/fence-python.j2")
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{
		"host_bootstrap_fence_dir":     f.state,
		"host_bootstrap_fence_cgroup":  f.runs,
		"host_bootstrap_fence_log":     f.log,
		"host_bootstrap_fence_service": "kloigos-runs.service",
		"host_bootstrap_python":        "/usr/bin/python3",
	}
	rendered := regexp.MustCompile(`\{\{ (\w+) \}\}`).ReplaceAllStringFunc(string(text), func(found string) string {
		value, ok := values[strings.Trim(found, "{} ")]
		if !ok {
			t.Fatalf("the template asks for %s, which the test does not set", found)
		}
		return value
	})
	// To Jinja these begin something, and what the test renders would not be what the role installs.
	for _, opener := range []string{"{{", "{%", "{#"} {
		if strings.Contains(rendered, opener) {
			t.Fatalf("the template has %s in it", opener)
		}
	}
	write(t, f.wrapper, rendered, 0o755)
	if err := os.Mkdir(f.state, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(f.state, "lock"), "", 0o600)
	write(t, filepath.Join(f.state, "incarnation"), incarnation+"\n", 0o600)
	return f
}

// cgroup makes an empty cgroup that is killed and removed with the test.
func cgroup(t testing.TB) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[2] != "cgroup2" {
			continue
		}
		dir, err := os.MkdirTemp(fields[1], "kloigos-fence-test-")
		if err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "cgroup.kill")); err != nil {
			_ = os.Remove(dir)
			continue
		}
		t.Cleanup(func() { removeCgroup(t, dir) })
		return dir
	}
	t.Skip("no writable cgroup v2 hierarchy with cgroup.kill here: the fence cannot be tried")
	return ""
}

func removeCgroup(t testing.TB, dir string) {
	_ = os.WriteFile(filepath.Join(dir, "cgroup.kill"), []byte("1"), 0o600)
	for range 200 {
		groups, _ := filepath.Glob(dir + "/run-*")
		for _, group := range groups {
			_ = syscall.Rmdir(group)
		}
		if syscall.Rmdir(dir) == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("cgroup %s could not be removed", dir)
}

func write(t testing.TB, path, text string, mode os.FileMode) {
	t.Helper()
	// No other test starts a process meanwhile: it would hold the file open for writing until its own program is loaded,
	// and the kernel runs no such file (ETXTBSY).
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func (f fence) command(t *testing.T, inc string, number int, run string, python ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return exec.CommandContext(ctx, f.wrapper, append([]string{inc, strconv.Itoa(number), run}, python...)...)
}

// run executes Python under the fence and returns its output and exit status.
func (f fence) run(t *testing.T, inc string, number int, run, code string) (stdout, stderr string, status int) {
	t.Helper()
	return outcome(t, f.command(t, inc, number, run, "-c", code))
}

func outcome(t *testing.T, command *exec.Cmd) (stdout, stderr string, status int) {
	t.Helper()
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), problems.String(), command.ProcessState.ExitCode()
}

func TestFencePassesInputArgumentsAndStatus(t *testing.T) {
	t.Parallel()
	f := setup(t)
	command := f.command(t, incarnation, 1, "a", "-", "x y")
	command.Stdin = strings.NewReader("import sys\nprint(sys.argv[1])\nsys.exit(7)\n")
	out, problems, status := outcome(t, command)
	if out != "x y\n" || status != 7 {
		t.Fatalf("got %q, status %d (%s)", out, status, problems)
	}
	if got := strings.Fields(read(t, f.log)); len(got) != 4 || got[1] != incarnation || got[2] != "1" || got[3] != "a" {
		t.Errorf("log line is %q", got)
	}
}

func TestFenceRunsInTheCgroupOfItsRun(t *testing.T) {
	t.Parallel()
	f := setup(t)
	out, problems, _ := f.run(t, incarnation, 3, "job-1", "print(open('/proc/self/cgroup').read())")
	if want := "/" + filepath.Base(f.runs) + "/run-3-job-1\n"; !strings.Contains(out, want) {
		t.Errorf("Python is not in %s: %s%s", want, out, problems)
	}
}

func TestFenceRefusesOlderNumber(t *testing.T) {
	t.Parallel()
	f := setup(t)
	if _, problems, status := f.run(t, incarnation, 10, "new", "pass"); status != 0 {
		t.Fatalf("10 was not accepted: %s", problems)
	}
	out, problems, status := f.run(t, incarnation, 9, "old", "print('ran')")
	if status != refused || out != "" || !strings.Contains(problems, "kloigos-fence: refused: token 9 is older than 10") {
		t.Errorf("status %d, %q, %q", status, out, problems)
	}
	if got := strings.TrimSpace(read(t, filepath.Join(f.state, "token"))); got != "10" {
		t.Errorf("the stored token is %s", got)
	}
}

func TestFenceRefusesOtherIncarnation(t *testing.T) {
	t.Parallel()
	f := setup(t)
	out, problems, status := f.run(t, "11111111-2222-3333-4444-555555555555", 99, "b", "print('ran')")
	if status != refused || out != "" || !strings.Contains(problems, "refused: incarnation 11111111") {
		t.Errorf("status %d, %q, %q", status, out, problems)
	}
	if _, err := os.Stat(filepath.Join(f.state, "token")); err == nil {
		t.Error("a refused incarnation left a token")
	}
}

func TestFenceRefusesWhatIsMalformed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, arguments := range [][]string{
		{},
		{incarnation, "1"},
		{incarnation, "", "a"},
		{incarnation, "-1", "a"},
		{incarnation, "0", "a"},
		{incarnation, "08", "a"},
		{incarnation, "1 ", "a"},
		{incarnation, "9999999999999999999", "a"},
		{incarnation, "1", "../a"},
		{incarnation, "1", ""},
		{incarnation, "1", strings.Repeat("a", 65)},
		{"$(touch x)", "1", "a"},
	} {
		out, _, status := outcome(t, exec.Command(f.wrapper, append(arguments, "-c", "print('ran')")...))
		if status != refused || out != "" {
			t.Errorf("%q: status %d, output %q", arguments, status, out)
		}
	}
}

func TestFenceFailsClosed(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(fence){
		"token":   func(f fence) { write(t, f.state+"/token", "12x\n", 0o600) },
		"state":   func(f fence) { _ = os.RemoveAll(f.state) },
		"no one":  func(f fence) { _ = os.Remove(f.state + "/incarnation") },
		"log":     func(f fence) { _ = os.Mkdir(f.log, 0o700) },
		"no room": func(f fence) { _ = os.Mkdir(f.state+"/token.new", 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			damage(f)
			out, problems, status := f.run(t, incarnation, 5, "a", "print('ran')")
			if status != unchecked || out != "" || !strings.Contains(problems, "kloigos-fence: cannot check") {
				t.Errorf("status %d, %q, %q", status, out, problems)
			}
		})
	}
}

// A database that was restored gives a number once more, to another job: the two must not run side by side.
func TestFenceRefusesOneNumberOfTwoRuns(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.run(t, incarnation, 4, "job-4", "pass")
	out, problems, status := f.run(t, incarnation, 4, "job-5", "print('ran')")
	if status != refused || out != "" || !strings.Contains(problems, "kloigos-fence: refused: number 4 is another run's") {
		t.Errorf("another run: status %d, %q, %q", status, out, problems)
	}
	if err := os.Mkdir(f.runs+"/run-42-job-6", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, problems, status := f.run(t, incarnation, 4, "job-4", "pass"); status != 0 {
		t.Errorf("the run that has it, beside a number that begins alike: status %d, %q", status, problems)
	}
	if _, problems, status := f.run(t, incarnation, 5, "job-5", "pass"); status != 0 {
		t.Errorf("a newer number: status %d, %q", status, problems)
	}
}

// What waits for the lock while the fence is taken away must hear that there is none, as what comes later does.
func TestFenceIsGoneForWhoeverWaited(t *testing.T) {
	t.Parallel()
	f := setup(t)
	held, err := os.Open(f.state + "/lock")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		out, problems string
		status        int
	}
	waiter := make(chan answer, 1)
	command := f.command(t, incarnation, 2, "late", "-c", "print('ran')")
	go func() {
		var a answer
		a.out, a.problems, a.status = outcome(t, command)
		waiter <- a
	}()
	awaitLocks(t, held, 1)
	for _, name := range []string{"incarnation", "lock"} {
		if err := os.Remove(filepath.Join(f.state, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_UN); err != nil {
		t.Fatal(err)
	}
	// backend/internal/ansible/failure.go knows a host without a fence by these words.
	if a := <-waiter; a.status != unchecked || a.out != "" || !strings.Contains(a.problems, "kloigos-fence: cannot check: no fence state here") {
		t.Errorf("%+v", a)
	}
}

// awaitLocks waits until so many processes wait for the lock of a file.
func awaitLocks(t *testing.T, file *os.File, n int) {
	t.Helper()
	var stat syscall.Stat_t
	if err := syscall.Fstat(int(file.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	waiting := regexp.MustCompile(fmt.Sprintf(`(?m)-> FLOCK .*:%d `, stat.Ino))
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if len(waiting.FindAllString(read(t, "/proc/locks"), -1)) >= n {
			return
		}
	}
	t.Fatal("nobody waits for the lock")
}

// /var/log may be emptied by a boot.
func TestFenceMakesItsLogAnew(t *testing.T) {
	t.Parallel()
	f := setup(t)
	wrapper := read(t, f.wrapper)
	dir := filepath.Join(t.TempDir(), "log", "kloigos")
	write(t, f.wrapper, strings.Replace(wrapper, f.log, dir+"/tokens.log", 1), 0o755)
	if _, problems, status := f.run(t, incarnation, 3, "a", "pass"); status != 0 {
		t.Fatalf("status %d, %q", status, problems)
	}
	for path, want := range map[string]os.FileMode{dir: 0o755, dir + "/tokens.log": 0o640} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	if lines := read(t, dir+"/tokens.log"); !strings.HasSuffix(lines, " 3 a\n") {
		t.Errorf("the log is %q", lines)
	}
}

// A line that a full disk has cut must not swallow the next.
func TestFenceEndsACutLine(t *testing.T) {
	t.Parallel()
	f := setup(t)
	write(t, f.log, "2026-01-01T00:00:00Z 0b0e", 0o640)
	for number := 3; number <= 4; number++ {
		if _, problems, status := f.run(t, incarnation, number, "a", "pass"); status != 0 {
			t.Fatalf("status %d, %q", status, problems)
		}
	}
	lines := strings.Split(read(t, f.log), "\n")
	if len(lines) != 4 || lines[0] != "2026-01-01T00:00:00Z 0b0e" || !strings.HasSuffix(lines[1], " "+incarnation+" 3 a") || !strings.HasSuffix(lines[2], " 4 a") {
		t.Errorf("%q", lines)
	}
}

func TestFenceAcceptsOneRunManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var group sync.WaitGroup
	for i := range 12 {
		group.Go(func() {
			out, problems, status := f.run(t, incarnation, 4, "job-4", fmt.Sprintf("import time; time.sleep(0.2); print(%d)", i))
			if status != 0 || strings.TrimSpace(out) != strconv.Itoa(i) {
				t.Errorf("execution %d: status %d, %q, %q", i, status, out, problems)
			}
		})
	}
	group.Wait()
	if lines := strings.Count(read(t, f.log), "\n"); lines != 1 {
		t.Errorf("one number is %d lines in the log", lines)
	}
}

// The child leaves its session and its parent, as a daemon does: only the cgroup still knows whose it is.
const sleeper = `
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open(sys.argv[1] + '.child', 'w').write(str(os.getpid()))
        time.sleep(60)
    os._exit(0)
open(sys.argv[1], 'w').write(str(os.getpid()))
time.sleep(60)
`

// asleep is a run that has begun and sleeps, with the PIDs of it and of a child that left its session.
func (f fence) asleep(t *testing.T, number int, run string) (command *exec.Cmd, pids []string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "pid")
	command = f.command(t, incarnation, number, run, "-c", sleeper, name)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, []string{await(t, name), await(t, name+".child")}
}

func TestFenceKillsTheOlderRunBeforeTheNewOneStarts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	old, pids := f.asleep(t, 1, "old")

	begin := time.Now()
	// A zombie still has a PID, and nobody here collects the grandchild: what counts is that it runs no more.
	out, problems, status := f.run(t, incarnation, 2, "new", fmt.Sprintf(`
for pid in %q.split():
    try:
        state = open('/proc/' + pid + '/stat').read().rsplit(')', 1)[1].split()[0]
    except FileNotFoundError:
        state = 'gone'
    print(state)
`, strings.Join(pids, " ")))
	if status != 0 {
		t.Fatalf("the newer run was not accepted: %s", problems)
	}
	t.Logf("took over in %s", time.Since(begin))
	for _, state := range strings.Fields(out) {
		if state != "gone" && state != "Z" {
			t.Errorf("a process of the older run was in state %s when the newer started", state)
		}
	}
	_ = old.Wait()
	if signal := old.ProcessState.Sys().(syscall.WaitStatus).Signal(); signal != syscall.SIGKILL {
		t.Errorf("the older run ended with %v", signal)
	}
	if _, err := os.Stat(f.runs + "/run-1-old"); err == nil {
		t.Error("the older run's cgroup is still there")
	}
}

func await(t *testing.T, path string) string {
	t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for time.Now().Before(deadline) {
		if text, err := os.ReadFile(path); err == nil && len(text) > 0 {
			return string(text)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%s was not written", path)
	return ""
}

// A restart of the service, as after an upgrade of libc, must leave the runs below it alone.
func TestHomeOfTheRunsEndsNoRun(t *testing.T) {
	t.Parallel()
	text, err := Files.ReadFile("roles/host_bootstrap/templates/kloigos-runs.service.j2")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"KillMode=process", "Delegate=yes", "Restart=always"} {
		if !strings.Contains(string(text), "\n"+line+"\n") {
			t.Errorf("the service lacks %s", line)
		}
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	file := filepath.Join(t.TempDir(), "kloigos-runs.service")
	write(t, file, string(text), 0o600)
	said, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", "--recursive-errors=no", file).CombinedOutput()
	if err != nil || strings.Contains(string(said), file) {
		t.Errorf("systemd-analyze verify: %v\n%s", err, said)
	}
}

// Executions of the older run keep coming from several sides while a newer run takes over: none may be alive or begin
// once the newer one runs.
func TestFenceHoldsUnderARaceOfOldAndNew(t *testing.T) {
	t.Parallel()
	f := setup(t)
	journal := filepath.Join(t.TempDir(), "journal")
	entry := `
import os, time
def say(word):
    fd = os.open(%q, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(fd, (word + '\n').encode())
`
	entry = fmt.Sprintf(entry, journal)
	var over atomic.Bool
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for {
				late := over.Load()
				_, problems, status := f.run(t, incarnation, 7, "old", entry+"say('old')\ntime.sleep(0.01)\nsay('old')")
				switch {
				case status == refused:
					return
				case late:
					t.Errorf("the older run was not refused after the newer one had finished: status %d, %s", status, problems)
					return
				case status != 0 && status != -1:
					t.Errorf("status %d: %s", status, problems)
					return
				}
			}
		})
	}
	await(t, journal)
	_, problems, status := f.run(t, incarnation, 8, "new", entry+"say('new')\ntime.sleep(0.3)\nsay('new')")
	over.Store(true)
	if status != 0 {
		t.Errorf("the newer run: status %d, %s", status, problems)
	}
	group.Wait()
	words := strings.Fields(read(t, journal))
	for i, word := range words {
		if word == "new" {
			if strings.Contains(strings.Join(words[i:], " "), "old") {
				t.Errorf("the older run wrote after the newer one began: %v", words[i:])
			}
			break
		}
	}
}

// What the check adds to one execution: compare the two. There is no bound to fail on, since moving into a cgroup waits
// for the kernel, and on a busy machine that is many times what it is on an idle one.
func BenchmarkFence(b *testing.B) {
	f := setup(b)
	for name, argv := range map[string][]string{
		"python": {"/usr/bin/python3", "-c", "pass"},
		"fenced": {f.wrapper, incarnation, "1", "a", "-c", "pass"},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		})
	}
}
