package demo

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// said is what the demo shows, readable while it goes on.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// TestWhateverIsKilledRunsAgain: the demo without its host, one of each, so that nothing but the new process can answer.
func TestWhateverIsKilledRunsAgain(t *testing.T) {
	t.Parallel()
	// Not t.TempDir: its parents are closed to the user that PostgreSQL runs as when root runs the tests.
	dir, err := os.MkdirTemp("", "kloigos-demo-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	var shown said
	i := &Installation{stages: NewStages(&shown), options: Options{Out: &shown, Dir: dir, Backends: 1, Webapps: 1}}
	if err := i.prepare(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := i.Down(); err != nil {
			t.Error(err)
		}
	})
	for _, stage := range []func(context.Context) error{i.build, i.startDatabase, i.initialize, i.startControlPlane, i.logIn} {
		if err := stage(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	authority, err := os.ReadFile(i.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(authority)
	browser := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
	shows := func() bool {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, i.Web+"/login", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := browser.Do(request)
		if err != nil {
			return false
		}
		return response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}
	parts := i.parts() // before they are kept, which changes them
	if len(parts) != 4 {
		t.Fatalf("%d parts are kept", len(parts))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- i.Wait(ctx) }()
	await := func(what string, holds func() bool) {
		t.Helper()
		for end := time.Now().Add(40 * time.Second); !holds(); time.Sleep(50 * time.Millisecond) {
			select {
			case err := <-ended:
				t.Fatalf("the demo ended, waiting for %s: %v\n%s", what, err, &shown)
			default:
			}
			if time.Now().After(end) {
				t.Fatalf("waited in vain for %s\n%s", what, &shown)
			}
		}
	}
	for _, p := range parts {
		if err := syscall.Kill(p.now.pid, syscall.SIGKILL); err != nil {
			t.Fatalf("kill %s: %v", p.name, err)
		}
		await(p.name+" to run again", func() bool { return strings.Contains(shown.String(), p.name+" runs again") })
		await("the origin after the end of "+p.name, func() bool {
			_, err := i.Client.GetSystem(t.Context())
			return err == nil && shows()
		})
	}
	// All at once: a backend then ends anew at each start until its database is back.
	if err := syscall.Kill(i.database.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for _, p := range i.group.processes() {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}
	await("the origin after the end of all at once", func() bool {
		_, err := i.Client.GetSystem(t.Context())
		return err == nil && shows()
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestWhatDoesNotLastEndsTheDemo, with what it said at last.
func TestWhatDoesNotLastEndsTheDemo(t *testing.T) {
	t.Parallel()
	var shown said
	i := &Installation{stages: NewStages(&shown), group: NewGroup(t.TempDir())}
	short, err := i.group.Start("short", "/bin/sh", nil, "-c", "echo last words; exit 3")
	if err != nil {
		t.Fatal(err)
	}
	err = i.keep(t.Context(), i.processPart(&short), time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "short ended 6 times") || !strings.Contains(err.Error(), "last words") {
		t.Errorf("the error is %v", err)
	}
	if n := strings.Count(shown.String(), "starting it again"); n != 5 {
		t.Errorf("started again %d times\n%s", n, &shown)
	}
}
