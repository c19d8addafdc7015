package testkit_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/testkit"
)

func TestDatabasesAreFreshAndApart(t *testing.T) {
	t.Parallel()
	first, second := testkit.DatabaseURL(t), testkit.DatabaseURL(t)
	exec(t, first, `CREATE TABLE notes (note TEXT)`)
	if got := count(t, second, `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`); got != 0 {
		t.Errorf("a fresh database has %d tables", got)
	}
}

func TestDatabaseIsDroppedWithItsTest(t *testing.T) {
	t.Parallel()
	var url, name string
	t.Run("inner", func(t *testing.T) {
		url = testkit.DatabaseURL(t)
		conn := connect(t, url) // still open when the database goes
		if err := conn.QueryRow(t.Context(), `SELECT current_database()`).Scan(&name); err != nil {
			t.Fatal(err)
		}
	})
	other := testkit.DatabaseURL(t)
	conn := connect(t, other)
	var left int
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_database WHERE datname = $1`, name).Scan(&left); err != nil {
		t.Fatal(err)
	}
	if name == "" || left != 0 {
		t.Errorf("database %q is still there", name)
	}
}

func TestTemplateIsBuiltOnce(t *testing.T) {
	t.Parallel()
	if testkit.IsCockroach(t) {
		t.Skip("CockroachDB can't copy a database: build runs for each")
	}
	var built atomic.Int32
	build := func(ctx context.Context, url string) error {
		built.Add(1)
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, `CREATE TABLE notes (note TEXT); INSERT INTO notes VALUES ('from the template')`)
		return err
	}
	// A key of this run: the template outlives the test on a server that does.
	key := testkit.RandomKey()
	for range 3 {
		url := testkit.TemplateURL(t, key, build)
		if got := count(t, url, `SELECT count(*) FROM notes`); got != 1 {
			t.Errorf("the copy holds %d notes", got)
		}
		exec(t, url, `DELETE FROM notes`)
	}
	if built.Load() != 1 {
		t.Errorf("the template was built %d times", built.Load())
	}
	testkit.DropTemplate(t, key)
}

func TestMigratedDatabaseHasTheSchema(t *testing.T) {
	t.Parallel()
	url := testkit.MigratedURL(t)
	if got := count(t, url, `SELECT count(*) FROM jobs`); got != 0 {
		t.Errorf("%d jobs", got)
	}
}

func BenchmarkMigratedURL(b *testing.B) {
	for b.Loop() {
		testkit.MigratedURL(b)
	}
}

func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func exec(t testing.TB, url, statement string) {
	t.Helper()
	conn := connect(t, url)
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func count(t testing.TB, url, query string) (n int) {
	t.Helper()
	conn := connect(t, url)
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
