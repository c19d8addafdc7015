package app_test

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/testkit/site"
)

var agentBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "kloigos-agent")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "kloigos-agent")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "./agent/cmd/kloigos-agent")
	build.Dir, build.Env = "../../..", append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return path, nil
})

// agentRoot says which machine the agents of tests are on, as /etc/machine-id does. A bare machine has none.
var agentRoot = sync.OnceValues(func() (string, error) {
	root, err := os.MkdirTemp("", "kloigos-agent-root")
	if err != nil {
		return "", err
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{"etc/machine-id": strings.ReplaceAll(uuid.NewString(), "-", ""), "proc/sys/kernel/random/boot_id": string(boot)} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return root, nil
})

// agentEnv is what every agent of a test is told.
func agentEnv(t *testing.T, url, state string) []string {
	t.Helper()
	root, err := agentRoot()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"KLOIGOS_AGENT_URL=" + url, "KLOIGOS_AGENT_STATE=" + state, "KLOIGOS_AGENT_ROOT=" + root, "KLOIGOS_AGENT_SOCKET=" + filepath.Join(state, "none.sock")}
}

// agentProcess is a real agent.
type agentProcess struct {
	state string
	log   *lines
	cmd   *exec.Cmd
}

type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(strings.Join(l.all, "\n"), text)
}

// startAgent starts one with this state folder until the test ends.
func startAgent(t *testing.T, url, state string) *agentProcess {
	t.Helper()
	binary, err := agentBinary()
	if err != nil {
		t.Fatal(err)
	}
	p := &agentProcess{state: state, log: &lines{}, cmd: exec.Command(binary, "run")}
	p.cmd.Env = append(agentEnv(t, url, state), "KLOIGOS_AGENT_INTERVAL=300ms")
	out, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var read sync.WaitGroup
	read.Go(func() {
		for scan := bufio.NewScanner(out); scan.Scan(); {
			p.log.mu.Lock()
			p.log.all = append(p.log.all, scan.Text())
			p.log.mu.Unlock()
		}
	})
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		read.Wait()
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Log(strings.Join(p.log.all, "\n"))
		}
	})
	return p
}

func registered(t *testing.T, c *client.Client, name string) string {
	t.Helper()
	h, _, err := c.RegisterHost(t.Context(), api.RegisterHost{Name: name, Address: "127.0.0.1", Port: site.NewSSHServer(t).Port, TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	return h.ID
}

// withToken is a state folder with a token of the host.
func withToken(t *testing.T, c *client.Client, host string) string {
	t.Helper()
	token, err := c.CreateAgentToken(t.Context(), api.CreateAgentToken{Host: host, Minutes: 5})
	if err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "token"), []byte(token.Token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return state
}

func agentOf(t *testing.T, c *client.Client, host, state string) (api.Agent, bool) {
	t.Helper()
	page, err := c.ListAgents(t.Context(), api.AgentFilter{Host: host, State: state})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Items) == 0 {
		return api.Agent{}, false
	}
	return page.Items[0], true
}

// TestAnAgentSpeaksForItsHost: a real backend and a real agent. It enrols, its heartbeats make the health of the host; revoked,
// it is refused within a second.
func TestAnAgentSpeaksForItsHost(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true"})
	c, url := serve(t, cfg, scripted.New(), password)
	host := registered(t, c, "h")
	state := withToken(t, c, "h")
	agent := startAgent(t, url, state)
	var a api.Agent
	site.Eventually(t, "its heartbeats are written", func() bool {
		var ok bool
		a, ok = agentOf(t, c, "h", "enrolled")
		return ok && a.Liveness == "on_time" && a.AgentVersion != ""
	})
	if _, err := os.Stat(filepath.Join(state, "token")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the token is still there: %v", err)
	}
	if len(a.Causes) != 1 || a.Causes[0].Name != "no_report" { // it has no reader here
		t.Errorf("causes %+v", a.Causes)
	}
	conditions := func(noun, id, kind string) (found api.Condition) {
		page, err := c.ListConditions(t.Context(), api.ConditionFilter{Noun: noun, Object: id})
		if err != nil {
			t.Fatal(err)
		}
		for _, each := range page {
			if each.Type == kind {
				found = each
			}
		}
		return found
	}
	site.Eventually(t, "the policy has looked at it", func() bool { return conditions("agent", a.ID, "connected").Status == "true" })
	before := a.ReceivedAt
	site.Eventually(t, "more heartbeats come", func() bool {
		now, _ := agentOf(t, c, "h", "enrolled")
		return now.ReceivedAt != nil && now.ReceivedAt.After(*before)
	})
	if _, err := c.RevokeAgent(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	site.Eventually(t, "the agent is refused", func() bool { return agent.log.has("agent_refused") })
	if took := time.Since(began); took > 3*time.Second { // a second, its interval, and a busy machine
		t.Errorf("it was refused after %v", took)
	}
	a, _ = agentOf(t, c, "h", "revoked")
	if a.Liveness != "none" || a.ID == "" {
		t.Errorf("%+v", a)
	}
	site.Eventually(t, "the condition of the host is no longer the agent's", func() bool { return conditions("host", host, "healthy").Reason == "no_agent" })
	h, err := c.GetHost(t.Context(), host)
	if err != nil || h.Health != "unknown" {
		t.Errorf("health %q, %v", h.Health, err)
	}
}

// TestACopiedDiskIsQuarantined: two machines with the key of one.
func TestACopiedDiskIsQuarantined(t *testing.T) {
	t.Parallel()
	cfg, password := preparedWith(t, map[string]string{"KLOIGOS_ALLOW_LOOPBACK_HOSTS": "true"})
	c, url := serve(t, cfg, scripted.New(), password)
	registered(t, c, "h")
	first := startAgent(t, url, withToken(t, c, "h"))
	site.Eventually(t, "it is enrolled", func() bool { return first.log.has("enrolled") })
	second := startAgent(t, url, withToken(t, c, "h")) // the host is installed anew, and the old disk still runs somewhere
	site.Eventually(t, "it is enrolled", func() bool { return second.log.has("enrolled") })
	site.Eventually(t, "both keys are quarantined", func() bool {
		page, err := c.ListAgents(t.Context(), api.AgentFilter{State: "quarantined"})
		return err == nil && len(page.Items) == 2
	})
	page, err := c.ListEvents(t.Context(), api.EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for _, e := range page.Items {
		if e.Action == "agent.quarantine" {
			told++
		}
	}
	if told != 2 {
		t.Errorf("%d events tell of it", told)
	}
	agents, _ := c.ListAgents(t.Context(), api.AgentFilter{State: "quarantined"})
	if _, err := c.ReleaseAgent(t.Context(), agents.Items[0].ID); err != nil {
		t.Fatal(err)
	}
	if _, err := c.ReleaseAgent(t.Context(), agents.Items[1].ID); err == nil {
		t.Error("two agents speak for one host")
	}
}
