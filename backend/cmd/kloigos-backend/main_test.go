package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/testkit"
)

// asProgram makes the test's binary the program itself: what is tested here is
// a process of its own, with its memory, its arguments and its end.
const asProgram = "KLOIGOS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	// A supervisor is started without the variable, by its argument alone.
	if os.Getenv(asProgram) != "" || len(os.Args) > 1 && os.Args[1] == "supervise-play" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is one kloigos-backend serve.
type process struct {
	t        testing.TB
	cmd      *exec.Cmd
	database string
	keyset   string
	url      string
	password string // of the administrator
	token    string // of a session of the administrator
	log      *lockedBuffer
	ended    chan error
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// program is a command of the backend with an environment of its own.
func program(t testing.TB, environment []string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", args...)
	cmd.Env = append([]string{asProgram + "=1", "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, environment...)
	return cmd
}

// start prepares an installation on a database of its own and serves it.
func start(t testing.TB, environment ...string) *process {
	t.Helper()
	p := &process{t: t, database: testkit.DatabaseURL(t), keyset: filepath.Join(t.TempDir(), "keyset.json"), log: &lockedBuffer{}, ended: make(chan error, 1)}
	environment = append([]string{"KLOIGOS_DATABASE_URL=" + p.database, "KLOIGOS_KEYSET_FILE=" + p.keyset, "KLOIGOS_LISTEN=127.0.0.1:0", "KLOIGOS_ALLOW_LOOPBACK_HOSTS=true"}, environment...)
	said, err := program(t, environment, "init").CombinedOutput()
	if err != nil {
		t.Fatalf("init: %v\n%s", err, said)
	}
	if m := regexp.MustCompile(`(?m)^password: (\S+)$`).FindSubmatch(said); m != nil {
		p.password = string(m[1])
	} else {
		t.Fatalf("init told no password: %s", said)
	}
	p.cmd = program(t, environment, "serve")
	p.cmd.Stderr, p.cmd.Stdout = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.stop(syscall.SIGTERM) })
	listens := regexp.MustCompile(`"listen":"([^"]+)"`)
	eventually(t, "the backend serves", func() bool {
		m := listens.FindStringSubmatch(p.log.String())
		if m != nil {
			p.url = "http://" + m[1]
		}
		return m != nil
	})
	status, body := p.do(http.MethodPost, "/sessions", api.Login{Account: "admin", Password: p.password})
	var session api.Session
	if err := json.Unmarshal(body, &session); err != nil || status != http.StatusCreated {
		t.Fatalf("login: %d %s", status, body)
	}
	p.token = session.Token
	return p
}

// stop ends the process and returns what Wait said; it may be called twice.
func (p *process) stop(signal syscall.Signal) error {
	p.t.Helper()
	_ = p.cmd.Process.Signal(signal)
	select {
	case err := <-p.ended:
		p.ended <- err
		return err
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill()
		p.t.Error("the backend did not end within a minute")
		return nil
	}
}

// do sends a request of the administrator. body is marshalled unless it is text.
func (p *process) do(method, path string, body any) (int, []byte) {
	p.t.Helper()
	var r io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(v)
	default:
		j, err := json.Marshal(v)
		if err != nil {
			p.t.Fatal(err)
		}
		r = bytes.NewReader(j)
	}
	req, err := http.NewRequestWithContext(p.t.Context(), method, p.url+api.Prefix+path, r)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatalf("%s %s: %v\n%s", method, path, err, p.log.String())
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, content
}

// raw opens a connection to the backend.
func (p *process) raw() net.Conn {
	p.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(p.url, "http://"))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		p.t.Fatal(err)
	}
	return conn
}

// resident is the memory that the kernel counts for the process, in bytes:
// now, and at its highest.
func (p *process) resident() (now, peak int64) {
	p.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		p.t.Fatal(err)
	}
	read := func(name string) int64 {
		_, rest, _ := strings.Cut(string(status), name+":")
		field := strings.Fields(rest)
		n, err := strconv.ParseInt(field[0], 10, 64)
		if err != nil {
			p.t.Fatalf("%s in %s", name, status)
		}
		return n << 10
	}
	return read("VmRSS"), read("VmHWM")
}

// forgetPeak makes the present memory the highest (proc(5), clear_refs).
func (p *process) forgetPeak() {
	p.t.Helper()
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0); err != nil {
		p.t.Skipf("the kernel does not let the peak of memory be measured: %v", err)
	}
}

func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// TestEveryLineOfTheLogIsAnObject, those of parts that were given no logger too: who collects logs reads them by machine.
func TestEveryLineOfTheLogIsAnObject(t *testing.T) {
	t.Parallel()
	points := t.TempDir()
	p := start(t, "KLOIGOS_FAILPOINT_DIR="+points)
	if err := os.WriteFile(filepath.Join(points, failpoint.RequestCommitted), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.url+api.Prefix+"/hosts", strings.NewReader(`{"name":"h1","address":"127.0.0.1"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+p.token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Fatalf("the backend lives on and answers %s", resp.Status)
	}
	_ = p.stop(syscall.SIGKILL) // it has ended itself
	last := ""
	for line := range strings.Lines(p.log.String()) {
		var object struct {
			Msg string `json:"msg"`
		}
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Errorf("%v: %s", err, line)
		}
		last = object.Msg
	}
	if !strings.HasPrefix(last, "failpoint:") {
		t.Errorf("the last line says %q", last)
	}
}
