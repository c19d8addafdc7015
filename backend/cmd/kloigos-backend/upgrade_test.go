package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
	"kloigos/inventory/demo"
)

// previous builds the last version that did not know the newest migration, so
// that an old backend meets a schema that has grown. Where there is no history
// (an archive, a shallow clone) it is "", and this version stands in.
func previous(t *testing.T) (program string) {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", "../../.."}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	grown, err := git("log", "-1", "--format=%H", "--diff-filter=A", "--", "crdb/migrations")
	if err != nil || grown == "" {
		return ""
	}
	tree, program := t.TempDir(), filepath.Join(t.TempDir(), "kloigos-backend")
	archive := filepath.Join(tree, "tree.tar")
	if _, err := git("archive", "--output="+archive, grown+"^"); err != nil {
		return ""
	}
	for _, args := range [][]string{{"tar", "-xf", archive}, {"go", "build", "-buildvcs=false", "-o", program, "./backend/cmd/kloigos-backend"}} {
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = tree
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build the version before %s: %v\n%s", grown, err, said)
		}
	}
	return program
}

// upgrade is an installation of two backends behind HAProxy, of two versions.
type upgrade struct {
	t     *testing.T
	old   string // program; "" for this one
	env   []string
	proxy demo.Proxy
	nodes []*node
	api   *client.Client
	token string // of a session
	http  counted
	ssh   *site.SSHServer
}

// node is one backend process.
type node struct {
	cmd   *exec.Cmd
	log   *lockedBuffer
	ended chan struct{}
}

// counted counts what the client meets, its own retries included.
type counted struct {
	http.RoundTripper
	met              func(method, path string, status int, err error)
	requests, failed atomic.Int64
}

func (c *counted) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	resp, err := c.RoundTripper.RoundTrip(r)
	if r.Context().Err() == nil && (err != nil || resp.StatusCode >= 500) {
		c.failed.Add(1)
		status := 0
		if resp != nil {
			status = resp.StatusCode
		}
		c.met(r.Method, r.URL.Path, status, err)
	}
	return resp, err
}

// command is a program of the old or of this version.
func (u *upgrade) command(old bool, listen string, args ...string) *exec.Cmd {
	cmd := program(u.t, u.env, args...)
	if old && u.old != "" {
		cmd.Path = u.old
	}
	cmd.Env = append(cmd.Env, "PATH="+standInPath(u.t), "KLOIGOS_LISTEN="+listen)
	return cmd
}

// standInPath leads to the stand-in for Ansible first.
func standInPath(t *testing.T) string {
	t.Helper()
	here, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	return here + ":" + os.Getenv("PATH")
}

// serve starts a backend and waits until it is ready.
func (u *upgrade) serve(old bool, listen string) *node {
	u.t.Helper()
	n := &node{cmd: u.command(old, listen, "serve"), log: &lockedBuffer{}, ended: make(chan struct{})}
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	if err := n.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() { defer close(n.ended); _ = n.cmd.Wait() }()
	u.t.Cleanup(func() { u.stop(n) })
	eventually(u.t, "a backend to be ready", func() bool {
		resp, err := http.Get("http://" + listen + "/readyz")
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
	return n
}

// stop asks a backend to stop, as a service manager does, and waits.
func (u *upgrade) stop(n *node) {
	u.t.Helper()
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(time.Minute):
		_ = n.cmd.Process.Kill()
		u.t.Errorf("a backend did not stop:\n%s", n.log.String())
	}
}

func newUpgrade(t *testing.T) *upgrade {
	t.Helper()
	haproxy, err := exec.LookPath("haproxy")
	if err != nil {
		if haproxy, err = exec.LookPath("/usr/sbin/haproxy"); err != nil {
			t.Skip("haproxy is not installed")
		}
	}
	u := &upgrade{t: t, old: previous(t), ssh: site.NewSSHServer(t)}
	if u.old == "" {
		t.Log("there is no history to build an older version from: both are this one")
	}
	u.http.RoundTripper = http.DefaultTransport
	u.http.met = func(string, string, int, error) {} // the proxy takes a moment
	dir := t.TempDir()
	u.env = []string{
		"KLOIGOS_DATABASE_URL=" + testkit.DatabaseURL(t), "KLOIGOS_KEYSET_FILE=" + filepath.Join(dir, "keyset.json"),
		"KLOIGOS_ALLOW_LOOPBACK_HOSTS=true", "KLOIGOS_TRUSTED_PROXIES=127.0.0.1", "KLOIGOS_LEASE=5s", "KLOIGOS_WORKERS=4", "KLOIGOS_ROLE=api,worker",
	}
	said, err := u.command(true, "127.0.0.1:0", "init").CombinedOutput()
	password := regexp.MustCompile(`(?m)^password: (\S+)$`).FindSubmatch(said)
	if err != nil || password == nil {
		t.Fatalf("init: %v\n%s", err, said)
	}
	ports, err := demo.FreePorts(t.Context(), 0, 4)
	if err != nil {
		t.Fatal(err)
	}
	certificates, err := demo.MakeCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	address := func(n int) string { return fmt.Sprintf("127.0.0.1:%d", ports[n]) }
	u.proxy = demo.Proxy{Listen: address(0), Internal: address(1), Bundle: certificates.Bundle, Backends: []string{address(2), address(3)}, Webapps: []string{"127.0.0.1:9"}}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := u.proxy.Write(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for _, listen := range u.proxy.Backends {
		u.nodes = append(u.nodes, u.serve(true, listen))
	}
	group := demo.NewGroup(dir)
	if _, err := group.Start("haproxy", haproxy, nil, "-db", "-f", config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := group.Stop(); err != nil {
			t.Error(err)
		}
	})
	// Plain, on loopback: what is tried here is the balancing, not TLS.
	if u.api, err = client.New(client.Config{BaseURL: "http://" + u.proxy.Internal, Transport: &u.http}); err != nil {
		t.Fatal(err)
	}
	var session api.Session
	eventually(t, "the proxy", func() bool {
		session, err = u.api.CreateSession(t.Context(), api.Login{Account: "admin", Password: string(password[1])})
		return err == nil
	})
	u.api, u.token = u.api.WithToken(session.Token), session.Token
	u.http.failed.Store(0)
	u.http.met = func(method, path string, status int, err error) { t.Logf("%s %s: %d %v", method, path, status, err) }
	return u
}

// acknowledged is what a client was told: a host and the job that probes it.
type acknowledged struct{ name, job string }

// TestRollingUpgrade replaces backends of the version before by this one, one
// after the other, while hosts are registered, jobs run and their logs are
// followed: no job is lost or done by halves, no request fails that is asked
// again with its key, and no stream misses or repeats an entry.
func TestRollingUpgrade(t *testing.T) {
	u := newUpgrade(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	loading, enough := context.WithCancel(ctx)
	var load, streams sync.WaitGroup
	var mu sync.Mutex
	var all []acknowledged
	count := func() int { mu.Lock(); defer mu.Unlock(); return len(all) }
	for worker := range 2 {
		load.Go(func() {
			for n := 0; loading.Err() == nil; n++ {
				name := fmt.Sprintf("h%d-%d", worker, n)
				_, job, err := u.api.RegisterHost(ctx, api.RegisterHost{Name: name, Address: "127.0.0.1", Port: u.ssh.Port, TrustOnFirstUse: true})
				if err != nil {
					t.Errorf("register %s: %v", name, err)
					return
				}
				mu.Lock()
				all = append(all, acknowledged{name, job})
				mu.Unlock()
				streams.Go(func() { u.follow(ctx, job) })
				select {
				case <-loading.Done():
				case <-time.After(500 * time.Millisecond):
				}
			}
		})
	}
	load.Go(func() { // who only looks meets nothing of it
		for loading.Err() == nil {
			if _, err := u.api.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: 1}}); err != nil {
				t.Errorf("list jobs: %v", err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	})
	eventually(t, "some load", func() bool { return count() >= 4 })
	// First the schema grows under the old backends, then they go, one by one.
	if said, err := u.command(false, "127.0.0.1:0", "init").CombinedOutput(); err != nil {
		t.Errorf("init of the new version: %v\n%s", err, said)
	}
	for n, listen := range u.proxy.Backends {
		before := count()
		eventually(t, "load on both", func() bool { return count() >= before+3 })
		from := time.Now()
		u.stop(u.nodes[n])
		stopped := time.Since(from)
		u.nodes[n] = u.serve(false, listen)
		t.Logf("backend %d stopped in %s, its successor was ready %s after", n+1, stopped.Round(time.Millisecond), (time.Since(from) - stopped).Round(time.Millisecond))
	}
	before := count()
	eventually(t, "load on the new version", func() bool { return count() >= before+3 })
	enough()
	load.Wait()
	streams.Wait()
	u.nothingIsLost(ctx, all)
	u.countedWell(len(all))
	// What is refused in the middle of a change is asked again by the client. It is seldom: the load balancer is told first.
	if failed, requests := u.http.failed.Load(), u.http.requests.Load(); failed*20 > requests {
		t.Errorf("%d of %d requests had to be asked again", failed, requests)
	}
	t.Logf("%d hosts, %d requests, of which %d had to be asked again", len(all), u.http.requests.Load(), u.http.failed.Load())
}

// follow reads the log of a job to its end, over as many connections as it
// takes, and holds its sequence against 1, 2, 3, ...
func (u *upgrade) follow(ctx context.Context, job string) {
	next := int64(1)
	for event, err := range u.api.StreamJobLog(ctx, job, 0) {
		switch {
		case err != nil:
			u.t.Errorf("stream of %s: %v", job, err)
			return
		case event.Log != nil && event.Log.Sequence != next:
			u.t.Errorf("stream of %s: entry %d comes after %d", job, event.Log.Sequence, next-1)
			return
		case event.Log != nil:
			next++
		case event.End && next < 20:
			u.t.Errorf("stream of %s ended after %d entries", job, next-1)
		}
	}
}

// countedWell scrapes the backends of the new version, each by its own address.
func (u *upgrade) countedWell(jobs int) {
	u.t.Helper()
	var claims, plays float64
	for _, listen := range u.proxy.Backends {
		req, err := http.NewRequestWithContext(u.t.Context(), http.MethodGet, "http://"+listen+"/metrics", nil)
		if err != nil {
			u.t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+u.token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			u.t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			u.t.Fatalf("metrics: %s, %v", resp.Status, err)
		}
		series := testkit.Series(u.t, string(text))
		claims += series[`kloigos_job_claims_total{kind="host_probe"}`]
		plays += series[`kloigos_play_seconds_count{end="ok",kind="host_probe",playbook="host_probe"}`]
		for name, want := range map[string]float64{
			"kloigos_queue_known": 1, "kloigos_queue_paused": 0, "kloigos_job_slots": 4, "kloigos_jobs_running": 0,
			`kloigos_backends_alive{role="worker"}`: 2, `kloigos_backends_alive{role="reconciler"}`: 0,
		} {
			if got, ok := series[name]; !ok || got != want {
				u.t.Errorf("%s: %s is %v (there: %v), want %v", listen, name, got, ok, want)
			}
		}
		if series["kloigos_memory_available_bytes"] <= 0 || series["process_resident_memory_bytes"] <= 0 {
			u.t.Errorf("%s tells nothing of memory", listen)
		}
	}
	if claims < 3 || plays < 3 || claims > float64(2*jobs) {
		u.t.Errorf("%v claims and %v plays of %d jobs", claims, plays, jobs)
	}
}

func (u *upgrade) nothingIsLost(ctx context.Context, all []acknowledged) {
	u.t.Helper()
	workers := map[string]int{}
	for _, a := range all {
		var job api.Job
		var err error
		eventually(u.t, "the end of "+a.job, func() bool {
			job, err = u.api.GetJob(ctx, a.job)
			return err == nil && job.FinishedAt != nil || errors.Is(err, context.DeadlineExceeded)
		})
		if job.State != "succeeded" || job.Host != a.name {
			u.t.Errorf("job %s of %s is %s: %+v", a.job, a.name, job.State, job.Error)
		}
		workers[job.Worker]++
	}
	if len(workers) < 3 { // two of the old version, two of the new one
		u.t.Errorf("only %v did jobs: this test would show nothing", workers)
	}
	var names, want []string
	for host, err := range u.api.AllHosts(ctx, api.HostFilter{}) {
		if err != nil {
			u.t.Fatal(err)
		}
		names = append(names, host.Name)
	}
	jobs := 0
	for _, err := range u.api.AllJobs(ctx, api.JobFilter{}) {
		if err != nil {
			u.t.Fatal(err)
		}
		jobs++
	}
	for _, a := range all {
		want = append(want, a.name)
	}
	slices.Sort(names)
	slices.Sort(want)
	if !slices.Equal(names, want) || jobs != len(all) {
		u.t.Errorf("%d hosts and %d jobs were made; clients were told of %d", len(names), jobs, len(all))
	}
}
