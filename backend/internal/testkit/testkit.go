// Package testkit gives a test its own database on a real server: the one that KLOIGOS_TEST_DATABASE_URL names
// (PostgreSQL or CockroachDB), else a throwaway one that this package starts once for the test binary.
//
// It refuses mocks and shared state: every call returns a database that nobody else sees, dropped when the test ends.
package testkit

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/crdb"
	"kloigos/crdb/localdb"
)

// URLVariable names the server to test against. Its user must be able to create databases.
const URLVariable = "KLOIGOS_TEST_DATABASE_URL"

// TwiceVariable has every transaction of a test's installation refused once, so that what runs in it runs twice.
const TwiceVariable = "KLOIGOS_TEST_TRANSACTIONS_TWICE"

// Twice tells whether it is set.
func Twice() bool { return os.Getenv(TwiceVariable) != "" }

// databasePrefix begins the name of everything that the tests make on a server; behind it stands, in hexadecimal, the
// second it was made, so that what a killed test left is known by its age.
const (
	databasePrefix = "kloigos_test_"
	templatePrefix = "kloigos_template_"
	leftoverAge    = 2 * time.Hour
)

// server is the database server of this test binary.
type server struct {
	url       string
	cockroach bool
	// admin runs CREATE DATABASE and its like; few at a time, because PostgreSQL does them one by one anyway.
	admin *pgxpool.Pool

	mu        sync.Mutex
	templates map[string]*template
}

// template is made once, by the first test that asks.
type template struct {
	once   sync.Once
	name   string
	backup string // where it was backed up, on CockroachDB
	err    error
}

// theServer is the one global here: a server a test binary, whatever the number of tests. It ends with the process.
var theServer = sync.OnceValues(startServer)

// DatabaseURL returns the URL of a new and empty database.
func DatabaseURL(t testing.TB) string {
	t.Helper()
	s := mustServer(t)
	name := newName()
	s.mustExec(t, "CREATE DATABASE "+quote(name))
	return s.use(t, name)
}

// MigratedURL returns the URL of a new database with Kloigos' schema in it.
func MigratedURL(t testing.TB) string {
	t.Helper()
	hash, err := crdb.Hash()
	if err != nil {
		t.Fatalf("hash the migrations: %v", err)
	}
	return TemplateURL(t, hash, crdb.Migrate)
}

// TemplateURL returns the URL of a new database that looks like one filled by build. Build runs once for each key on a
// server, and every further database is a copy, which is about ten times faster; so the key must change whenever build
// does. The key is part of a database's name: lower case letters, digits and underscores. Where CockroachDB refuses to
// make copies (by a backup that is restored), build runs for each.
func TemplateURL(t testing.TB, key string, build func(ctx context.Context, url string) error) string {
	t.Helper()
	s := mustServer(t)
	s.mu.Lock()
	made, found := s.templates[key]
	if !found {
		made = &template{}
		s.templates[key] = made
	}
	s.mu.Unlock()
	made.once.Do(func() {
		// Not the test's context: the template is for all.
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
		defer cancel()
		made.name, made.err = s.makeTemplate(ctx, key, build)
		if s.cockroach && made.err == nil {
			made.backup = "userfile:///" + made.name
			_, made.err = s.admin.Exec(ctx, "BACKUP DATABASE "+quote(made.name)+" INTO '"+made.backup+"'")
		}
	})
	if s.cockroach {
		return s.restored(t, made, build)
	}
	if made.err != nil {
		t.Fatalf("make the template database: %v", made.err)
	}
	return s.copied(t, made.name)
}

// copied makes a copy of a database on PostgreSQL.
func (s *server) copied(t testing.TB, from string) string {
	t.Helper()
	name := newName()
	// The default writes each block to the log; a copy of the files costs half as much time.
	s.mustExec(t, "CREATE DATABASE "+quote(name)+" TEMPLATE "+quote(from)+" STRATEGY file_copy")
	return s.use(t, name)
}

// CopyURL returns the URL of a new database that looks like another one of the tests' own, to which nobody is connected any
// more. It is "" on CockroachDB, which copies none without a backup.
func CopyURL(t testing.TB, of string) string {
	t.Helper()
	s := mustServer(t)
	if s.cockroach {
		return ""
	}
	config, err := pgx.ParseConfig(of)
	if err != nil {
		t.Fatal(err)
	}
	return s.copied(t, config.Database)
}

// restored makes a copy of a template on CockroachDB, or what build makes where that can't be had.
func (s *server) restored(t testing.TB, from *template, build func(ctx context.Context, url string) error) string {
	t.Helper()
	name := newName()
	err := from.err
	if err == nil {
		err = s.admin.AcquireFunc(t.Context(), func(conn *pgxpool.Conn) error { // its time begins when it does
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			_, err := conn.Exec(ctx, "RESTORE DATABASE "+quote(from.name)+" FROM LATEST IN '"+from.backup+"' WITH new_db_name = '"+name+"'")
			return err
		})
	}
	if err == nil {
		return s.use(t, name)
	}
	t.Logf("no copy of the template can be had: %v", err)
	name = newName() // what was begun under the other one may still be under way
	s.mustExec(t, "CREATE DATABASE "+quote(name))
	url := s.use(t, name)
	if err := build(t.Context(), url); err != nil {
		t.Fatalf("fill the test's database: %v", err)
	}
	return url
}

// IsCockroach tells whether the tests run on CockroachDB, for the few things that only one of the two does.
func IsCockroach(t testing.TB) bool {
	t.Helper()
	return mustServer(t).cockroach
}

func mustServer(t testing.TB) *server {
	t.Helper()
	s, err := theServer()
	if err != nil {
		t.Fatalf("no database to test on: %v", err)
	}
	return s
}

func startServer() (*server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	url := os.Getenv(URLVariable)
	if url == "" {
		// Never stopped here: its watchdog ends it when this process is gone, however it goes.
		private, err := localdb.Start(ctx, localdb.Options{})
		if err != nil {
			return nil, fmt.Errorf("start a private database: %w", err)
		}
		url = private.URL
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", URLVariable, err)
	}
	config.MaxConns = 4
	config.MinConns = 0
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeExec
	admin, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("connect to the test server: %w", err)
	}
	var version string
	if err := admin.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return nil, fmt.Errorf("ask the test server for its version: %w", err)
	}
	s := &server{
		url: url, admin: admin, templates: make(map[string]*template),
		cockroach: strings.Contains(version, "CockroachDB"),
	}
	if err := s.dropLeftovers(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// makeTemplate fills a database under a name of its own and renames it when it is whole: test binaries that run at the
// same time can then do the same work twice, but never copy a half-made one.
func (s *server) makeTemplate(ctx context.Context, key string, build func(context.Context, string) error) (string, error) {
	final := templatePrefix + key
	var exists bool
	err := s.admin.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", final).Scan(&exists)
	if err != nil {
		return "", fmt.Errorf("look for the template: %w", err)
	}
	if exists {
		return final, nil
	}
	draft := newName()
	if _, err := s.admin.Exec(ctx, "CREATE DATABASE "+quote(draft)); err != nil {
		return "", fmt.Errorf("create %s: %w", draft, err)
	}
	url, err := localdb.WithDatabase(s.url, draft)
	if err != nil {
		return "", err
	}
	if err := build(ctx, url); err != nil {
		return "", fmt.Errorf("fill %s: %w", draft, err)
	}
	if _, err := s.admin.Exec(ctx, "ALTER DATABASE "+quote(draft)+" RENAME TO "+quote(final)); err != nil {
		// Somebody else was faster, or build left a connection open: then the draft serves this process.
		var again bool
		lookErr := s.admin.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", final).Scan(&again)
		if lookErr != nil || !again {
			return "", fmt.Errorf("rename %s: %w", draft, err)
		}
		_, _ = s.admin.Exec(ctx, s.dropStatement(draft)) // else a later run drops it by its age
	}
	return final, nil
}

// use returns the database's URL and drops it when the test ends.
func (s *server) use(t testing.TB, name string) string {
	t.Helper()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := s.admin.Exec(ctx, s.dropStatement(name)); err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	url, err := localdb.WithDatabase(s.url, name)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

func (s *server) mustExec(t testing.TB, statement string) {
	t.Helper()
	if _, err := s.admin.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// dropStatement drops a database with whatever is still connected to it.
func (s *server) dropStatement(name string) string {
	if s.cockroach {
		return "DROP DATABASE IF EXISTS " + quote(name) + " CASCADE"
	}
	return "DROP DATABASE IF EXISTS " + quote(name) + " WITH (FORCE)"
}

// dropLeftovers drops what killed tests left on a server that outlives them. Templates stay: they are few and small.
func (s *server) dropLeftovers(ctx context.Context) error {
	rows, err := s.admin.Query(ctx, "SELECT datname FROM pg_database WHERE datname LIKE $1 LIMIT 1000", databasePrefix+"%")
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("look for leftovers: %w", err)
	}
	for _, name := range names {
		stamp, _, _ := strings.Cut(strings.TrimPrefix(name, databasePrefix), "_")
		made, err := strconv.ParseInt(stamp, 16, 64)
		if err != nil || time.Since(time.Unix(made, 0)) < leftoverAge {
			continue
		}
		_, _ = s.admin.Exec(ctx, s.dropStatement(name)) // another test binary may be at it as well
	}
	return nil
}

func newName() string {
	random := make([]byte, 6)
	_, _ = rand.Read(random) // never fails (crypto/rand)
	return databasePrefix + strconv.FormatInt(time.Now().Unix(), 16) + "_" + hex.EncodeToString(random)
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
