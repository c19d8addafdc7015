package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
	"kloigos/rig/demo"
)

// Options say where and with what to measure.
type Options struct {
	Root string    // of the source tree
	Dir  string    // for everything that is made
	Out  io.Writer // progress
	Fast bool      // a database that does not sync; for the test of the bench itself
}

// Bed is what all figures stand on: the built programs, a database server, and a database that `init` has prepared and
// that every figure copies.
type Bed struct {
	options Options
	server  *localdb.Server
	admin   *pgx.Conn
	group   *demo.Group
	pgbench string
	log     string // of the server
	master  int    // process id of the server

	account, password string
	made              atomic.Int64 // databases and logs, for their names
}

const (
	prepared   = "prepared" // the database that init made
	startLimit = time.Minute
)

// NewBed builds the programs, starts the database and prepares it.
func NewBed(ctx context.Context, o Options) (_ *Bed, err error) {
	b := &Bed{options: o, group: demo.NewGroup(o.Dir)}
	if b.pgbench, err = findPgbench(); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-o", o.Dir+string(filepath.Separator),
		"./backend/cmd/kloigos-backend", "./webapp/cmd/kloigos-webapp", "./backend/internal/testkit/cmd/benchjob")
	cmd.Dir = o.Root
	if output, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, bytes.TrimSpace(output))
	}
	options := localdb.Options{
		Engine: localdb.Postgres, Database: prepared,
		// When a request was committed is when its job could begin.
		Settings: []string{"track_commit_timestamp=on"},
	}
	if !o.Fast {
		options.Dir = filepath.Join(o.Dir, "db")
	}
	if b.server, err = localdb.Start(ctx, options); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, b.Close())
		}
	}()
	b.log = filepath.Join(b.server.Dir, "server.log")
	admin, err := localdb.WithDatabase(b.server.URL, "postgres")
	if err != nil {
		return nil, err
	}
	if b.admin, err = pgx.Connect(ctx, admin); err != nil {
		return nil, fmt.Errorf("connect to the database: %w", err)
	}
	var session int
	if err = b.admin.QueryRow(ctx, "SELECT pg_backend_pid()").Scan(&session); err != nil {
		return nil, fmt.Errorf("find the database's processes: %w", err)
	}
	p, err := readProcess(session)
	if err != nil {
		return nil, err
	}
	b.master = p.parent
	return b, b.initialize(ctx)
}

// Close ends all that was started.
func (b *Bed) Close() error {
	err := b.group.Stop()
	if b.admin != nil {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = b.admin.Close(ctx)
	}
	return errors.Join(err, b.server.Stop(), os.RemoveAll(b.runRoot()))
}

func (b *Bed) say(format string, args ...any) {
	_, _ = fmt.Fprintf(b.options.Out, format+"\n", args...)
}

func (b *Bed) path(parts ...string) string {
	return filepath.Join(append([]string{b.options.Dir}, parts...)...)
}

// runRoot is where plays have their directories: in memory where that is possible, as by default, but apart from those
// of other backends.
func (b *Bed) runRoot() string {
	if _, err := os.Stat("/dev/shm"); err != nil {
		return b.path("run")
	}
	return fmt.Sprintf("/dev/shm/kloigos-bench-%d", os.Getpid())
}

func (b *Bed) initialize(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, b.path("kloigos-backend"), "init")
	cmd.Env = b.environment(b.server.URL)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("kloigos-backend init: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	for line := range strings.Lines(string(out)) {
		switch name, value, _ := strings.Cut(strings.TrimSpace(line), ": "); name {
		case "account":
			b.account = value
		case "password":
			b.password = value
		}
	}
	if b.password == "" {
		return errors.New("kloigos-backend init told no password")
	}
	return nil
}

func (b *Bed) environment(database string) []string {
	return []string{
		"KLOIGOS_DATABASE_URL=" + database, "KLOIGOS_KEYSET_FILE=" + b.path("keyset.json"),
		"PATH=" + os.Getenv("PATH"), "KLOIGOS_ALLOW_LOOPBACK_HOSTS=true",
		"KLOIGOS_LIMIT_ACCOUNT=0", "KLOIGOS_LIMIT_KEY=0", // one account asks as often as it can
	}
}

// exec runs statements on one database.
func (b *Bed) exec(ctx context.Context, database string, statements ...string) error {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%w, in %.200s", err, s)
		}
	}
	return nil
}

// value reads one number.
func (b *Bed) value(ctx context.Context, database, query string) (int64, error) {
	all, err := b.values(ctx, database, query)
	if err == nil && len(all) != 1 {
		err = fmt.Errorf("%d rows: %s", len(all), query)
	}
	if err != nil {
		return 0, err
	}
	return all[0], nil
}

// values reads numbers, one a row.
func (b *Bed) values(ctx context.Context, database, query string) ([]int64, error) {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[int64])
}

// copyDatabase makes a database that looks like another and returns its name.
func (b *Bed) copyDatabase(ctx context.Context, of string) (string, error) {
	name := fmt.Sprintf("bench_%d", b.made.Add(1))
	if _, err := b.admin.Exec(ctx, "CREATE DATABASE "+name+" TEMPLATE "+of+" STRATEGY file_copy"); err != nil {
		return "", fmt.Errorf("copy database %s: %w", of, err)
	}
	return name, nil
}

func (b *Bed) dropDatabase(ctx context.Context, name string) error {
	_, err := b.admin.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	return err
}

// backend is one running backend with an administrator's token.
type backend struct {
	*demo.Process
	bed    *Bed
	listen string // host:port
	token  string
	client *client.Client
}

// startProcess starts a backend on a database and waits until it is ready.
func (b *Bed) startProcess(ctx context.Context, database, roles string, env ...string) (*backend, error) {
	ports, err := demo.FreePorts(0, 1)
	if err != nil {
		return nil, err
	}
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return nil, err
	}
	listen := fmt.Sprintf("127.0.0.1:%d", ports[0])
	env = append(append(b.environment(url), "KLOIGOS_LISTEN="+listen, "KLOIGOS_ROLE="+roles), env...)
	p, err := b.group.Start(fmt.Sprintf("backend-%d", b.made.Add(1)), b.path("kloigos-backend"), env, "serve")
	if err != nil {
		return nil, err
	}
	return &backend{Process: p, bed: b, listen: listen}, awaitReady(ctx, p, "http://"+listen+"/readyz")
}

// startBackend starts a backend that has the API, and logs in.
func (b *Bed) startBackend(ctx context.Context, database, roles string, env ...string) (*backend, error) {
	s, err := b.startProcess(ctx, database, roles, env...)
	if err != nil {
		return nil, err
	}
	c, err := client.New(client.Config{BaseURL: "http://" + s.listen, UserAgent: "kloigos-bench"})
	if err != nil {
		return nil, err
	}
	session, err := c.CreateSession(ctx, api.Login{Account: b.account, Password: b.password})
	if err != nil {
		return nil, fmt.Errorf("log in: %w", err)
	}
	s.token, s.client = session.Token, c.WithToken(session.Token)
	return s, nil
}

// awaitReady asks until the answer is 200.
func awaitReady(ctx context.Context, p *demo.Process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		if p.Ended() {
			return fmt.Errorf("%s ended:\n%s", p.Name, p.Tail())
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready:\n%s", p.Name, p.Tail())
		case <-tick.C:
		}
	}
}
