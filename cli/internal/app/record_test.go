package app_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"kloigos/backend/api"
)

// recorder stands between the program and the API and notes which routes are
// called, and which requests lack what makes them safe.
type recorder struct {
	mu     sync.Mutex
	called map[string]int
	unsafe map[string]bool
	routes *http.ServeMux // finds the route of a request; it serves nothing
}

func newRecorder() *recorder {
	r := &recorder{called: map[string]int{}, unsafe: map[string]bool{}, routes: http.NewServeMux()}
	for _, route := range api.Routes {
		r.routes.Handle(route.Method+" "+api.Prefix+route.Path, named(route.ID))
	}
	return r
}

type named string

func (named) ServeHTTP(http.ResponseWriter, *http.Request) {}

func (r *recorder) note(req *http.Request) {
	handler, _ := r.routes.Handler(req)
	id, ok := handler.(named)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.called[string(id)]++
	// The API keeps no answer under a key where a password or a code is sent.
	passwords := slices.Contains([]string{"create-session", "set-password", "change-password", "confirm-session", "enrol-second-factor", "confirm-second-factor", "renew-recovery-codes", "remove-second-factor"}, string(id))
	if req.Method == http.MethodPost && !passwords && req.Header.Get("Idempotency-Key") == "" {
		r.unsafe[string(id)+" has no idempotency key"] = true
	}
	if (req.Method == http.MethodPatch || id == "remove-host" || id == "remove-address") && req.Header.Get("If-Match") == "" {
		r.unsafe[string(id)+" has no If-Match"] = true
	}
}

// before serves what an API serves, over TLS too, and notes it.
func (r *recorder) before(t *testing.T, target string) (plain string, tls *httptest.Server) {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.FlushInterval = -1 // streams
	handler := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.note(req)
		proxy.ServeHTTP(w, req)
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	tls = httptest.NewTLSServer(handler)
	t.Cleanup(tls.Close)
	return server.URL, tls
}

// until waits until a route was called n times.
func (r *recorder) until(route string, n int) bool {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		r.mu.Lock()
		called := r.called[route]
		r.mu.Unlock()
		if called >= n {
			return true
		}
	}
	return false
}

func (r *recorder) count(route string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.called[route]
}

// merge adds what another recorder noted.
func (r *recorder) merge(other *recorder) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, n := range other.called {
		r.called[id] += n
	}
	for what := range other.unsafe {
		r.unsafe[what] = true
	}
}

// check holds that every route was called by some script, safely.
func (r *recorder) check(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var never []string
	for _, route := range api.Routes {
		if r.called[route.ID] == 0 && noCommand[route.ID] == "" && notInScripts[route.ID] == "" {
			never = append(never, route.ID)
		}
	}
	if len(never) > 0 {
		t.Errorf("no script has the program call: %s", strings.Join(never, ", "))
	}
	for what := range r.unsafe {
		t.Error(what)
	}
}
