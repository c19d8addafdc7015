package speaker

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"kloigos/backend/api"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	for url, good := range map[string]bool{
		"https://kloigos.example.org": true, "https://kloigos.example.org/": true, "http://127.0.0.1:8080": true, "http://[::1]:1": true,
		"": false, "http://kloigos.example.org": false, "https://kloigos.example.org/x": false, "ftp://127.0.0.1": false, "https://a:b@kloigos.example.org": false,
	} {
		_, err := Load(func(name string) string { return map[string]string{"KLOIGOS_AGENT_URL": url}[name] })
		if (err == nil) != good {
			t.Errorf("%q: %v", url, err)
		}
	}
	_, err := Load(func(name string) string {
		return map[string]string{"KLOIGOS_AGENT_INTERVAL": "1h", "KLOIGOS_AGENT_CA_FILE": "/nowhere"}[name]
	})
	for _, part := range []string{"KLOIGOS_AGENT_URL", "KLOIGOS_AGENT_INTERVAL", "/nowhere"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not name %s", err, part)
		}
	}
}

// speakTo is an agent of a host of its own: the machine that runs the tests may have no machine-id.
func speakTo(t *testing.T, server *httptest.Server) *speaker {
	t.Helper()
	config := Config{URL: server.URL, State: t.TempDir(), Interval: 10 * time.Second, Version: "1.0", Root: t.TempDir()}
	for name, text := range map[string]string{
		"etc/machine-id": "0123456789abcdef0123456789abcdef\n", "proc/sys/kernel/random/boot_id": "01234567-89ab-cdef-0123-456789abcdef\n",
	} {
		file := filepath.Join(config.Root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	client, err := newClient(config)
	if err != nil {
		t.Fatal(err)
	}
	return &speaker{Config: config, log: slog.New(slog.DiscardHandler), client: client}
}

// The agent of a host without a proper machine-id says so, asks no backend, and keeps its token.
func TestAHostWithoutAMachineIDIsTold(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer server.Close()
	for name, text := range map[string]string{"none": "", "not set up": "uninitialized\n", "of another form": strings.Repeat("A", 32)} {
		s := speakTo(t, server)
		s.Root = t.TempDir()
		if err := os.Mkdir(filepath.Join(s.Root, "etc"), 0o700); err != nil {
			t.Fatal(err)
		}
		if text != "" {
			if err := os.WriteFile(filepath.Join(s.Root, "etc/machine-id"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		token := filepath.Join(s.State, tokenFile)
		if err := os.WriteFile(token, []byte("t"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.enrol(t.Context(), "t"); err == nil || !strings.Contains(err.Error(), "machine-id") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := os.Stat(token); err != nil || asked.Load() != 0 {
			t.Errorf("%s: the token: %v; %d requests", name, err, asked.Load())
		}
	}
}

// TestAStaleConnectionIsTriedOnceMore: the server takes a request on a connection that was used before, and hangs up.
func TestAStaleConnectionIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	var taken, connections atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if taken.Add(1) == 2 {
			panic(http.ErrAbortHandler)
		}
		_, _ = w.Write([]byte(`{"challenge":"c"}`))
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	s := speakTo(t, server)
	for range 2 {
		var answer api.AgentChallenge
		if err := s.ask(t.Context(), "/challenge", api.AgentAsk{}, &answer); err != nil || answer.Challenge != "c" {
			t.Fatalf("%+v, %v", answer, err)
		}
	}
	if taken.Load() != 3 || connections.Load() != 2 {
		t.Errorf("%d requests on %d connections", taken.Load(), connections.Load())
	}
}

// TestACredentialGoesNowhereElse: a redirect is not followed.
func TestACredentialGoesNowhereElse(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer other.Close()
	server := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	s := speakTo(t, server)
	s.credential, s.self = "kla_x", identity{Agent: "a", Seed: newSeed()}
	var refused *refusal
	if err := s.heartbeat(t.Context()); !errors.As(err, &refused) || refused.status != http.StatusTemporaryRedirect {
		t.Errorf("%v", err)
	}
}

// TestAPartMayTakeLongerThanAHeartbeat: on a slow line a part of a build takes longer than any other answer may.
func TestAPartMayTakeLongerThanAHeartbeat(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(askWithin + time.Second):
		case <-r.Context().Done():
		}
		_, _ = w.Write([]byte("{}"))
	}))
	defer server.Close()
	s, out := speakTo(t, server), struct{}{}
	if err := s.askAs(t.Context(), "c", buildPath, []byte("{}"), &out); err != nil {
		t.Errorf("a part: %v", err)
	}
	if err := s.askAs(t.Context(), "c", "/heartbeat", []byte("{}"), &out); !isTimeout(err) {
		t.Errorf("a heartbeat: %v", err)
	}
}

// TestATokenThatIsRefusedIsPutAside, so that it is not tried for ever, and the key is the one from before.
func TestATokenThatIsRefusedIsPutAside(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	defer server.Close()
	s := speakTo(t, server)
	before := identity{Agent: "a", Seed: newSeed()}
	if err := before.save(s.State); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.State, tokenFile), []byte("kle_x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.once(t.Context()); !isRefused(err) {
		t.Errorf("%v", err)
	}
	if loadToken(s.State) != "" {
		t.Error("the token is still there")
	}
	after, err := loadIdentity(s.State)
	if err != nil || string(after.Seed) != string(before.Seed) {
		t.Errorf("the key is another, %v", err)
	}
	info, err := os.Stat(filepath.Join(s.State, identityFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// TestBackoff: a backend that is away is asked again within the interval, one that refuses less and less, and never later than a
// host may be silent.
func TestBackoff(t *testing.T) {
	t.Parallel()
	s := &speaker{Config: Config{Interval: 10 * time.Second}}
	for failures := range 100 {
		if pause := s.after(errors.New("connection refused"), failures); pause > 11*time.Second || pause < 900*time.Millisecond {
			t.Errorf("away, %d failures: %v", failures, pause)
		}
		if pause := s.after(&refusal{http.StatusForbidden, "agent_quarantined"}, failures); pause > 55*time.Second {
			t.Errorf("refused, %d failures: %v", failures, pause)
		}
	}
}
