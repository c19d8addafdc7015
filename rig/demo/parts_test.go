package demo_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kloigos/rig/demo"
)

// holdEnv makes this test binary a demo that starts one process and waits to be killed.
const holdEnv = "KLOIGOS_DEMO_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdEnv); dir != "" {
		process, err := demo.NewGroup(dir).Start("sleeper", "/bin/sleep", nil, "300")
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(process.PID)
		select {}
	}
	os.Exit(m.Run())
}

func TestOriginServesBothAndSurvivesABackend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificates, err := demo.MakeCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, second, web := named(t, "backend-1"), named(t, "backend-2"), named(t, "webapp")
	ports, err := demo.FreePorts(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	address := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	proxy := demo.Proxy{
		Listen: fmt.Sprintf("127.0.0.1:%d", ports[0]), Internal: fmt.Sprintf("127.0.0.1:%d", ports[1]), Bundle: certificates.Bundle,
		Backends: []string{address(first), address(second)}, Webapps: []string{address(web)},
	}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := proxy.Write(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	group := demo.NewGroup(dir)
	t.Cleanup(func() {
		if err := group.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := group.Start("haproxy", "/usr/sbin/haproxy", nil, "-db", "-f", config); err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificates.CA)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}}}
	get := func(path string) (string, http.Header) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+proxy.Listen+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Forwarded", "for=192.0.2.66")
		request.Header.Set("X-Forwarded-Host", "evil.example")
		deadline := time.Now().Add(10 * time.Second)
		for {
			response, err := client.Do(request)
			if err == nil && response.StatusCode == http.StatusOK {
				body, _ := io.ReadAll(response.Body)
				_ = response.Body.Close()
				return string(body), response.Header
			}
			if err == nil {
				_ = response.Body.Close()
				err = errors.New(response.Status)
			}
			if time.Now().After(deadline) {
				t.Fatalf("GET %s: %v", path, err)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	for path, want := range map[string]string{
		"/api/v1/hosts": "backend", "/readyz": "backend", "/docs": "backend", "/": "webapp", "/hosts/h1": "webapp", "/apis": "webapp",
	} {
		got, header := get(path)
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s went to %s, want %s", path, got, want)
		}
		if header.Get("Saw-Forwarded") != "for=127.0.0.1;proto=https" || header.Get("Saw-Host") != "" {
			t.Errorf("%s: the server saw Forwarded %q, X-Forwarded-Host %q", path, header.Get("Saw-Forwarded"), header.Get("Saw-Host"))
		}
	}
	first.CloseClientConnections()
	first.Close()
	for range 20 {
		if got, _ := get("/api/v1/hosts"); got != "backend-2" {
			t.Errorf("with one backend gone, %q answers", got)
		}
	}
}

// TestABackendThatStopsKeepsItsRequests: it gets nothing new, and what it has begun is not cut off, which for a write
// would mean that nobody knows whether it was done.
func TestABackendThatStopsKeepsItsRequests(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificates, err := demo.MakeCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	var stopping atomic.Bool
	var told atomic.Int64
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/readyz" && stopping.Load():
			told.Add(1)
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path == "/api/slow":
			close(begun)
			<-goOn
			_, _ = io.WriteString(w, "done")
		default:
			_, _ = io.WriteString(w, "backend-1")
		}
	}))
	t.Cleanup(first.Close)
	letGo := sync.OnceFunc(func() { close(goOn) })
	t.Cleanup(letGo) // else a test that fails waits for the request for ever
	second := named(t, "backend-2")
	ports, err := demo.FreePorts(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	proxy := demo.Proxy{
		Listen: fmt.Sprintf("127.0.0.1:%d", ports[0]), Internal: fmt.Sprintf("127.0.0.1:%d", ports[1]), Bundle: certificates.Bundle,
		Backends: []string{first.Listener.Addr().String(), second.Listener.Addr().String()}, Webapps: []string{second.Listener.Addr().String()},
	}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := proxy.Write(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	group := demo.NewGroup(dir)
	t.Cleanup(func() {
		if err := group.Stop(); err != nil {
			t.Error(err)
		}
	})
	if _, err := group.Start("haproxy", "/usr/sbin/haproxy", nil, "-db", "-f", config); err != nil {
		t.Fatal(err)
	}
	ask := func(method, path string) (string, error) {
		request, err := http.NewRequestWithContext(t.Context(), method, "http://"+proxy.Internal+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Close = true
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return "", err
		}
		defer func() { _ = response.Body.Close() }()
		body, err := io.ReadAll(response.Body)
		return fmt.Sprint(response.StatusCode, " ", string(body)), err
	}
	answers := func(want string) bool { got, err := ask(http.MethodGet, "/api"); return err == nil && got == want }
	await := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s", what)
			}
		}
	}
	await("both", func() bool { return answers("200 backend-1") })
	slow := make(chan string, 1)
	go func() { // asked until the first one gets it
		for {
			got, err := ask(http.MethodPost, "/api/slow")
			if err != nil || got != "200 backend-2" {
				slow <- fmt.Sprint(got, err)
				return
			}
		}
	}()
	select {
	case <-begun:
	case got := <-slow:
		t.Fatalf("no backend was asked: %s", got)
	}
	stopping.Store(true)
	await("the proxy to have asked often enough", func() bool { return told.Load() >= 4 }) // two would do
	for range 20 {
		if !answers("200 backend-2") {
			t.Error("the one that stops got something new")
		}
	}
	letGo()
	if got := <-slow; got != "200 done<nil>" {
		t.Errorf("the request that was under way ended with %q", got)
	}
}

// TestTheProxyTellsWhichServersAnswer, in the words that the alerts on web apps ask for, and with fewer files than it
// wants.
func TestTheProxyTellsWhichServersAnswer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificates, err := demo.MakeCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	ports, err := demo.FreePorts(0, 4)
	if err != nil {
		t.Fatal(err)
	}
	address := func(n int) string { return fmt.Sprintf("127.0.0.1:%d", ports[n]) }
	web := named(t, "webapp")
	proxy := demo.Proxy{
		Listen: address(0), Internal: address(1), Metrics: address(2), Bundle: certificates.Bundle,
		Backends: []string{address(3)}, Webapps: []string{web.Listener.Addr().String(), address(3)}, // where nobody listens
	}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := proxy.Write(t.Context(), config); err != nil {
		t.Fatal(err)
	}
	group := demo.NewGroup(dir)
	t.Cleanup(func() {
		if err := group.Stop(); err != nil {
			t.Error(err)
		}
	})
	haproxy, err := group.Start("haproxy", "/bin/sh", nil, "-c", "ulimit -n 4096; exec /usr/sbin/haproxy -db -f "+config)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) (status int, body string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+proxy.Metrics+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err.Error()
		}
		defer func() { _ = response.Body.Close() }()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			return 0, err.Error()
		}
		return response.StatusCode, string(text)
	}
	want := []string{
		`haproxy_server_status{proxy="webapps",server="webapp-1",state="UP"} 1`, `haproxy_server_status{proxy="webapps",server="webapp-2",state="UP"} 0`,
		`haproxy_server_status{proxy="backends",server="backend-1",state="UP"} 0`,
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		_, body := ask("/metrics")
		if !slices.ContainsFunc(want, func(line string) bool { return !strings.Contains(body, line+"\n") }) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("HAProxy tells otherwise:\n%.2000s\n%s", body, haproxy.Tail())
		}
	}
	if status, _ := ask("/stats"); status != http.StatusForbidden {
		t.Errorf("anything else is answered with %d", status)
	}
}

// TestProxyOfAnyNumber: as many servers as were asked for, each of them checked, none of them bound to a client.
func TestProxyOfAnyNumber(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certificates, err := demo.MakeCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	proxy := demo.Proxy{Listen: "127.0.0.1:1", Internal: "127.0.0.1:2", Bundle: certificates.Bundle}
	for n := range 5 {
		proxy.Backends = append(proxy.Backends, fmt.Sprintf("127.0.0.1:%d", 100+n))
	}
	for n := range 3 {
		proxy.Webapps = append(proxy.Webapps, fmt.Sprintf("127.0.0.1:%d", 200+n))
	}
	config := filepath.Join(dir, "haproxy.cfg")
	if err := proxy.Write(t.Context(), config); err != nil { // HAProxy itself has looked at it
		t.Fatal(err)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range append(proxy.Backends, proxy.Webapps...) {
		if !strings.Contains(string(text), address+" check\n") {
			t.Errorf("%s is not there, or not checked", address)
		}
	}
	for _, must := range []string{"server backend-5 127.0.0.1:104 check", "server webapp-3 127.0.0.1:202 check", "httpchk GET /readyz", "httpchk GET /web/healthz"} {
		if !strings.Contains(string(text), must) {
			t.Errorf("%q is not there", must)
		}
	}
	for line := range strings.Lines(string(text)) {
		if word := strings.Fields(line); len(word) > 0 && (word[0] == "cookie" || word[0] == "stick" || word[0] == "stick-table") {
			t.Errorf("clients are bound to a server: %s", line)
		}
	}
}

// TestDemosOfImpossibleSizes are refused before anything is started.
func TestDemosOfImpossibleSizes(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]demo.Options{
		"17 backends":  {Backends: 17},
		"-1 web apps":  {Webapps: -1},
		"at least two": {Backends: 1, Check: true},
	} {
		options.Out, options.Dir, options.SkipPackages = io.Discard, filepath.Join(t.TempDir(), "demo"), true
		if _, err := demo.Up(t.Context(), options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
		if _, err := os.Stat(options.Dir); err == nil {
			t.Error("something was made")
		}
	}
}

// named is a server that says its name and what it saw.
func named(t *testing.T, name string) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Saw-Forwarded", r.Header.Get("Forwarded"))
		w.Header().Set("Saw-Host", r.Header.Get("X-Forwarded-Host"))
		_, _ = io.WriteString(w, name)
	}))
	t.Cleanup(server.Close)
	return server
}

func TestProxyRefusesABrokenConfiguration(t *testing.T) {
	t.Parallel()
	err := demo.Proxy{Listen: "127.0.0.1:1", Internal: "127.0.0.1:2", Bundle: "/nonexistent.pem"}.
		Write(t.Context(), filepath.Join(t.TempDir(), "haproxy.cfg"))
	if err == nil || !strings.Contains(err.Error(), "nonexistent.pem") {
		t.Errorf("the error is %v", err)
	}
}

func TestGroupStopsInOrderAndKillsTheStubborn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	group := demo.NewGroup(dir)
	gentle, err := group.Start("gentle", "/bin/sh", nil, "-c", "trap 'echo stopped; exit 0' TERM; echo ready; while :; do sleep 0.05; done")
	if err != nil {
		t.Fatal(err)
	}
	short, err := group.Start("short", "/bin/sh", nil, "-c", "echo last words; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-short.Done():
		if !strings.Contains(short.Tail(), "last words") {
			t.Errorf("it ended, saying %q", short.Tail())
		}
	case <-time.After(10 * time.Second):
		t.Error("nobody told of the process that ended")
	}
	for until := time.Now().Add(20 * time.Second); !strings.Contains(gentle.Tail(), "ready") && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	if err := group.Stop(); err != nil {
		t.Error(err)
	}
	if !gentle.Ended() || !strings.Contains(gentle.Tail(), "stopped") {
		t.Errorf("ended %v, saying %q", gentle.Ended(), gentle.Tail())
	}
}

func TestProcessesEndWithAKilledDemo(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	said, enough := context.WithTimeout(t.Context(), 30*time.Second)
	defer enough()
	parent := exec.CommandContext(said, self)
	parent.Env = append(os.Environ(), holdEnv+"="+t.TempDir())
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(line, &pid); err != nil {
		t.Fatalf("the demo said %q", line)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	deadline := time.Now().Add(10 * time.Second)
	for running(pid) {
		if time.Now().After(deadline) {
			t.Fatal("the process outlived the demo")
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// running: not gone, and not a zombie that nobody has collected yet.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func TestFreePortsPrefersTheWantedOne(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = taken.Close() }()
	busy := taken.Addr().(*net.TCPAddr).Port
	ports, err := demo.FreePorts(busy, 3)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{busy: true}
	for _, port := range ports {
		if seen[port] {
			t.Errorf("port %d twice in %v, or taken", port, ports)
		}
		seen[port] = true
	}
}

func TestStagesKeepAHostFromSteeringTheTerminal(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	stages := demo.NewStages(&out)
	err := stages.Do("Probe", func() error {
		_, _ = io.WriteString(stages.Writer(), "ok\x1b[2J\nhalf")
		return errors.New("boom")
	})
	if err == nil || err.Error() != "probe: boom" {
		t.Errorf("error is %v", err)
	}
	if got := out.String(); strings.ContainsRune(got, 0x1b) || !strings.Contains(got, "    ok") || !strings.Contains(got, "FAILED") {
		t.Errorf("shown:\n%s", got)
	}
}
