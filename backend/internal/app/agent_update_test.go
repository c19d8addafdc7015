package app_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/kernel/config"
	"kloigos/backend/internal/testkit/site"
)

// bad is a build that does not work. It stands in a file of its own, and is compiled and signed as a release is.
var bad = map[string]string{
	"exits": `package main
func main() {}`,
	"hangs": `package main
import ("os/signal"; "syscall"; "time")
func main() { signal.Ignore(syscall.SIGTERM); time.Sleep(time.Hour) }`,
	"fills": `package main
import ("os"; "path/filepath"; "time")
func main() {
	f, _ := os.Create(filepath.Join(os.Getenv("KLOIGOS_AGENT_STATE"), "rubbish"))
	for b := make([]byte, 1<<16); ; { if _, err := f.Write(b); err != nil { b = b[:len(b)/2] ; if len(b) == 0 { break } } }
	time.Sleep(time.Hour)
}`,
}

const unreachable = `package main
import ("os"; "syscall")
func main() {
	os.Setenv("KLOIGOS_AGENT_URL", "http://127.0.0.1:1")
	panic(syscall.Exec(%q, []string{"kloigos-agent", "run"}, os.Environ()))
}`

// within waits longer than most tests do: whole builds are fetched and tried.
func within(t *testing.T, limit time.Duration, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("not within %s: %s", limit, what)
}

// factory makes builds of the agent and signs them with a key of its own.
type factory struct {
	dir, release, key string
	signer            string
}

func run(dir string, env []string, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

var root = filepath.Join("..", "..", "..")

func newFactory(t *testing.T) *factory {
	t.Helper()
	dir := t.TempDir()
	f := &factory{dir: dir, release: filepath.Join(dir, "release"), key: filepath.Join(dir, "key"), signer: filepath.Join(dir, "kloigos-release")}
	must(t, os.Mkdir(f.release, 0o755))
	must(t, run(root, nil, "go", "build", "-buildvcs=false", "-o", f.signer, "./agent/cmd/kloigos-release"))
	must(t, run(dir, nil, f.signer, "key", f.key))
	must(t, run(dir, nil, f.signer, "key", f.key+"2"))
	return f
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// build compiles the agent as a version.
func (f *factory) build(t *testing.T, version, to string) {
	t.Helper()
	must(t, run(root, []string{"CGO_ENABLED=0"}, "go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w -X main.version="+version, "-o", to, "./agent/cmd/kloigos-agent"))
}

// sign puts a build into the release.
func (f *factory) sign(t *testing.T, version, path string) {
	t.Helper()
	must(t, run(f.dir, nil, f.signer, "sign", "-key", f.key, "-version", version, "-arch", runtime.GOARCH, path))
}

// release adds a good build of a version.
func (f *factory) good(t *testing.T, version string) {
	t.Helper()
	path := filepath.Join(f.release, "kloigos-agent-"+version)
	f.build(t, version, path)
	f.sign(t, version, path)
}

// broken adds a build that does not work.
func (f *factory) broken(t *testing.T, version, kind string) {
	t.Helper()
	source := filepath.Join(f.dir, kind+".go")
	must(t, os.WriteFile(source, []byte(bad[kind]), 0o600))
	path := filepath.Join(f.release, "kloigos-agent-"+version)
	must(t, run(f.dir, []string{"CGO_ENABLED=0"}, "go", "build", "-buildvcs=false", "-o", path, source))
	f.sign(t, version, path)
}

// machine is a host with an agent that is started again whenever it ends, and root's part, as systemd does both.
type machine struct {
	*testing.T
	log             *lines
	state, versions string
	base            string
	env             []string
	starts          atomic.Int64
}

func (f *factory) machine(t *testing.T, url, state, base string, more ...string) *machine {
	t.Helper()
	m := &machine{T: t, log: &lines{}, state: state, versions: filepath.Join(t.TempDir(), "versions"), base: base}
	keys := filepath.Join(t.TempDir(), "release-keys")
	var text []byte
	for _, file := range []string{f.key + ".pub", f.key + "2.pub"} {
		content, err := os.ReadFile(file)
		must(t, err)
		text = append(text, content...)
	}
	must(t, os.WriteFile(keys, text, 0o600))
	m.env = slices.Concat(agentEnv(t, url, state), []string{
		"KLOIGOS_AGENT_VERSIONS=" + m.versions, "KLOIGOS_AGENT_RELEASE_KEYS=" + keys, "KLOIGOS_AGENT_INTERVAL=2s", "KLOIGOS_AGENT_TRIAL=7s",
	}, more)
	ctx, stop := context.WithCancel(context.Background())
	var both sync.WaitGroup
	both.Go(func() { m.service(ctx) })
	both.Go(func() { m.root(ctx) })
	t.Cleanup(func() {
		stop()
		both.Wait()
		if t.Failed() {
			t.Log(strings.Join(m.log.all, "\n"))
		}
	})
	return m
}

// service is Restart=always.
func (m *machine) service(ctx context.Context) {
	for ctx.Err() == nil {
		m.starts.Add(1)
		cmd := exec.CommandContext(ctx, m.base, "run")
		cmd.Env = m.env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
		cmd.WaitDelay = 10 * time.Second
		out, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			m.Error(err)
			return
		}
		for scan := bufio.NewScanner(out); scan.Scan(); {
			m.log.mu.Lock()
			m.log.all = append(m.log.all, scan.Text())
			m.log.mu.Unlock()
		}
		_ = cmd.Wait()
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// root is the path unit: it runs when the request changes.
func (m *machine) root(ctx context.Context) {
	seen := ""
	for ctx.Err() == nil {
		content, _ := os.ReadFile(filepath.Join(m.state, "request.json"))
		if text := string(content); text != "" && text != seen {
			seen = text
			cmd := exec.CommandContext(ctx, m.base, "update")
			cmd.Env = m.env
			out, err := cmd.CombinedOutput()
			m.log.mu.Lock()
			m.log.all = append(m.log.all, "update: "+string(out))
			m.log.mu.Unlock()
			_ = err // the answer says it
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// prepareReleases is a backend with an administrator, ready for deliveries.
func prepareReleases(t *testing.T, f *factory) (cfg config.Config, c *client.Client, url string) {
	t.Helper()
	cfg, password := preparedWith(t, map[string]string{
		"KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true", "KLOIGOS_AGENT_RELEASE_DIR": f.release, "KLOIGOS_DELIVERY_SOAK": "1s",
	})
	c, url = serve(t, cfg, scripted.New(), password)
	return cfg, c, url
}

func storeBuilds(t *testing.T, cfg config.Config) {
	t.Helper()
	must(t, app.Init(t.Context(), cfg, &strings.Builder{}))
}

func runs(t *testing.T, c *client.Client, host string) string {
	t.Helper()
	a, _ := agentOf(t, c, host, "enrolled")
	if a.Liveness != "on_time" {
		return "silent"
	}
	return a.AgentVersion
}

func deliver(t *testing.T, c *client.Client, name, version string) {
	t.Helper()
	none := 0
	_, err := c.CreateUpdateDelivery(t.Context(), api.CreateUpdateDelivery{Name: name, AgentVersion: version, DeliveryPlan: api.DeliveryPlan{GapSeconds: &none, ProofSeconds: 60, SkipProbe: true}}) // the host of these tests is this machine, which no play may read
	must(t, err)
}

func stateOf(t *testing.T, c *client.Client, name string) (state, reason string) {
	t.Helper()
	d, err := c.GetUpdateDelivery(t.Context(), name)
	must(t, err)
	return d.State, d.Reason
}

// TestTheAgentUpdatesItself: real builds, real signatures, real processes. A good version takes over; each bad one halts its delivery
// and leaves the host with the agent that it had. The way back brings the version before.
func TestTheAgentUpdatesItself(t *testing.T) {
	t.Parallel()
	f := newFactory(t)
	base := filepath.Join(f.dir, "base")
	f.build(t, "v1.0.0", base)
	f.good(t, "v1.1.0")
	f.broken(t, "v1.2.0", "exits")
	f.broken(t, "v1.3.0", "hangs")
	cfg, c, url := prepareReleases(t, f)
	registered(t, c, "h")
	state := t.TempDir()
	mounted := syscall.Mount("tmpfs", state, "tmpfs", 0, "size=48m") == nil // only root may; a full disk is not tried without
	t.Cleanup(func() { _ = syscall.Unmount(state, syscall.MNT_DETACH) })
	token, err := c.CreateAgentToken(t.Context(), api.CreateAgentToken{Host: "h", Minutes: 5})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(state, "token"), []byte(token.Token), 0o600))
	m := f.machine(t, url, state, base)
	site.Eventually(t, "the agent of the package runs", func() bool { return runs(t, c, "h") == "v1.0.0" })

	deliver(t, c, "good", "v1.1.0")
	within(t, time.Minute, "the new version is proven", func() bool { s, _ := stateOf(t, c, "good"); return s == "done" })
	if v := runs(t, c, "h"); v != "v1.1.0" {
		t.Fatalf("it runs %s", v)
	}

	fails := func(name, version, why string) {
		t.Helper()
		deliver(t, c, name, version)
		var got, reason string
		within(t, time.Minute, version+" halts", func() bool { got, reason = stateOf(t, c, name); return got == "halted" })
		if !strings.Contains(reason, why) {
			t.Errorf("%s: %s", name, reason)
		}
		within(t, 30*time.Second, "the version before runs", func() bool { return runs(t, c, "h") == "v1.1.0" })
		_, err := c.RollBackUpdateDelivery(t.Context(), name)
		must(t, err)
		within(t, 30*time.Second, "it is rolled back", func() bool { s, _ := stateOf(t, c, name); return s == "returned" })
	}
	fails("exits", "v1.2.0", "ended by itself")
	all := os.Getenv("KLOIGOS_ALL_BAD_BUILDS") != "" // five minutes
	if all {
		fails("hangs", "v1.3.0", "No heartbeat of it was accepted")
	}

	// It fills the disk that the agent keeps its state on.
	f.broken(t, "v1.4.0", "fills")
	// It cannot reach the server: it is the agent, and the address that it takes leads nowhere.
	bad["unreachable"] = fmt.Sprintf(unreachable, base)
	f.broken(t, "v1.5.0", "unreachable")
	storeBuilds(t, cfg)
	if all && mounted {
		fails("fills", "v1.4.0", "No heartbeat of it was accepted")
		if _, err := os.Stat(filepath.Join(state, "rubbish")); err == nil {
			t.Error("what the bad version wrote is still there")
		}
	}
	if all {
		fails("unreachable", "v1.5.0", "No heartbeat of it was accepted")
	}

	// Another key signed it.
	stranger := newFactory(t)
	path := filepath.Join(f.release, "kloigos-agent-v1.6.0")
	f.build(t, "v1.6.0", path)
	stranger.sign(t, "v1.6.0", path)
	// It is older than what runs.
	f.good(t, "v1.0.5")
	storeBuilds(t, cfg)
	fails("foreign", "v1.6.0", "no release key")
	fails("older", "v1.0.5", "no newer")

	// And back to what came with the package.
	_, err = c.RollBackUpdateDelivery(t.Context(), "good")
	must(t, err)
	within(t, time.Minute, "the version of the package runs", func() bool { s, _ := stateOf(t, c, "good"); return s == "returned" })
	if v := runs(t, c, "h"); v != "v1.0.0" {
		t.Errorf("it runs %s", v)
	}
	kept := 0
	entries, err := os.ReadDir(m.versions)
	must(t, err)
	for _, e := range entries {
		if e.IsDir() {
			kept++
		}
	}
	if kept > 2 {
		t.Errorf("%d versions are kept", kept)
	}
}
