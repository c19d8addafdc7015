package faults

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/crypto/ssh"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
	"kloigos/crdb/proxy"
	"kloigos/rig/demo"
	"kloigos/rig/faults/host"
)

// Spec is how a scenario's world is built; zero values are filled in.
type Spec struct {
	Backends int           // 3
	Hosts    int           // 2, of six units each
	Lease    time.Duration // 2 s
	Patience time.Duration // of clients with an answer; 5 s
	Own      bool          // a database server of its own, that keeps its data
	Room     int64         // bytes for the database server of its own; 0: as much as there is
	Ahead    time.Duration // of this machine's clock is that of the database server of its own
	RunRoot  string        // where plays have their directories; "" for one of its own
	// Manners of the hosts once they are ready.
	Manners host.Manners
	MayFail []string      // codes with which jobs of tenants may fail
	Waits   time.Duration // that a job may wait for longer than its failures tell
}

// unitsEach is how many units a host is cut into.
const unitsEach = 6

// World is one installation, with its hosts and its clients.
type World struct {
	suite   *Suite
	spec    Spec
	dir     string
	runRoot string
	long    bool

	server   *localdb.Server // its own; nil if it shares one
	database string          // URL, without a wire
	drop     func() error    // the database; nil if it goes with its server

	proxy     *proxy.Proxy // before its database; nil if there is none
	cockroach bool
	small     bool          // its database has the room of Spec.Room
	moved     bool          // its database has a clock of its own
	ahead     time.Duration // of this machine's clock is the database's
	env       []string
	group     *demo.Group
	front     *client.Client // through the balancer; nil where there is none
	balancers []*demo.Process
	hosts     []*host.Host
	account   string
	password  string
	token     string
	key       string // some SSH key of a tenant

	mu       sync.Mutex
	draw     *mrand.Rand
	backends []*Backend
	ids      []string // acknowledged allocations
	doubtful []order  // requests that may have been carried out, and nobody was told
	staying  []api.Allocation
	kills    int      // of backends that lived
	odd      []string // what was seen that may never be
	said     told
}

func (s *Suite) newWorld(ctx context.Context, one Scenario) (*World, error) {
	w := &World{suite: s, spec: one.Spec, draw: drawOf(s.options.Seed, one.Name), long: s.options.Long}
	w.dir = filepath.Join(s.options.Dir, one.Name)
	for _, d := range []string{"", "tokens", "failpoints", "path"} {
		if err := os.MkdirAll(filepath.Join(w.dir, d), 0o711); err != nil {
			return nil, fmt.Errorf("make a directory: %w", err)
		}
	}
	// What lies beside the stand-in changes what it tells, so each world has its own.
	for _, name := range []string{"ansible-playbook", "pyvenv.cfg"} {
		if err := os.Link(filepath.Join(s.options.Dir, "path", name), filepath.Join(w.dir, "path", name)); err != nil {
			return nil, fmt.Errorf("have the stand-in of Ansible: %w", err)
		}
	}
	w.group = demo.NewGroup(w.dir)
	w.fill()
	if err := w.prepareDatabase(ctx); err != nil {
		return w, err
	}
	for range w.spec.Backends {
		b, err := w.addBackend()
		if err != nil {
			return w, err
		}
		if err := b.Start(ctx); err != nil {
			return w, err
		}
	}
	return w, w.prepareHosts(ctx)
}

func (w *World) fill() {
	if w.spec.Backends == 0 {
		w.spec.Backends = 3
	}
	if w.spec.Hosts == 0 {
		w.spec.Hosts = 2
	}
	if w.spec.Lease == 0 {
		w.spec.Lease = 2 * time.Second
	}
	if w.spec.Patience == 0 {
		w.spec.Patience = 5 * time.Second
	}
	w.runRoot = w.spec.RunRoot
	if w.runRoot == "" { // short, since ssh's sockets would lie below it
		w.runRoot = fmt.Sprintf("/tmp/kf-%d-%s", os.Getpid(), uuid.NewString()[:4])
		if _, err := os.Stat("/dev/shm"); err == nil {
			w.runRoot = "/dev/shm" + strings.TrimPrefix(w.runRoot, "/tmp")
		}
	}
	w.env = []string{
		"KLOIGOS_KEYSET_FILE=" + filepath.Join(w.dir, "keyset.json"), "KLOIGOS_ALLOW_LOOPBACK_HOSTS=true",
		"KLOIGOS_LEASE=" + w.spec.Lease.String(), "KLOIGOS_RUN_ROOT=" + w.runRoot, "KLOIGOS_FAILPOINT_DIR=" + filepath.Join(w.dir, "failpoints"),
		"KLOIGOS_LOG_FORMAT=text",
		"KLOIGOS_LIMIT_ACCOUNT=0", "KLOIGOS_LIMIT_KEY=0", // one account asks for all
		// Nothing but the stand-in: ansible-lint, for one, would take the processors for a minute.
		"PATH=" + filepath.Join(w.dir, "path"),
	}
}

func (w *World) prepareDatabase(ctx context.Context) (err error) {
	url := w.suite.options.Database
	if w.spec.Own {
		if err := w.limitRoom(); err != nil {
			return err
		}
		env, err := w.clockOfDatabase()
		if err != nil {
			return err
		}
		if w.server, err = localdb.Start(ctx, localdb.Options{Engine: localdb.Postgres, Dir: filepath.Join(w.dir, "db"), Env: env}); err != nil {
			return err
		}
		w.database = w.server.URL
	} else {
		if url == "" {
			url = w.suite.server.URL
		}
		name := "faults_" + strings.ReplaceAll(uuid.NewString(), "-", "")[:12]
		if err := exec1(ctx, url, "CREATE DATABASE "+name); err != nil {
			return err
		}
		w.drop = func() error {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			// PostgreSQL's way, and CockroachDB's.
			if err := exec1(ctx, url, "DROP DATABASE "+name+" WITH (FORCE)"); err != nil {
				return exec1(ctx, url, "DROP DATABASE "+name+" CASCADE")
			}
			return nil
		}
		if w.database, err = localdb.WithDatabase(url, name); err != nil {
			return err
		}
	}
	if w.suite.options.Cockroach {
		if w.proxy, err = proxy.Start(w.database, proxy.Options{Refuse: refusedShare, Seed: w.someSeed()}); err != nil {
			return err
		}
		w.database = w.proxy.URL
	}
	if w.cockroach, err = isCockroach(ctx, w.database); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, w.suite.program(), "init")
	cmd.Env = append([]string{"KLOIGOS_DATABASE_URL=" + w.database}, w.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("kloigos-backend init: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	for line := range strings.Lines(string(out)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name {
		case "account":
			w.account = value
		case "password":
			w.password = value
		}
	}
	return nil
}

// limitRoom gives the database a small file system, where one can be mounted.
func (w *World) limitRoom() error {
	if w.spec.Room == 0 {
		return nil
	}
	dir := filepath.Join(w.dir, "db")
	if err := os.Mkdir(dir, 0o711); err != nil {
		return fmt.Errorf("make a directory: %w", err)
	}
	w.small = syscall.Mount("kloigos-faults", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0711", w.spec.Room)) == nil
	return nil
}

func isCockroach(ctx context.Context, url string) (bool, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return false, fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var version string
	err = conn.QueryRow(ctx, "SELECT version()").Scan(&version)
	return strings.Contains(version, "CockroachDB"), err
}

// exec1 runs one statement.
func exec1(ctx context.Context, url, statement string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.Exec(ctx, statement)
	return err
}

// prepareHosts logs in and has all hosts registered, laid out and initialized.
func (w *World) prepareHosts(ctx context.Context) error {
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	key, err := ssh.NewPublicKey(public)
	if err != nil {
		return err
	}
	w.key = strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
	session, err := w.backends[0].api("").CreateSession(ctx, api.Login{Account: w.account, Password: w.password})
	if err != nil {
		return fmt.Errorf("log in: %w", err)
	}
	w.token = session.Token
	_, err = w.backends[0].api(w.token).AddAddresses(ctx, api.AddAddresses{Addresses: []api.AddRange{{Range: "10.7.0.1-10.7.0.250"}}})
	if err != nil {
		return fmt.Errorf("add addresses: %w", err)
	}
	errs := make(chan error, w.spec.Hosts)
	for n := range w.spec.Hosts {
		h, err := w.addHost(n + 1)
		if err != nil {
			return err
		}
		go func() { errs <- w.prepareHost(ctx, h) }()
	}
	for range w.spec.Hosts {
		err = errors.Join(err, <-errs)
	}
	w.behave(w.spec.Manners)
	return err
}

func (w *World) addHost(n int) (*host.Host, error) {
	h, err := host.New(fmt.Sprintf("h%d", n), filepath.Join(w.dir, "tokens"), w.someSeed())
	if err == nil {
		w.hosts = append(w.hosts, h)
	}
	return h, err
}

func (w *World) behave(m host.Manners) {
	for _, h := range w.hosts {
		h.Behave(m)
	}
}

func (w *World) prepareHost(ctx context.Context, h *host.Host) error {
	if err := w.register(ctx, h); err != nil {
		return err
	}
	return w.initialize(ctx, h)
}

func (w *World) register(ctx context.Context, h *host.Host) error {
	in := api.RegisterHost{Name: h.Name, Address: "127.0.0.1", Port: h.Port, AdminUser: "operator1", HostKey: h.Key}
	_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Host, string, error) { return c.RegisterHost(ctx, in, o) })
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	if err != nil {
		return fmt.Errorf("register host %s: %w", h.Name, err)
	}
	return nil
}

func (w *World) layOut(ctx context.Context, h *host.Host) error {
	layout := api.SetLayout{Count: unitsEach, CPUsEach: 1, Devices: []string{host.Disk}}
	_, err := retried(ctx, w, func(c *client.Client) (api.Host, error) { return c.SetLayout(ctx, h.Name, layout) })
	if err != nil {
		return fmt.Errorf("lay host %s out: %w", h.Name, err)
	}
	return nil
}

func (w *World) initialize(ctx context.Context, h *host.Host) error {
	if err := w.layOut(ctx, h); err != nil {
		return err
	}
	_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Host, string, error) {
		return c.InitializeHost(ctx, h.Name, o)
	})
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	if err != nil {
		return fmt.Errorf("initialize host %s: %w", h.Name, err)
	}
	return nil
}

// skips says that the scenario, or a part of it, can't be shown here.
func (w *World) skips(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said.skipped = append(w.said.skipped, fmt.Sprintf(format, args...))
}

// tells says something beside the scenario's end.
func (w *World) tells(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said.lines = append(w.said.lines, fmt.Sprintf(format, args...))
}

// told is all that is said, with how much was done in all.
func (w *World) told() told {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := w.work()
	if w.proxy != nil {
		w.said.lines = append(w.said.lines, fmt.Sprintf("as a CockroachDB: %d transactions refused, %d begun anew", w.proxy.Refused(), w.proxy.Restarts()))
	}
	w.said.lines = append(w.said.lines, fmt.Sprintf("%d backends ended on purpose, %d jobs ended, %d taken over", sum.kills, sum.ended, sum.takeovers))
	return w.said
}

// someSeed and its like draw; safe for any goroutine.
func (w *World) someSeed() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draw.Uint64()
}

func (w *World) someInt(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draw.IntN(n)
}

func (w *World) chance(p float64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.draw.Float64() < p
}

func (w *World) between(least, most time.Duration) time.Duration {
	return least + time.Duration(w.someInt(int(most-least)))
}

// sleep waits, and tells whether there is time left.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// await looks until something holds.
func await(ctx context.Context, what string, limit time.Duration, holds func() bool) error {
	end := time.Now().Add(limit)
	for !holds() {
		if time.Now().After(end) || !sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("in vain: waited %s for %s", limit, what)
		}
	}
	return nil
}

// close ends everything of this world.
func (w *World) close() error {
	var errs []error
	for _, b := range w.backends {
		errs = append(errs, b.Kill())
		b.wire.Close()
	}
	for _, p := range w.balancers {
		errs = append(errs, p.Kill())
	}
	errs = append(errs, w.leavesNothing())
	for _, h := range w.hosts {
		h.Close()
	}
	if w.proxy != nil {
		w.proxy.Close()
	}
	if w.drop != nil {
		errs = append(errs, w.drop())
	}
	if w.server != nil {
		errs = append(errs, w.server.Stop())
	}
	if w.small {
		errs = append(errs, syscall.Unmount(filepath.Join(w.dir, "db"), syscall.MNT_DETACH))
	}
	return errors.Join(append(errs, os.RemoveAll(w.runRoot))...)
}

// tails are the ends of the backends' logs, without the requests.
func (w *World) tails() string {
	var all strings.Builder
	for _, b := range w.backends {
		raw, err := os.ReadFile(filepath.Join(w.dir, b.name+".log"))
		if err != nil {
			continue
		}
		fmt.Fprintf(&all, "--- %s\n%s\n", b.name, lastLines(string(raw)))
	}
	return all.String() + "--- database\n" + w.sessions()
}

// sessions are those of the database that do something, and whom they wait for, on PostgreSQL.
func (w *World) sessions() string {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, w.database)
	if err != nil {
		return err.Error()
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `
SELECT format('%s %s %s/%s for %s s, waits for %s: %s', a.pid, a.state, a.wait_event_type, a.wait_event,
              round(EXTRACT(EPOCH FROM clock_timestamp() - a.state_change)), pg_blocking_pids(a.pid), left(regexp_replace(a.query, '\s+', ' ', 'g'), 200))
  FROM pg_stat_activity a
 WHERE a.datname = current_database() AND a.state <> 'idle' AND a.pid <> pg_backend_pid()
 ORDER BY a.state_change
 LIMIT 20`)
	if err != nil {
		return err.Error()
	}
	told, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err.Error()
	}
	return strings.Join(told, "\n")
}

func lastLines(log string) string {
	const lines = 8
	told := slices.DeleteFunc(strings.Split(strings.TrimSpace(log), "\n"), func(l string) bool { return strings.Contains(l, "msg=request") })
	return strings.Join(told[max(0, len(told)-lines):], "\n")
}
