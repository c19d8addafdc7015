package ansible

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sys/unix"

	"kloigos/rig/freeport"
)

const (
	backendArg     = "backend-for-test"
	measureArg     = "measure-for-test"
	runnerArg      = "runner-for-test"
	canaryVariable = "KLOIGOS_TEST_CANARY"
)

// TestMain makes the test binary what the real one is: a supervisor when it is called as one, and, for the test in
// which a backend is killed, a backend.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case SuperviseArg:
			os.Exit(Supervise(os.Args[2:]))
		case backendArg:
			os.Exit(backendForTest(os.Args[2]))
		case runnerArg:
			_, err := NewRunner(Config{RunRoot: os.Args[2]})
			fmt.Print(err)
			os.Exit(0)
		case measureArg:
			os.Exit(measureForTest(os.Args[2]))
		}
	}
	os.Setenv(canaryVariable, "a secret of the service")
	code := m.Run()
	removeRemoteTemp()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// removeRemoteTemp takes away, if they are empty, the directories that Ansible has made in this user's home as that of
// the host.
func removeRemoteTemp() {
	if home, err := os.UserHomeDir(); err == nil {
		_ = os.Remove(filepath.Join(home, ".kloigos", "tmp"))
		_ = os.Remove(filepath.Join(home, ".kloigos"))
	}
}

// bed is a host to run plays on (an sshd of the test's own on a loopback port, with this user) and a runner.
type bed struct {
	dir     string // short-lived files
	root    string // the runner's
	bundle  string
	key     []byte
	hostKey string
	port    int
	user    string
	runner  *Supervised
}

func setup(t *testing.T) *bed {
	t.Helper()
	t.Parallel()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not on the PATH (Debian: apt-get install ansible)")
	}
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		sshd = "/usr/sbin/sshd"
	}
	if _, err := os.Stat(sshd); err != nil {
		t.Fatal("sshd is needed as a host for the tests (Debian: apt-get install openssh-server)")
	}
	b := &bed{dir: t.TempDir(), root: shortDir(t)}
	if b.bundle, err = filepath.Abs("testdata/bundle"); err != nil {
		t.Fatal(err)
	}
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	b.user = me.Username
	var login string
	b.key, login = newKey(t)
	var private []byte
	private, b.hostKey = newKey(t)
	b.write(t, "host_key", private, 0o600)
	b.write(t, "authorized_keys", []byte(login), 0o600)
	b.port = freePort(t)
	b.write(t, "sshd_config", fmt.Appendf(nil, strings.Join([]string{
		"ListenAddress 127.0.0.1:%d", "ListenAddress 127.0.0.2:%[1]d", "ListenAddress 127.0.0.3:%[1]d", "HostKey %s/host_key", "AuthorizedKeysFile %[2]s/authorized_keys", "PidFile none",
		"Banner %[2]s/banner", "UsePAM no", "StrictModes no", "PermitRootLogin prohibit-password", "PasswordAuthentication no", "UseDNS no",
		"SetEnv PATH=%[2]s/bin:/usr/local/bin:/usr/bin:/bin", "Subsystem sftp internal-sftp", "",
	}, "\n"), b.port, b.dir), 0o600)
	if os.Geteuid() == 0 {
		if err := os.MkdirAll("/run/sshd", 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.startSSHD(t, sshd, "-D", "-e", "-f", filepath.Join(b.dir, "sshd_config"))
	b.runner, err = NewRunner(Config{RunRoot: b.root, fence: filepath.Join(b.dir, "fence-python"), canaries: []string{b.dir}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.checkNothingIsLeft(t) })
	return b
}

// shortDir makes a directory with a path that is short enough for sockets, which t.TempDir's is not.
func shortDir(t *testing.T) string {
	t.Helper()
	parent := "/dev/shm"
	if unix.Access(parent, unix.W_OK) != nil {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "kt")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newKey(t *testing.T) (private []byte, public string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	if err != nil {
		t.Fatal(err)
	}
	key, err := ssh.NewPublicKey(pub)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

func freePort(t *testing.T) int {
	t.Helper()
	port, err := freeport.Find("127.0.0.1", "127.0.0.2", "127.0.0.3")
	if err != nil {
		t.Fatal(err)
	}
	return port
}

func (b *bed) startSSHD(t *testing.T, program string, args ...string) {
	t.Helper()
	var log bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Stderr = &log
	// A session may hold stderr for as long as its command runs.
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// The sessions first: without their parent they could not be found any more.
		for _, pid := range append(descendants(cmd.Process.Pid), cmd.Process.Pid) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("sshd: %s", log.Bytes())
		}
	})
	eventually(t, "sshd listens", func() bool {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", itoa(b.port)))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (b *bed) write(t *testing.T, name string, content []byte, mode os.FileMode) {
	t.Helper()
	file := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	syscall.ForkLock.RLock() // or a process that starts meanwhile holds a program that is about to run (ETXTBSY)
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, content, mode); err != nil {
		t.Fatal(err)
	}
}

func (b *bed) host() Host {
	return Host{Name: "h1", Address: "127.0.0.1", Port: b.port, User: b.user, PrivateKey: b.key, HostKeys: []string{b.hostKey}}
}

func (b *bed) play(playbook string, vars map[string]any) Play {
	return Play{Name: "demo", Bundle: b.bundle, Playbook: playbook, Hosts: []Host{b.host()}, Vars: vars, Timeout: 3 * time.Minute}
}

// run carries a play out and returns what came, too.
func (b *bed) run(t *testing.T, p Play) (Outcome, []Event) {
	t.Helper()
	var log recorder
	out, err := b.runner.Run(t.Context(), p, log.add)
	if err != nil {
		t.Fatal(err)
	}
	if t.Cleanup(func() {
		if t.Failed() {
			t.Logf("outcome: %+v\n%s", out.Failure, log.text())
		}
	}); len(log.events) == 0 || log.events[len(log.events)-1].Kind != EventFinished {
		t.Errorf("the last event is not %q", EventFinished)
	}
	return out, log.events
}

// processes are those of this bed's runs, with their command lines. It does not rely on the runner's own search.
func (b *bed) processes() map[int]string {
	found := map[int]string{}
	for _, pid := range processIDs() {
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if bytes.Contains(environ, []byte(markName+"="+b.root)) || bytes.Contains(cmdline, []byte(b.root)) {
			found[pid] = string(cmdline)
		}
	}
	return found
}

// checkNothingIsLeft fails if a process, a zombie or a file of any run is still there.
func (b *bed) checkNothingIsLeft(t *testing.T) {
	t.Helper()
	for pid, cmdline := range b.processes() {
		t.Errorf("process %d is left: %q", pid, cmdline)
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	left, err := os.ReadDir(b.root)
	if err != nil || len(left) > 0 {
		t.Errorf("left in the run root: %v, %v", left, err)
	}
}

type recorder struct {
	mu     sync.Mutex
	events []Event
}

func (r *recorder) add(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return dump(r.events)
}

func dump(events []Event) string {
	var out strings.Builder
	for _, e := range events {
		line, _ := json.Marshal(e)
		out.Write(append(line, '\n'))
	}
	return out.String()
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(30 * time.Millisecond) {
		if is() {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func itoa(n int) string { return strconv.Itoa(n) }
