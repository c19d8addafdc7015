package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
	"kloigos/rig/demo"
)

// previous builds the last version that did not know the newest migration, so
// that an old backend meets a schema that has grown, and its web app.
// KLOIGOS_UPGRADE_BEFORE names an older migration (00034_dns.sql). Where there
// is no history (an archive, a shallow clone) it is "", and this version
// stands in. Files may be added to its tree.
func previous(t *testing.T, added map[string]string, packages ...string) (programs string) {
	t.Helper()
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "git", append([]string{"-C", root}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	grown, err := git("log", "-1", "--format=%H", "--diff-filter=A", "--", filepath.Join("crdb/migrations", os.Getenv("KLOIGOS_UPGRADE_BEFORE")))
	if err != nil || grown == "" {
		return ""
	}
	tree := t.TempDir()
	archive := filepath.Join(tree, "tree.tar")
	if _, err := git("archive", "--output="+archive, grown+"^"); err != nil {
		return ""
	}
	if said, err := exec.CommandContext(t.Context(), "tar", "-C", tree, "-xf", archive).CombinedOutput(); err != nil {
		t.Fatalf("unpack the version before %s: %v\n%s", grown, err, said)
	}
	for name, text := range added {
		file := filepath.Join(tree, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return build(t, tree, packages...)
}

const root = "../../.."

// build makes programs of a source tree and returns their directory. Without paths in them the compiler knows the packages of the
// last time again.
func build(t *testing.T, tree string, packages ...string) string {
	t.Helper()
	into := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"build", "-trimpath", "-buildvcs=false", "-o", into + "/"}, packages...)...)
	cmd.Dir = tree
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s of %s: %v\n%s", packages, tree, err, said)
	}
	return into
}

// upgrade is an installation of two backends and two web apps behind HAProxy,
// of two versions.
type upgrade struct {
	t        *testing.T
	old, new string // directories of programs; "" for none: this one
	env      []string
	proxy    demo.Proxy
	backends []*node
	webapps  []*node
	api      *client.Client
	token    string // of a session
	http     counted
	ssh      *site.SSHServer
	browser  *browser
}

// node is one process, a backend or a web app.
type node struct {
	name  string
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

// command is the backend of the old or of this version.
func (u *upgrade) command(old bool, listen string, args ...string) *exec.Cmd {
	cmd := program(u.t, u.env, args...)
	if old && u.old != "" {
		cmd.Path = filepath.Join(u.old, "kloigos-backend")
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
	return u.start("backend "+listen, u.command(old, listen, "serve"), "http://"+listen+"/readyz")
}

// show starts a web app and waits until it is ready.
func (u *upgrade) show(old bool, listen string) *node {
	u.t.Helper()
	programs := u.new
	if old && u.old != "" {
		programs = u.old
	}
	cmd := exec.CommandContext(u.t.Context(), filepath.Join(programs, "kloigos-webapp"))
	cmd.Env = []string{"KLOIGOS_WEB_LISTEN=" + listen, "KLOIGOS_API_URL=http://" + u.proxy.Internal, "KLOIGOS_WEB_TRUSTED_PROXIES=127.0.0.1"}
	return u.start("web app "+listen, cmd, "http://"+listen+"/web/healthz")
}

func (u *upgrade) start(name string, cmd *exec.Cmd, ready string) *node {
	u.t.Helper()
	n := &node{name: name, cmd: cmd, log: &lockedBuffer{}, ended: make(chan struct{})}
	n.cmd.Stdout, n.cmd.Stderr = n.log, n.log
	if err := n.cmd.Start(); err != nil {
		u.t.Fatal(err)
	}
	go func() { defer close(n.ended); _ = n.cmd.Wait() }()
	u.t.Cleanup(func() { u.stop(n) })
	eventually(u.t, ready, func() bool {
		resp, err := http.Get(ready)
		if err != nil {
			return false
		}
		defer func() { _ = resp.Body.Close() }()
		return resp.StatusCode == http.StatusOK
	})
	return n
}

// stop asks a process to stop, as a service manager does, and waits.
func (u *upgrade) stop(n *node) {
	u.t.Helper()
	_ = n.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
	case <-time.After(time.Minute):
		_ = n.cmd.Process.Kill()
		u.t.Errorf("the %s did not stop:\n%s", n.name, n.log.String())
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
	u := &upgrade{t: t, old: previous(t, nil, "./backend/cmd/kloigos-backend", "./webapp/cmd/kloigos-webapp"), new: build(t, root, "./webapp/cmd/kloigos-webapp"), ssh: site.NewSSHServer(t)}
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
	ports, err := demo.FreePorts(0, 6)
	if err != nil {
		t.Fatal(err)
	}
	certificates, err := demo.MakeCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	address := func(n int) string { return fmt.Sprintf("127.0.0.1:%d", ports[n]) }
	u.proxy = demo.Proxy{
		Listen: address(0), Internal: address(1), Bundle: certificates.Bundle,
		Backends: []string{address(2), address(3)}, Webapps: []string{address(4), address(5)},
	}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := u.proxy.Write(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	for _, listen := range u.proxy.Backends {
		u.backends = append(u.backends, u.serve(true, listen))
	}
	for _, listen := range u.proxy.Webapps {
		u.webapps = append(u.webapps, u.show(true, listen))
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
	u.browser = newBrowser(t, "https://"+u.proxy.Listen, certificates.CA, session.Token)
	eventually(t, "the web apps", func() bool { return u.browser.get(t.Context(), "/hosts") == http.StatusOK })
	u.http.failed.Store(0)
	u.http.met = func(method, path string, status int, err error) { t.Logf("%s %s: %d %v", method, path, status, err) }
	return u
}
