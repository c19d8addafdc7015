package httpapi_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// wire stands between a backend and its database. Once told to, it cuts the
// connection on which the next COMMIT goes by: after the database has answered
// it, or before it has got it.
type wire struct {
	listener net.Listener
	database string
	cut      atomic.Int32 // how many COMMITs are still to be cut
	deliver  bool
	mu       sync.Mutex
	open     []net.Conn
}

// through returns a database URL that leads through a new wire.
func through(t *testing.T, database string, deliver bool) (*wire, string) {
	t.Helper()
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: l, database: database, deliver: deliver}
	u.Host = l.Addr().String()
	q := u.Query()
	q.Del("host")
	q.Del("port")
	q.Set("sslmode", "disable") // the wire must read what goes by
	u.RawQuery = q.Encode()
	go w.run()
	t.Cleanup(w.down)
	return w, u.String()
}

func (w *wire) run() {
	for {
		client, err := w.listener.Accept()
		if err != nil {
			return
		}
		server, err := testkit.DialServer(w.database)
		if err != nil {
			_ = client.Close()
			continue
		}
		w.mu.Lock()
		w.open = append(w.open, client, server)
		w.mu.Unlock()
		var hush atomic.Bool
		go w.requests(client, server, &hush)
		go w.answers(client, server, &hush)
	}
}

func (w *wire) requests(client, server net.Conn, hush *atomic.Bool) {
	defer func() { _, _ = client.Close(), server.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if err != nil {
			return
		}
		if testkit.Commits(buf[:n]) && w.cut.Add(-1) >= 0 {
			if !w.deliver {
				return
			}
			hush.Store(true)
		}
		if _, err := server.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (w *wire) answers(client, server net.Conn, hush *atomic.Bool) {
	defer func() { _, _ = client.Close(), server.Close() }()
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if err != nil || hush.Load() {
			return
		}
		if _, err := client.Write(buf[:n]); err != nil {
			return
		}
	}
}

func (w *wire) down() {
	_ = w.listener.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, c := range w.open {
		_ = c.Close()
	}
	w.open = nil
}

// behind starts a backend that reaches the database through a wire.
func (b *backend) behind(t *testing.T, deliver bool) (*wire, string) {
	t.Helper()
	w, database := through(t, b.database, deliver)
	db, err := store.Open(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	cfg := b.cfg2()
	cfg.DB, cfg.Sessions = db, intent.NewSessions(db)
	cfg.Intents = intent.New(db, intent.Config{Targets: domain.TargetPolicy{AllowLoopback: true}})
	_, at := b.serve(cfg)
	return w, at + api.Prefix
}

// The answer to a COMMIT is lost, though it was carried out: with a key the
// client gets what was made; without one it is told that it is unknown.
func TestLostCommitThatWasCarriedOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, at := b.behind(t, true)
	w.cut.Store(1)
	a := b.mustDo(http.MethodPost, at+"/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 202, "Idempotency-Key", "k")
	if w.cut.Load() > 0 {
		t.Fatal("no COMMIT was cut")
	}
	again := b.mustDo(http.MethodPost, at+"/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 202, "Idempotency-Key", "k")
	if decode[api.Host](t, a).ID != decode[api.Host](t, again).ID || a.header.Get("Location") != again.header.Get("Location") {
		t.Errorf("%s\nthen %s", a.body, again.body)
	}
	w.cut.Store(1)
	unknown := b.mustDo(http.MethodPost, at+"/hosts", api.RegisterHost{Name: "h2", Address: "127.0.0.1"}, 503)
	if p := unknown.problem(t); p.Code != "commit_unknown" || unknown.header.Get("Retry-After") == "" {
		t.Errorf("problem %+v, %v", p, unknown.header)
	}
	var hosts, jobs int
	b.row(&hosts, "SELECT count(*) FROM hosts")
	b.row(&jobs, "SELECT count(*) FROM jobs")
	if hosts != 2 || jobs != 2 {
		t.Errorf("%d hosts, %d jobs; want 2 of each", hosts, jobs)
	}
}

// The connection breaks before the COMMIT arrives: nothing is made, and the
// same key can be used again.
func TestLostCommitThatWasNotCarriedOut(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, at := b.behind(t, false)
	w.cut.Store(1)
	p := b.mustDo(http.MethodPost, at+"/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 503, "Idempotency-Key", "k").problem(t)
	if p.Code != "commit_unknown" {
		t.Errorf("code %q", p.Code)
	}
	b.mustDo(http.MethodPost, at+"/hosts", api.RegisterHost{Name: "h1", Address: "127.0.0.1"}, 202, "Idempotency-Key", "k")
	var hosts int
	b.row(&hosts, "SELECT count(*) FROM hosts")
	if hosts != 1 {
		t.Errorf("%d hosts", hosts)
	}
}

func TestDatabaseIsAway(t *testing.T) {
	t.Parallel()
	b := setup(t, failingCheck)
	w, at := b.behind(t, true)
	b.mustDo(http.MethodGet, at+"/hosts", nil, 200)
	metrics := strings.TrimSuffix(at, api.Prefix) + "/metrics"
	stranger := decode[api.Token](t, b.mustDo(http.MethodPost, at+"/tokens", api.CreateToken{Name: "stranger", Days: 1}, 201))
	before := testkit.Series(t, string(b.mustDo(http.MethodGet, metrics, nil, 200).body))
	if _, keyset := before[`kloigos_ready{check="keyset"}`]; !keyset || before[`kloigos_ready{check="database"}`] != 1 {
		t.Errorf("ready: %v", before)
	}
	w.down()
	// A connection of the pool may break in the middle of the first request.
	b.do(http.MethodGet, at+"/hosts", nil)
	a := b.mustDo(http.MethodGet, at+"/hosts", nil, 503)
	if p := a.problem(t); p.Code != "unavailable" || a.header.Get("Retry-After") == "" {
		t.Errorf("problem %+v, %v", p, a.header)
	}
	site.Eventually(t, "it is not ready", func() bool { // it says so once what it found before is old
		return b.do(http.MethodGet, strings.TrimSuffix(at, api.Prefix)+"/readyz", nil).status == 503
	})
	b.mustDo(http.MethodGet, strings.TrimSuffix(at, api.Prefix)+"/healthz", nil, 200)
	// Who scraped before is still told, or nobody would hear of this; a stranger is not.
	b.mustDo(http.MethodGet, metrics, nil, 503, "Authorization", "Bearer "+stranger.Token)
	b.mustDo(http.MethodGet, metrics, nil, 401, "Authorization", "")
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		s := testkit.Series(t, string(b.mustDo(http.MethodGet, metrics, nil, 200).body))
		_, keyset := s[`kloigos_ready{check="keyset"}`]
		if s[`kloigos_ready{check="database"}`] == 0 && !keyset {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("ready: %v", s)
		}
	}
}

// A token that is taken back reads no metrics, whatever becomes of the database.
func TestAScraperThatWasRefusedIsForgotten(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w, at := b.behind(t, true)
	metrics := strings.TrimSuffix(at, api.Prefix) + "/metrics"
	b.mustDo(http.MethodGet, metrics, nil, 200)
	b.sql("DELETE FROM tokens")
	b.mustDo(http.MethodGet, metrics, nil, 401)
	w.down()
	b.do(http.MethodGet, metrics, nil)
	b.mustDo(http.MethodGet, metrics, nil, 503)
}

// What goes wrong inside stays inside: the client gets the id under which it
// stands in the log.
func TestInternalErrorsAreOpaque(t *testing.T) {
	t.Parallel()
	b := setup(t, func(c *httpapi.Config) {
		c.Contract = func(string) (bundle.Contract, bool) { panic(errors.New("hunter2")) }
	})
	b.sql("ALTER TABLE events RENAME TO elsewhere")
	for path, method := range map[string]string{"/events": http.MethodGet, "/playbooks/host_probe/versions": http.MethodPost} {
		body := any(nil)
		if method == http.MethodPost {
			body = "hello"
		}
		a := b.mustDo(method, path, body, 500, "Content-Type", "application/zstd")
		p := a.problem(t)
		if p.Code != "internal" || strings.Contains(string(a.body), "hunter2") || strings.Contains(string(a.body), "relation") || p.Errors != nil {
			t.Errorf("%s: %s", path, a.body)
		}
		if a.header.Get("X-Request-Id") != p.Instance || !strings.Contains(b.log.String(), p.Instance) {
			t.Errorf("%s: the log does not know %s", path, p.Instance)
		}
	}
	b.mustDo(http.MethodGet, "/whoami", nil, 200) // the server lives on
}

// A client that goes away in the middle of its request harms nobody.
func TestHalfARequest(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for range 20 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, "POST /api/v1/hosts HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{\"na")
		_ = conn.Close()
	}
	b.mustDo(http.MethodGet, "/whoami", nil, 200)
}
