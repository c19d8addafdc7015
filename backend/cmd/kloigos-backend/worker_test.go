package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// plays counts the processes of plays below a run root.
func plays(root string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range all {
		if line, err := os.ReadFile(file); err == nil && strings.Contains(string(line), root) {
			n++
		}
	}
	return n
}

// TestCancelEndsTheProcesses: from the request to the end of everything that
// runs for the job, over the whole way: API, database, worker, supervisor.
func TestCancelEndsTheProcesses(t *testing.T) {
	root := filepath.Join("/tmp", fmt.Sprintf("kl-cancel-%d", os.Getpid())) // short, for ssh's sockets
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	p := start(t, "PATH="+standInPath(t), "KLOIGOS_RUN_ROOT="+root, "KLOIGOS_ROLE=api,worker", "KLOIGOS_PLAYS_AHEAD=0") // or the next one is there as well
	ssh := site.NewSSHServer(t)
	status, body := p.do(http.MethodPost, "/hosts", api.RegisterHost{Name: "slow", Address: "127.0.0.1", Port: ssh.Port, TrustOnFirstUse: true})
	var host api.Host
	if err := json.Unmarshal(body, &host); err != nil || status != http.StatusAccepted {
		t.Fatalf("register: %d %s", status, body)
	}
	job := func() (j api.Job) {
		t.Helper()
		_, body := p.do(http.MethodGet, "/jobs/"+host.ActiveJob, nil)
		if err := json.Unmarshal(body, &j); err != nil {
			t.Fatal(err)
		}
		return j
	}
	eventually(t, "the play", func() bool { return plays(root) > 1 && job().State == "running" })
	asked := time.Now()
	if status, body := p.do(http.MethodPost, "/jobs/"+host.ActiveJob+"/cancel", nil); status != http.StatusAccepted {
		t.Fatalf("cancel: %d %s", status, body)
	}
	eventually(t, "the end", func() bool { return job().State == "cancelled" && plays(root) == 0 })
	if took := time.Since(asked); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	text, err := json.Marshal(job().Error)
	if err != nil || !strings.Contains(string(text), "A person stopped the job.") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestABackendWithoutTheAPI runs jobs and tells of its health where it is told
// to listen; where it is told nothing, it listens nowhere, beside an API that
// has the default address.
func TestABackendWithoutTheAPI(t *testing.T) {
	p := start(t) // prepares the installation, and is the API
	env := []string{
		"KLOIGOS_DATABASE_URL=" + p.database, "KLOIGOS_KEYSET_FILE=" + p.keyset, "KLOIGOS_ALLOW_LOOPBACK_HOSTS=true", "KLOIGOS_ROLE=worker",
	}
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		t.Skip("ansible-playbook is not on the PATH (Debian: apt-get install ansible)")
	}
	for listen, want := range map[string]bool{"127.0.0.1:0": true, "": false} {
		cmd, log := program(t, env, "serve"), &lockedBuffer{}
		if listen != "" {
			cmd.Env = append(cmd.Env, "KLOIGOS_LISTEN="+listen)
		}
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the worker to serve", func() bool { return strings.Contains(log.String(), "backend started") })
		m := regexp.MustCompile(`"listen":"([^"]+)"`).FindStringSubmatch(log.String())
		if (m != nil) != want {
			t.Errorf("told to listen on %q: %s", listen, log.String())
		}
		if m != nil {
			worker := &process{t: t, url: "http://" + m[1], token: p.token, log: log}
			for path, status := range map[string]int{"/healthz": 200, "/readyz": 200, "/metrics": 200, "/api/v1/hosts": 404} {
				if got, body := worker.get(path); got != status || path == "/metrics" && testkit.Series(t, body)["kloigos_job_slots"] != 8 {
					t.Errorf("%s: %d %.200s", path, got, body)
				}
			}
		}
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the worker ended with %v: %s", err, log.String())
		}
	}
}

// get asks for a path outside of the API's prefix.
func (p *process) get(path string) (status int, body string) {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, p.url+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+p.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}
