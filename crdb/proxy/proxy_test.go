package proxy_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"kloigos/crdb/localdb"
	"kloigos/crdb/proxy"
)

// testServer is a PostgreSQL: the one that KLOIGOS_TEST_DATABASE_URL names, else one that ends with this process.
var testServer = sync.OnceValues(func() (string, error) {
	if url := os.Getenv("KLOIGOS_TEST_DATABASE_URL"); url != "" {
		return url, nil
	}
	server, err := localdb.Start(context.Background(), localdb.Options{Engine: localdb.Postgres})
	if err != nil {
		return "", err
	}
	return server.URL, nil
})

func start(t *testing.T, o proxy.Options) (*proxy.Proxy, *pgx.Conn) {
	t.Helper()
	url, err := testServer()
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.Start(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p, connect(t, p)
}

func connect(t *testing.T, p *proxy.Proxy) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	if conn.PgConn().ParameterStatus("crdb_version") != "" {
		return conn
	}
	t.Fatal("it does not call itself a CockroachDB")
	return nil
}

func text(t *testing.T, conn *pgx.Conn, sql string, args ...any) (value string) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

func run(t *testing.T, conn *pgx.Conn, sqls ...string) {
	t.Helper()
	for _, sql := range sqls {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// table makes one with a counter at 0, and returns its name.
func table(t *testing.T, conn *pgx.Conn) string {
	t.Helper()
	name := strings.ToLower("proxied_" + strings.NewReplacer("/", "_", "=", "_").Replace(t.Name()))
	run(t, conn, "DROP TABLE IF EXISTS "+name, "CREATE TABLE "+name+" (n INT8 NOT NULL)", "INSERT INTO "+name+" VALUES (0)")
	t.Cleanup(func() {
		url, _ := testServer()
		conn, err := pgx.Connect(context.Background(), url)
		if err == nil {
			_, err = conn.Exec(context.Background(), "DROP TABLE "+name)
			_ = conn.Close(context.Background())
		}
		if err != nil {
			t.Error(err)
		}
	})
	return name
}

func status(conn *pgx.Conn) string { return string(conn.PgConn().TxStatus()) }

func TestItSpeaksAsACockroachDB(t *testing.T) {
	t.Parallel()
	_, conn := start(t, proxy.Options{Version: "v24.3.1"})
	if v := text(t, conn, "SELECT version()"); !strings.HasPrefix(v, "CockroachDB CCL v24.3.1 ") {
		t.Errorf("version %q", v)
	}
	if v := conn.PgConn().ParameterStatus("crdb_version"); v != "CockroachDB CCL v24.3.1" {
		t.Errorf("crdb_version %q", v)
	}
	if v := text(t, conn, "SHOW transaction_isolation"); v != "serializable" {
		t.Errorf("outside of a transaction: %s", v)
	}
	for _, b := range []string{"BEGIN", "begin isolation level read committed", "START TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"} {
		run(t, conn, b)
		if v := text(t, conn, "SHOW transaction_isolation"); v != "serializable" {
			t.Errorf("%s: %s", b, v)
		}
		if v := text(t, conn, "SHOW transaction_read_only"); (v == "on") != strings.Contains(b, "READ ONLY") {
			t.Errorf("%s: read only is %s", b, v)
		}
		run(t, conn, "COMMIT")
	}
	run(t, conn, "SET optimizer_use_lock_op_for_serializable = on", "SET create_table_with_schema_locked = off")
	for sql, want := range map[string]string{"SET enable_sort = off": "42704", "LOCK TABLE pg_class": "42601"} {
		if _, err := conn.Exec(t.Context(), sql); code(err) != want {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestReleaseCommits by simple queries, and as a pipeline of prepared statements.
func TestReleaseCommits(t *testing.T) {
	t.Parallel()
	_, conn := start(t, proxy.Options{})
	name := table(t, conn)
	run(t, conn, "BEGIN", "SAVEPOINT cockroach_restart", "UPDATE "+name+" SET n = 1", "RELEASE SAVEPOINT cockroach_restart")
	if status(conn) != "T" {
		t.Errorf("after the release its state is %s", status(conn))
	}
	if _, err := conn.Exec(t.Context(), "UPDATE "+name+" SET n = 5"); code(err) != "25000" {
		t.Errorf("a statement behind the release: %v", err)
	}
	run(t, conn, "ROLLBACK")
	if n := text(t, conn, "SELECT n::TEXT FROM "+name); n != "1" || status(conn) != "I" {
		t.Errorf("n is %s, state %s", n, status(conn))
	}
	for round := range 2 { // the second one finds all of it prepared
		b := &pgx.Batch{}
		b.BeginTx(pgx.TxOptions{IsoLevel: pgx.Serializable})
		b.Queue("SAVEPOINT cockroach_restart")
		b.Queue("UPDATE "+name+" SET n = n + $1", 10)
		results := conn.SendBatch(t.Context(), b)
		for range 3 {
			if _, err := results.Exec(); err != nil {
				t.Fatal(err)
			}
		}
		if err := results.Close(); err != nil || status(conn) != "T" {
			t.Fatalf("round %d: %v, state %s", round, err, status(conn))
		}
		b = &pgx.Batch{}
		b.Queue("RELEASE SAVEPOINT cockroach_restart").Exec(func(tag pgconn.CommandTag) error {
			if tag.String() != "RELEASE" {
				t.Errorf("tag %s", tag)
			}
			return nil
		})
		b.Queue("COMMIT")
		if err := conn.SendBatch(t.Context(), b).Close(); err != nil || status(conn) != "I" {
			t.Fatalf("round %d: %v, state %s", round, err, status(conn))
		}
	}
	if n := text(t, conn, "SELECT n::TEXT FROM "+name); n != "21" {
		t.Errorf("n is %s", n)
	}
}

// TestRefusedReleases can be begun anew at the savepoint, in a new snapshot.
func TestRefusedReleases(t *testing.T) {
	t.Parallel()
	p, conn := start(t, proxy.Options{Refuse: 1, Commits: 1})
	other, err := pgx.Connect(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Close(t.Context()) }()
	name := table(t, conn)
	for _, together := range []bool{false, true} {
		if together {
			run(t, conn, "BEGIN; SAVEPOINT cockroach_restart")
		} else {
			run(t, conn, "BEGIN", "SAVEPOINT cockroach_restart")
		}
		before := text(t, conn, "SELECT n::TEXT FROM "+name)
		run(t, conn, "UPDATE "+name+" SET n = n + 100")
		end := "RELEASE SAVEPOINT cockroach_restart"
		if together {
			end += "; COMMIT"
		}
		if _, err := conn.Exec(t.Context(), end); code(err) != "40001" || status(conn) != "E" {
			t.Fatalf("the release: %v, state %s", err, status(conn))
		}
		if _, err := conn.Exec(t.Context(), "SELECT 1"); code(err) != "25P02" {
			t.Errorf("a statement behind it: %v", err)
		}
		run(t, other, "UPDATE "+name+" SET n = n + 1") // outside of a transaction nothing is refused
		run(t, conn, "ROLLBACK TO SAVEPOINT cockroach_restart")
		if after := text(t, conn, "SELECT n::TEXT FROM "+name); after == before || status(conn) != "T" {
			t.Errorf("n is %s as before, state %s", after, status(conn))
		}
		run(t, conn, "ROLLBACK")
	}
	for range 2 { // whether a transaction reads only is its own, also where its BEGIN was prepared before
		run(t, conn, "BEGIN READ ONLY", "ROLLBACK")
		b := &pgx.Batch{}
		b.BeginTx(pgx.TxOptions{IsoLevel: pgx.Serializable})
		b.Queue("SAVEPOINT cockroach_restart")
		if err := conn.SendBatch(t.Context(), b).Close(); err != nil {
			t.Fatal(err)
		}
		run(t, conn, "ROLLBACK TO SAVEPOINT cockroach_restart", "UPDATE "+name+" SET n = 7", "ROLLBACK")
	}
	run(t, conn, "BEGIN", "UPDATE "+name+" SET n = 7")
	if _, err := conn.Exec(t.Context(), "COMMIT"); code(err) != "40001" || status(conn) != "I" {
		t.Errorf("a commit: %v, state %s", err, status(conn))
	}
	if n := text(t, conn, "SELECT n::TEXT FROM "+name); n != "2" {
		t.Errorf("n is %s", n)
	}
	if p.Refused() != 3 || p.Restarts() != 4 {
		t.Errorf("%d refused, %d restarts", p.Refused(), p.Restarts())
	}
}

// TestTransactionsThatMeet are refused by the database itself.
func TestTransactionsThatMeet(t *testing.T) {
	t.Parallel()
	p, one := start(t, proxy.Options{})
	two := connect(t, p)
	name := table(t, one)
	for _, c := range []*pgx.Conn{one, two} {
		run(t, c, "BEGIN", "SAVEPOINT cockroach_restart", "SELECT n FROM "+name, "INSERT INTO "+name+" VALUES (1)")
	}
	run(t, one, "RELEASE SAVEPOINT cockroach_restart", "COMMIT")
	if _, err := two.Exec(t.Context(), "RELEASE SAVEPOINT cockroach_restart; COMMIT"); code(err) != "40001" || status(two) != "E" {
		t.Fatalf("%v, state %s", err, status(two))
	}
	run(t, two, "ROLLBACK TO SAVEPOINT cockroach_restart", "INSERT INTO "+name+" VALUES (2)", "RELEASE SAVEPOINT cockroach_restart", "COMMIT")
	if n := text(t, two, "SELECT count(*)::TEXT FROM "+name); n != "3" {
		t.Errorf("%s rows", n)
	}
}

func TestReadsAndDoubt(t *testing.T) {
	t.Parallel()
	_, conn := start(t, proxy.Options{Reads: 1})
	for range 2 {
		if _, err := conn.Exec(t.Context(), "SELECT $1::INT8", 1); code(err) != "40001" || status(conn) != "I" {
			t.Errorf("%v, state %s", err, status(conn))
		}
	}
	run(t, conn, "BEGIN", "SELECT 1", "COMMIT")
	_, conn = start(t, proxy.Options{Unknown: 1, Seed: 3})
	name := table(t, conn)
	for range 8 {
		run(t, conn, "BEGIN", "SAVEPOINT cockroach_restart", "UPDATE "+name+" SET n = n + 1")
		if _, err := conn.Exec(t.Context(), "RELEASE SAVEPOINT cockroach_restart"); code(err) != "40003" {
			t.Fatal(err)
		}
		run(t, conn, "ROLLBACK")
	}
	if n := text(t, conn, "SELECT n::TEXT FROM "+name); n == "0" || n == "8" {
		t.Errorf("%s of 8 were applied", n)
	}
}

func TestIdleTransactionsEnd(t *testing.T) {
	t.Parallel()
	p, _ := start(t, proxy.Options{})
	config, err := pgx.ParseConfig(p.URL)
	if err != nil {
		t.Fatal(err)
	}
	var said []pgconn.PgError
	config.OnPgError = func(_ *pgconn.PgConn, err *pgconn.PgError) bool { said = append(said, *err); return true }
	conn, err := pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	run(t, conn, "SET idle_in_transaction_session_timeout = '50ms'", "BEGIN")
	time.Sleep(500 * time.Millisecond) // far more than it may stand still
	if _, err := conn.Exec(t.Context(), "SELECT 1"); err == nil || !conn.IsClosed() {
		t.Errorf("%v, closed %v", err, conn.IsClosed())
	}
	if len(said) != 1 || said[0].Code != "XXUUU" || said[0].Severity != "ERROR" {
		t.Errorf("it said %+v", said)
	}
}
