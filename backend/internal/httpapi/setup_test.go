package httpapi_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/internal/app"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/config"
	kernel "kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
	"kloigos/backend/internal/worker"
)

// testJudge serves all tests, as one serves all uploads of a backend.
var testJudge = judge.New("ansible-playbook")

var update = flag.Bool("update", false, "write the golden files anew")

// backend is a real server on a real database of its own.
type backend struct {
	t         testing.TB
	db        *store.DB
	database  string
	intents   *intent.Intents
	signals   *queue.Signals
	server    *httpapi.Server
	url       string
	token     string // of the administrator
	workspace string // that requests name; "": none
	account   uuid.UUID
	log       *lockedBuffer
	cfg       httpapi.Config
}

func setup(t testing.TB, options ...func(*httpapi.Config)) *backend {
	t.Helper()
	url := testkit.MigratedURL(t)
	db, err := store.Open(t.Context(), url, store.WithTracer(sqlguard.Tracer(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	if testkit.Twice() {
		db.TryTwice()
	}
	b := &backend{t: t, db: db, database: url, signals: queue.NewSignals(), log: &lockedBuffer{}}
	b.seed()
	b.intents = intent.New(db, intent.Config{Targets: domain.TargetPolicy{AllowLoopback: true}})
	b.cfg = httpapi.Config{
		Roles: iam.Permissions(api.Permissions()),
		DB:    db, Intents: b.intents, Policies: onePolicy(t), Sessions: intent.NewSessions(db), Signals: b.signals, Version: "test", Contract: worker.Contract, Judge: testJudge,
		Log: slog.New(slog.NewTextHandler(b.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
	keys, err := secret.Create(filepath.Join(t.TempDir(), "keyset.json"))
	if err != nil {
		t.Fatal(err)
	}
	areas, err := app.NewAreas(app.Parts{DB: db.DB, Engine: kernel.Engine{DB: db.DB}, Keyset: keys, Version: "test", Config: config.Config{WebURL: webURL, IdentityNetworks: identityNetworks}})
	if err != nil {
		t.Fatal(err)
	}
	b.cfg.Kinds, b.cfg.Areas = areas.Kinds, areas.Routes
	for _, o := range options {
		o(&b.cfg)
	}
	b.server, b.url = b.serve(b.cfg)
	return b
}

// onePolicy has the name that stands for {name} in the routes of tests.
func onePolicy(t testing.TB) *reconcile.Registry {
	t.Helper()
	r, err := reconcile.NewRegistry(nil, reconcile.Policy{
		Name: "host_probe", Why: "a test", Interval: time.Hour, Timeout: time.Minute,
		Run: func(context.Context, reconcile.Item) (reconcile.Outcome, error) { return reconcile.Outcome{}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// serve starts one more backend on the same database.
func (b *backend) serve(cfg httpapi.Config) (*httpapi.Server, string) {
	b.t.Helper()
	server := httpapi.New(cfg)
	return server, b.listen(server)
}

// listen lets a server answer until the test ends.
func (b *backend) listen(server *httpapi.Server) (url string) {
	b.t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	b.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		// A client that is given a connection back while it opens another keeps that one, on which nothing was ever asked;
		// the server waits for its first request as long as for any.
		http.DefaultClient.CloseIdleConnections()
		if err := server.Shutdown(ctx); err != nil {
			b.t.Errorf("shutdown: %v", err)
		}
		if err := <-done; err != nil {
			b.t.Errorf("serve: %v", err)
		}
	})
	return "http://" + l.Addr().String()
}

// cfg2 is the configuration of a second backend: other parts of its own, the
// same database.
func (b *backend) cfg2() httpapi.Config {
	cfg := b.cfg
	cfg.Signals, cfg.Metrics, cfg.Sessions = nil, nil, intent.NewSessions(b.db)
	return cfg
}

// counter counts the statements that hold a text.
type counter struct {
	text string
	n    atomic.Int64
}

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	if strings.Contains(q.SQL, c.text) {
		c.n.Add(1)
	}
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// counting serves one more backend, whose statements that hold a text are
// counted.
func (b *backend) counting(text string) (url string, statements *counter) {
	b.t.Helper()
	statements = &counter{text: text}
	db, err := store.Open(b.t.Context(), b.database, store.WithTracer(statements))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(db.Close)
	cfg := b.cfg2()
	cfg.DB = db
	_, url = b.serve(cfg)
	return url, statements
}

// seed does what init does.
func (b *backend) seed() {
	b.t.Helper()
	ctx := b.t.Context()
	b.tx(func(tx *store.Tx) error {
		if err := tx.EnsureDefaultScopes(ctx); err != nil {
			return err
		}
		err := tx.InsertOrganizationKey(ctx, store.OrganizationKey{OrganizationID: domain.DefaultOrganization, PublicKey: sshKey, PrivateSealed: []byte("sealed")})
		if err != nil {
			return err
		}
		for _, j := range domain.JointTable {
			if j.Playbook == "" {
				continue
			}
			packed := testBundle(b.t, j.Playbook)
			v := store.PlaybookVersion{
				Playbook: j.Playbook, SHA256: packed.SHA256, SizeBytes: int64(len(packed.Content)), DecodedBytes: packed.DecodedBytes,
				Files: packed.Files, Seeded: true, CreatedBy: "init",
			}
			if _, _, err := tx.SeedPlaybook(ctx, j.Means, v, packed.Content); err != nil {
				return err
			}
		}
		return nil
	})
	b.account, b.token = b.newAccount("admin", intent.RoleAdministrator)
}

// newAccount makes an account and a session of it, without a password.
func (b *backend) newAccount(name, role string) (uuid.UUID, string) {
	b.t.Helper()
	ctx := b.t.Context()
	secret := "kl_" + strings.Repeat("A", 43-len(name)) + name
	account := uuid.New()
	b.tx(func(tx *store.Tx) error {
		if err := tx.InsertAccount(ctx, store.Account{ID: account, Name: name, PasswordHash: "none", Role: role}); err != nil {
			return err
		}
		if role == intent.RoleAdministrator {
			if err := intent.GrantAdministrator(ctx, tx, account, "test"); err != nil {
				return err
			}
		}
		_, err := tx.InsertToken(ctx, store.Token{ID: uuid.New(), Kind: intent.TokenSession, AccountID: account, Name: "test", Prefix: "kl_AAAAA"},
			intent.HashToken(secret), time.Hour)
		return err
	})
	return account, secret
}

func testBundle(t testing.TB, name string) bundle.Bundle {
	t.Helper()
	if made, ok := testBundles.Load(name); ok {
		return made.(bundle.Bundle)
	}
	packed, err := bundle.Build(fstest.MapFS{
		name + "/playbook.yml": {Data: []byte("- hosts: all\n  roles: [" + name + "]\n")},
		name + "/bundle.yml":   {Data: []byte("roles: []\nmodules: []\n")},
	}, name)
	if err != nil {
		t.Fatal(err)
	}
	testBundles.Store(name, packed)
	return packed
}

// testBundles are those that testBundle has made, by name: each test wants the same ones.
var testBundles sync.Map

func (b *backend) tx(f func(tx *store.Tx) error) {
	b.t.Helper()
	if err := b.db.InTx(b.t.Context(), f); err != nil {
		b.t.Fatal(err)
	}
}

// seen has another backend say that it is there.
func (b *backend) seen(other store.Backend) {
	b.t.Helper()
	if _, err := b.db.SeenBackend(b.t.Context(), other); err != nil {
		b.t.Fatal(err)
	}
}

// sql changes rows behind the store's back.
func (b *backend) sql(statement string, args ...any) {
	b.t.Helper()
	conn, err := pgx.Connect(b.t.Context(), b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(b.t.Context(), statement, args...); err != nil {
		b.t.Fatal(err)
	}
}

const sshKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ someone"

// facts are those of a host with 8 CPUs on 2 nodes and one empty disk.
func facts(machine string) domain.Facts {
	f := domain.Facts{
		MachineID: machine, Hostname: "h", Kernel: "6.1.0", Architecture: "x86_64", OS: domain.OSFacts{ID: "debian", VersionID: "12", Name: "Debian"},
		MemoryBytes:  8 << 30,
		Nodes:        []domain.Node{{Node: 0, CPUs: "0-3", MemoryBytes: 4 << 30}, {Node: 1, CPUs: "4-7", MemoryBytes: 4 << 30}},
		Devices:      []domain.Device{{Path: "/dev/vdb", ByID: "/dev/disk/by-id/virtio-kloigos0", SizeBytes: 16 << 30, Discard: true}},
		Uplink:       domain.Uplink{Interface: "ens3", Address: "10.0.2.15", Prefix: 24, Gateway: "10.0.2.2"},
		Capabilities: domain.Capabilities{CGroup2: true, CPUSet: true, AppArmor: true, NFTables: true, LVM: true, Systemd: "252", Python: "3.11.2"},
	}
	for cpu := range 8 {
		f.CPUs = append(f.CPUs, domain.CPU{CPU: cpu, Node: cpu / 4, Socket: cpu / 4, Core: cpu % 4})
	}
	return f
}

// probed registers a host through the API and ends its probe as a worker does.
func (b *backend) probed(name string) api.Host {
	b.t.Helper()
	h := b.mustDo(http.MethodPost, "/hosts", api.RegisterHost{Name: name, Address: "127.0.0.1", HostKey: sshKey, Labels: map[string]string{"rack": "r1"}}, http.StatusAccepted)
	host := decode[api.Host](b.t, h)
	b.finishJob(host.ID, host.ActiveJob, func(tx *store.Tx) error {
		machine := strings.ReplaceAll(uuid.NewString(), "-", "")
		return tx.SetHostFacts(b.t.Context(), uuid.MustParse(host.ID), facts(machine))
	})
	return decode[api.Host](b.t, b.mustDo(http.MethodGet, "/hosts/"+name, nil, http.StatusOK))
}

// ready takes a host on to where its units can be allocated.
func (b *backend) ready(name string) api.Host {
	b.t.Helper()
	b.probed(name)
	b.mustDo(http.MethodPut, "/hosts/"+name+"/layout", api.SetLayout{Count: 3, CPUsEach: 2, Devices: []string{"/dev/disk/by-id/virtio-kloigos0"}}, http.StatusOK)
	h := decode[api.Host](b.t, b.mustDo(http.MethodPost, "/hosts/"+name+"/initialize", nil, http.StatusAccepted))
	b.finishJob(h.ID, h.ActiveJob, nil)
	return decode[api.Host](b.t, b.mustDo(http.MethodGet, "/hosts/"+name, nil, http.StatusOK))
}

// finishJob claims a job and ends it well, as a worker does.
func (b *backend) finishJob(about, jobID string, work func(tx *store.Tx) error) {
	b.t.Helper()
	ctx := b.t.Context()
	want := uuid.MustParse(jobID)
	worker := store.Backend{ID: uuid.New(), Name: "worker", Version: "test", Roles: "worker"}
	b.seen(worker)
	b.tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(ctx, worker.ID, time.Minute, 100)
		if err != nil {
			return err
		}
		for _, c := range claims {
			if c.ID != want {
				continue
			}
			if work != nil {
				if err := work(tx); err != nil {
					return err
				}
			}
			joint, _ := domain.JointOf(c.Kind)
			j, err := tx.Job(ctx, c.ID)
			if err != nil {
				return err
			}
			if err := tx.Apply(ctx, joint.Success, j.Subject(), ""); err != nil {
				return err
			}
			return tx.FinishJob(ctx, c.ID, c.Attempt, domain.JobSucceeded, nil, "done")
		}
		return fmt.Errorf("job %s of %s is not to be claimed", jobID, about)
	})
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) problem(t testing.TB) api.Problem {
	t.Helper()
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("status %d comes as %q, want application/problem+json; body %.200s", a.status, got, a.body)
	}
	var p api.Problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		t.Fatalf("not a problem: %v in %.200s", err, a.body)
	}
	if p.Status != a.status || p.Code == "" || p.Instance == "" || p.Title == "" {
		t.Errorf("incomplete problem with status %d: %+v", a.status, p)
	}
	return p
}

// do sends a request. body is marshalled, unless it is a string or bytes.
func (b *backend) do(method, path string, body any, headers ...string) answer {
	b.t.Helper()
	var r io.Reader
	switch v := body.(type) {
	case nil:
	case string:
		r = strings.NewReader(v)
	case []byte:
		r = bytes.NewReader(v)
	default:
		j, err := json.Marshal(v)
		if err != nil {
			b.t.Fatal(err)
		}
		r = bytes.NewReader(j)
	}
	if strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//") {
		path = b.url + api.Prefix + path
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, path, r)
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	if b.workspace != "" {
		req.Header.Set(api.WorkspaceHeader, b.workspace)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] == "" {
			req.Header.Del(headers[i])
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, content}
}

func (b *backend) mustDo(method, path string, body any, status int, headers ...string) answer {
	b.t.Helper()
	a := b.do(method, path, body, headers...)
	if a.status != status {
		b.t.Fatalf("%s %s: %d, want %d: %s", method, path, a.status, status, a.body)
	}
	return a
}

func decode[T any](t testing.TB, a answer) T {
	t.Helper()
	var v T
	d := json.NewDecoder(bytes.NewReader(a.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("decode %.300s: %v", a.body, err)
	}
	return v
}

func golden(t testing.TB, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s differs from what the program makes; look at the difference and run the test with -update\n%s", path, firstDifference(want, got))
	}
}

func firstDifference(want, got []byte) string {
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n- %s\n+ %s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(b), len(a))
}

func trusted(prefixes ...string) func(*httpapi.Config) {
	return func(c *httpapi.Config) {
		for _, p := range prefixes {
			c.TrustedProxies = append(c.TrustedProxies, netip.MustParsePrefix(p))
		}
	}
}

// expired makes an account whose token has expired.
func (b *backend) expired(name string) (uuid.UUID, string) {
	b.t.Helper()
	account, secret := b.newAccount(name, intent.RoleAdministrator)
	b.sql("UPDATE tokens SET expires_at = now() - INTERVAL '1 second' WHERE account_id = $1", account)
	return account, secret
}

// apiToken makes an API token of the administrator through the API.
func (b *backend) apiToken(name string) string {
	b.t.Helper()
	return decode[api.Token](b.t, b.mustDo(http.MethodPost, "/tokens", api.CreateToken{Name: name, Days: 1}, http.StatusCreated)).Token
}

func failingCheck(c *httpapi.Config) {
	c.Ready = []httpapi.Check{
		{Name: "keyset", Run: func(context.Context) error { return fmt.Errorf("wrong key hunter2") }},
		{Name: "broken", Run: func(context.Context) error { panic("hunter2") }},
	}
}

// rawRequest sends a path as it is; net/http would refuse or mend it.
func rawRequest(t testing.TB, b *backend, method, path string) answer {
	t.Helper()
	return rawBytes(t, b, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer %s\r\nConnection: close\r\n\r\n", method, path, b.token))
}

// rawBytes sends bytes and reads one answer.
func rawBytes(t testing.TB, b *backend, request string) answer {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.WriteString(conn, request) }() // the server may answer and close before it has read all
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer to %.80q: %v", request, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, body}
}

// row reads one value.
func (b *backend) row(to any, query string, args ...any) {
	b.t.Helper()
	conn, err := pgx.Connect(b.t.Context(), b.database)
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(b.t.Context(), query, args...).Scan(to); err != nil {
		b.t.Fatal(err)
	}
}
