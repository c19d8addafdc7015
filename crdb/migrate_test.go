package crdb_test

import (
	"bytes"
	"io/fs"
	"regexp"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"kloigos/crdb"
)

// ddl finds the statements that a second run of the same file would stumble over.
var ddl = regexp.MustCompile(`(?im)^\s*(CREATE\s+(UNIQUE\s+)?(TABLE|INDEX|SEQUENCE|TYPE|VIEW)|DROP\s+\w+|ALTER\s+TABLE\s+\S+\s+(ADD|DROP)\s+COLUMN)\b.*$`)

func TestMigrationFilesCanRunAgain(t *testing.T) {
	t.Parallel()
	files := migrations(t)
	names, err := fs.Glob(files, "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("there are %d migrations, %v", len(names), err)
	}
	named := regexp.MustCompile(`^\d{5}_[a-z0-9_]+\.sql$`)
	references := regexp.MustCompile(`REFERENCES (\w+)`)
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if !named.MatchString(name) {
			t.Errorf("%s: migrations are named NNNNN_words.sql", name)
		}
		if !bytes.HasPrefix(text, []byte("-- +goose NO TRANSACTION\n-- +goose Up\n")) {
			t.Errorf("%s: begins with `-- +goose NO TRANSACTION` and `-- +goose Up`", name)
		}
		// Each foreign key locks the table that it names, which others write meanwhile: two of them end in deadlocks. Nobody
		// writes a table that the same file makes.
		for _, key := range references.FindAllSubmatch(text, -1) {
			if name > "00025" && !bytes.Contains(text, []byte("CREATE TABLE IF NOT EXISTS "+string(key[1])+" (")) {
				t.Errorf("%s: a table that comes to an installation under load has no foreign key to %s, which is in use", name, key[1])
			}
		}
		for _, line := range ddl.FindAllString(string(text), -1) {
			if !regexp.MustCompile(`(?i)\bIF\s+(NOT\s+)?EXISTS\b`).MatchString(line) {
				t.Errorf("%s: %q fails when the file runs again: say IF [NOT] EXISTS", name, line)
			}
		}
	}
}

func TestMigrateAndStatus(t *testing.T) {
	t.Parallel()
	url := emptyDatabase(t)
	before, err := crdb.Status(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	names, _ := fs.Glob(migrations(t), "*.sql")
	if diff := cmp.Diff(names, before.Pending); diff != "" {
		t.Errorf("pending on an empty database (-want +got):\n%s", diff)
	}
	if got := tables(t, url); got != 0 {
		t.Errorf("Status made %d tables", got)
	}
	migrate(t, url)
	assertCurrent(t, url)

	// Cut anywhere: the tables are there and the record of it isn't.
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), `DELETE FROM schema_migrations WHERE version_id > 0`); err != nil {
		t.Fatal(err)
	}
	migrate(t, url)
	assertCurrent(t, url)

	if _, err := conn.Exec(t.Context(), `INSERT INTO schema_migrations (version_id, is_applied) VALUES (99999, true)`); err != nil {
		t.Fatal(err)
	}
	ahead, err := crdb.Status(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(crdb.SchemaStatus{Unknown: []int64{99999}}, ahead); diff != "" {
		t.Errorf("status of a newer schema (-want +got):\n%s", diff)
	}
}

func TestMigrateAtTheSameTime(t *testing.T) {
	t.Parallel()
	url := emptyDatabase(t)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if err := crdb.Migrate(t.Context(), url); err != nil {
				t.Errorf("migrate: %v", err)
			}
		})
	}
	group.Wait()
	assertCurrent(t, url)
}

func TestErrorsDoNotShowThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgresql://kloigos:hunter2@[bad/kloigos", "postgresql://kloigos:hunter2@127.0.0.1:1/kloigos"} {
		err := crdb.Migrate(t.Context(), url)
		if err == nil {
			t.Fatalf("%s: no error", url)
		}
		if bytes.Contains([]byte(err.Error()), []byte("hunter2")) {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func migrations(t *testing.T) fs.FS {
	t.Helper()
	files, err := crdb.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func migrate(t *testing.T, url string) {
	t.Helper()
	if err := crdb.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
}

func assertCurrent(t *testing.T, url string) {
	t.Helper()
	status, err := crdb.Status(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(crdb.SchemaStatus{}, status); diff != "" {
		t.Errorf("status after migrating (-want +got):\n%s", diff)
	}
}

func tables(t *testing.T, url string) (count int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_tables WHERE schemaname = 'public'`).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}
