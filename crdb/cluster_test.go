package crdb_test

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// standIn takes cockroach's place: it makes the files that the real one makes, and runs until it is told to stop. What
// the script does is tried with it; what a cluster does is not.
const standIn = `#!/bin/sh
option() { for a in "$@"; do case $a in "$name"=*) echo "${a#*=}"; return ;; esac; done; }
echo "$@" >>"$STAND_IN_CALLS"
case "$1 $2" in
    'cert create-ca') name=--certs-dir; touch "$(option "$@")/ca.crt" ;;
    'cert create-node') name=--certs-dir; touch "$(option "$@")/node.crt" ;;
    'cert create-client') name=--certs-dir; touch "$(option "$@")/client.$3.crt" ;;
    'start '*) name=--pid-file; file=$(option "$@"); trap 'echo drained; exit 0' TERM; echo $$ >"$file"; touch "$STAND_IN_CALLS.up.$$"
        while :; do sleep 0.1; done ;;
    'init '*) up=no # as the real one, which asks a node
        for f in "$STAND_IN_CALLS".up.*; do if kill -0 "${f##*.}" 2>/dev/null; then up=yes; fi; done
        if [ $up = no ]; then echo 'no node answers' >&2; exit 1; fi
        if [ -e "$STAND_IN_CALLS.init" ]; then echo 'cluster has already been initialized' >&2; exit 1; fi
        touch "$STAND_IN_CALLS.init" ;;
esac
`

// cluster is the script at work.
type cluster struct {
	t    *testing.T
	dir  string
	env  []string
	main *exec.Cmd

	mu   sync.Mutex
	said bytes.Buffer
}

func (c *cluster) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.Write(p)
}

func (c *cluster) output() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.said.String()
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	bin := t.TempDir()
	syscall.ForkLock.RLock() // or a process that starts meanwhile holds the file, and it can't be run (ETXTBSY)
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(filepath.Join(bin, "cockroach"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	return &cluster{t: t, dir: filepath.Join(t.TempDir(), "cluster"), env: []string{
		"PATH=" + bin + ":" + os.Getenv("PATH"), "STAND_IN_CALLS=" + filepath.Join(bin, "calls"), "KLOIGOS_CRDB_PORT=36257",
	}}
}

// start runs the script until it says that the nodes run.
func (c *cluster) start() {
	c.t.Helper()
	c.said.Reset()
	c.main = exec.Command("./start-cluster.sh", c.dir)
	c.main.Env, c.main.Stdout, c.main.Stderr = c.env, c, c
	c.main.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.main.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = syscall.Kill(-c.main.Process.Pid, syscall.SIGKILL) })
	c.await("the nodes to run", func() bool { return strings.Contains(c.output(), "Three nodes run") })
}

// run runs the script with a command beside the one that is at work.
func (c *cluster) run(args ...string) (string, error) {
	cmd := exec.CommandContext(c.t.Context(), "./start-cluster.sh", append([]string{c.dir}, args...)...)
	cmd.Env = c.env
	said, err := cmd.CombinedOutput()
	return string(said), err
}

func (c *cluster) await(what string, holds func() bool) {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("in vain: waited for %s\n%s", what, c.output())
		}
	}
}

// node is the process of a node, 0 if there is none.
func (c *cluster) node(n int) int {
	text, err := os.ReadFile(filepath.Join(c.dir, fmt.Sprintf("node%d.pid", n)))
	if err != nil {
		return 0
	}
	var pid int
	if _, err := fmt.Sscan(string(text), &pid); err != nil {
		return 0
	}
	comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil || strings.TrimSpace(string(comm)) != "cockroach" {
		return 0
	}
	return pid
}

func TestThreeNodesOnOneMachine(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.start()
	m := regexp.MustCompile(`export KLOIGOS_DATABASE_URL='([^']+)'`).FindStringSubmatch(c.output())
	if m == nil {
		t.Fatalf("it told no URL: %s", c.output())
	}
	u, err := url.Parse(m[1])
	if err != nil || u.Host != "127.0.0.1:36257,127.0.0.1:36267,127.0.0.1:36277" || u.Query().Get("sslmode") != "verify-full" {
		t.Errorf("URL %s, %v", m[1], err)
	}
	// The driver reads it as three addresses; the certificates are the stand-in's, so it is asked without them.
	q := u.Query()
	q.Del("sslrootcert")
	q.Del("sslcert")
	q.Del("sslkey")
	u.RawQuery = q.Encode()
	if cfg, err := pgx.ParseConfig(u.String()); err != nil || len(cfg.Fallbacks) != 2 {
		t.Errorf("%v", err)
	}
	old := c.node(2)
	if said, err := c.run("kill", "2"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	c.await("the node to be gone", func() bool { return c.node(2) == 0 })
	if said, err := c.run("kill", "2"); err == nil {
		t.Errorf("killed twice: %s", said)
	}
	if said, err := c.run("start", "2"); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	c.await("the node to be back", func() bool { return c.node(2) != 0 && c.node(2) != old })
	for _, wrong := range [][]string{{"kill", "4"}, {"kill"}, {"stop", "1"}, {"start", "1"}} {
		if said, err := c.run(wrong...); err == nil {
			t.Errorf("%v: %s", wrong, said)
		}
	}
	if said, err := c.run(); err == nil {
		t.Errorf("started twice: %s", said)
	}
	if c.node(1) == 0 || c.node(3) == 0 {
		t.Fatal("other nodes are gone")
	}
	c.stop()
	// Again: what was made once stays, a cluster that was initialized is taken as it is.
	c.start()
	calls, err := os.ReadFile(strings.TrimPrefix(c.env[1], "STAND_IN_CALLS="))
	if err != nil || strings.Count(string(calls), "cert create-ca") != 1 {
		t.Errorf("%v\n%s", err, calls)
	}
	c.stop()
}

// stop is Ctrl-C: all nodes drain and end, the one that was started beside too.
func (c *cluster) stop() {
	c.t.Helper()
	nodes := []int{c.node(1), c.node(2), c.node(3)}
	if err := c.main.Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if err := c.main.Wait(); err != nil {
		c.t.Errorf("the script ended with %v\n%s", err, c.output())
	}
	for n, pid := range nodes {
		if pid == 0 || c.node(n+1) != 0 {
			c.t.Errorf("node %d was %d and is %d", n+1, pid, c.node(n+1))
		}
	}
}

func TestTheClusterSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.env = []string{"PATH=/usr/bin:/bin"}
	if _, err := exec.LookPath("/usr/bin/cockroach"); err == nil {
		t.Skip("there is a cockroach")
	}
	if said, err := c.run(); err == nil || !strings.Contains(said, "no cockroach on the PATH") {
		t.Errorf("%v: %s", err, said)
	}
	c = newCluster(t)
	c.env = append(c.env, "KLOIGOS_CRDB_PORT=twelve")
	if said, err := c.run(); err == nil || !strings.Contains(said, "'twelve' is no port") {
		t.Errorf("%v: %s", err, said)
	}
}
