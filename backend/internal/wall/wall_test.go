package wall

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	checkArg = "check-for-test"
	startArg = "start-for-test"
)

// TestMain makes the test binary a program that looks for the wall, and one that is killed while it has a walled command.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case checkArg:
			if err := Check(context.Background()); err != nil {
				fmt.Println(errors.Is(err, ErrUnavailable), err)
				os.Exit(3)
			}
			os.Exit(0)
		case startArg:
			runtime.LockOSThread()
			cmd, err := Command(context.Background(), Spec{}, nil, "/bin/sh", "-c", "setsid sleep "+os.Args[2]+" & sleep "+os.Args[2])
			if err == nil {
				err = cmd.Run()
			}
			fmt.Println(err)
			os.Exit(3)
		}
	}
	os.Exit(m.Run())
}

// A machine without bubblewrap fails here: without the wall a backend runs nothing.
func TestCheck(t *testing.T) {
	t.Parallel()
	if err := Check(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// look is a program of Python that tells what it sees of paths, processes and the network, a line each.
const look = `
import os, socket, sys, glob
def tell(name, fn):
    try:
        print(name, 'sees', fn())
    except Exception as e:
        print(name, 'is kept out:', type(e).__name__)
def read(path):
    return open(path).read(64) if not os.path.isdir(path) else os.listdir(path)
def secret(path):
    try:
        return open(path, 'rb').read()
    except OSError:
        return b''
def dial(address):
    s = socket.socket(socket.AF_UNIX) if isinstance(address, str) else socket.socket()
    s.settimeout(5)
    s.connect(address)
    return 'an answer'
keyset, database, neighbour, pid, port, mine = sys.argv[1:]
tell('keyset', lambda: read(keyset))
tell('database', lambda: dial(database))
tell('neighbour', lambda: read(neighbour))
tell('environ', lambda: read('/proc/%s/environ' % pid))
tell('environs', lambda: [f for f in glob.glob('/proc/[0-9]*/environ') if b'hunter2' in secret(f)] or 1/0)
tell('root', lambda: read('/proc/1/root/etc/shadow'))
tell('home', lambda: read('/root'))
tell('run', lambda: read('/run'))
tell('var', lambda: read('/var'))
tell('sys', lambda: read('/sys/kernel'))
tell('tunables', lambda: open('/proc/sys/kernel/core_pattern', 'r+').close())
tell('loopback', lambda: dial(('127.0.0.1', int(port))))
tell('mine', lambda: open(os.path.join(mine, 'written'), 'w').write('x'))
tell('usr', lambda: open('/usr/written', 'w').write('x'))
tell('top', lambda: open('/written', 'w').write('x'))
tell('user namespace', lambda: os.system('unshare -Ur true 2>/dev/null') and 1/0)
tell('shm', lambda: open('/dev/shm/x', 'w').write('x'))
tell('tmp', lambda: [f for f in os.listdir('/tmp') if not mine.startswith('/tmp/' + f)])
tell('environment', lambda: sorted(os.environ))
`

// What a backend keeps, planted on this machine, is there for a command without the wall, and not for one behind it.
func TestKeptOut(t *testing.T) {
	t.Setenv("KLOIGOS_SECRET", "hunter2")
	top := t.TempDir()
	file := func(parts ...string) string { return filepath.Join(append([]string{top}, parts...)...) }
	for _, dir := range []string{"credentials", "run-a", "run-b"} {
		if err := os.Mkdir(file(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{file("credentials", "keyset.json"), file("run-b", "key-0")} {
		if err := os.WriteFile(name, []byte("hunter2"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	socket := filepath.Join(shortDir(t), "s")
	listen(t, "unix", socket)
	port := listen(t, "tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	argv := []string{
		"/usr/bin/python3", "-c", look,
		file("credentials", "keyset.json"), socket, file("run-b"), fmt.Sprint(os.Getpid()), fmt.Sprint(port), file("run-a"),
	}
	within := []string{"mine", "shm", "tmp", "environment"}
	for name, c := range map[string]struct {
		spec Spec
		sees []string
	}{
		"alone":   {Spec{Writable: []string{file("run-a")}}, within},
		"network": {Spec{Writable: []string{file("run-a")}, Network: true}, append([]string{"loopback"}, within...)},
		"reads":   {Spec{ReadOnly: []string{file("run-a"), file("run-b")}}, []string{"neighbour", "shm", "tmp", "environment"}},
	} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			cmd, err := Command(t.Context(), c.spec, []string{"A=b", "LC_ALL=C.UTF-8"}, argv...)
			if err != nil {
				t.Fatal(err)
			}
			seen := seenBy(t, cmd)
			for what, answer := range seen {
				wanted := false
				for _, s := range c.sees {
					wanted = wanted || s == what
				}
				if got := strings.HasPrefix(answer, "sees"); got != wanted {
					t.Errorf("%s %s", what, answer)
				}
			}
			if seen["tmp"] != "sees []" || seen["environment"] != "sees ['A', 'LC_ALL', 'PWD']" {
				t.Errorf("/tmp %s, environment %s", seen["tmp"], seen["environment"])
			}
		})
	}
	// Or the test above would hold for what is not there at all.
	bare := seenBy(t, exec.Command(argv[0], argv[1:]...))
	for _, what := range []string{"keyset", "database", "neighbour", "environ", "environs", "loopback", "run", "var", "mine"} {
		if !strings.HasPrefix(bare[what], "sees") {
			t.Errorf("without the wall: %s %s", what, bare[what])
		}
	}
}

func seenBy(t *testing.T, cmd *exec.Cmd) map[string]string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	seen := map[string]string{}
	for line := range strings.Lines(string(out)) {
		for _, word := range []string{" sees ", " is kept out: "} {
			if what, answer, ok := strings.Cut(strings.TrimSpace(line), word); ok {
				seen[what] = strings.TrimSpace(word) + " " + answer
				break
			}
		}
	}
	if len(seen) != 19 {
		t.Fatalf("it told of %d things: %s", len(seen), out)
	}
	return seen
}

// Where the kernel gives no namespace, as behind the wall itself, nothing runs, and it is said why.
func TestNoWallNoCommand(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, err := Command(t.Context(), Spec{ReadOnly: []string{self}}, nil, self, checkArg)
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "true the wall around Ansible can't be built: ") || !strings.Contains(string(out), "bwrap: ") {
		t.Errorf("%v: %s", err, out)
	}
	for name, spec := range map[string]Spec{
		"relative": {ReadOnly: []string{"etc"}}, "upwards": {Writable: []string{"/tmp/../etc"}}, "its own": {Dir: "tmp"},
	} {
		if argv, err := spec.Argv("true"); err == nil {
			t.Errorf("%s: %q", name, argv)
		}
	}
	missing, err := Command(t.Context(), Spec{ReadOnly: []string{"/nowhere/at/all"}}, nil, "/usr/bin/env", "echo", "ran")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := missing.CombinedOutput(); err == nil || bytes.Contains(out, []byte("ran")) {
		t.Errorf("a path that is missing: %v: %s", err, out)
	}
}

func TestExitLimitsAndStreams(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec   Spec
		script string
		code   int
		said   string
	}{
		"exit":    {Spec{}, "exit 7", 7, ""},
		"signal":  {Spec{}, "kill -9 $$", 128 + 9, ""},
		"streams": {Spec{Dir: "/usr"}, "cat; pwd", 0, "in\n/usr\n"},
		"limits":  {Spec{Limits: Limits{Memory: 1 << 30, CPU: 9, Written: 1 << 20}}, "ulimit -v; ulimit -t; ulimit -f; ulimit -c", 0, "1048576\n9\n2048\n0\n"},
		"alone":   {Spec{}, "set -- /proc/[0-9]*; echo $#", 0, "2\n"}, // the wall's own and the shell
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			cmd, err := Command(t.Context(), c.spec, nil, "/bin/sh", "-c", c.script)
			if err != nil {
				t.Fatal(err)
			}
			cmd.Stdin = strings.NewReader("in\n")
			out, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != c.code || string(out) != c.said {
				t.Errorf("%v, code %d: %q", err, code, out)
			}
		})
	}
}

// A command ends with its context, and with the process that has started it, and nothing that it started stays.
func TestEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprint(9000000 + os.Getpid())
	starter := exec.Command(self, startArg, mark)
	if err := starter.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both sleep", func() bool { return len(sleepers(mark)) == 2 })
	if err := starter.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	_ = starter.Wait()
	eventually(t, "nobody sleeps after the starter's end", func() bool { return len(sleepers(mark)) == 0 })

	mark = fmt.Sprint(8000000 + os.Getpid())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cmd, err := Command(ctx, Spec{}, nil, "/bin/sh", "-c", "setsid sleep "+mark+" & sleep "+mark)
		if err == nil {
			err = cmd.Run()
		}
		ended <- err
	}()
	eventually(t, "both sleep", func() bool { return len(sleepers(mark)) == 2 })
	cancel()
	if err := <-ended; err == nil {
		t.Error("it ended by itself")
	}
	eventually(t, "nobody sleeps after the end of the context", func() bool { return len(sleepers(mark)) == 0 })
}

// sleepers are the processes that sleep for so many seconds.
func sleepers(seconds string) (found []string) {
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range lines {
		if line, err := os.ReadFile(file); err == nil && string(line) == "sleep\x00"+seconds+"\x00" {
			found = append(found, file)
		}
	}
	return found
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// shortDir has a path that a socket's may begin with, which t.TempDir's may be too long for.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Without an environment a command has none, and not the one of whoever starts it.
func TestNoEnvironment(t *testing.T) {
	t.Setenv("KLOIGOS_SECRET", "hunter2")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd, err := Command(t.Context(), Spec{}, nil, "/usr/bin/env")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != "PWD=/\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// BenchmarkStart is a command that does nothing, behind the wall and without it.
func BenchmarkStart(b *testing.B) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for name, command := range map[string]func() (*exec.Cmd, error){
		"walled": func() (*exec.Cmd, error) {
			return Command(b.Context(), Spec{Writable: []string{b.TempDir()}, Network: true}, nil, "/usr/bin/true")
		},
		"bare": func() (*exec.Cmd, error) { return exec.CommandContext(b.Context(), "/usr/bin/true"), nil },
	} {
		b.Run(name, func(b *testing.B) {
			var took []time.Duration
			for b.Loop() {
				begun := time.Now()
				cmd, err := command()
				if err == nil {
					err = cmd.Run()
				}
				if err != nil {
					b.Fatal(err)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms/median")
		})
	}
}
