package crdb_test

import (
	"bytes"
	"io/fs"
	"regexp"
	"slices"
	"strings"
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
		for _, statement := range strings.Split(string(text), ";\n") {
			if locked := lockedByKeys(string(text), statement); name > "00025" && len(locked) > 1 {
				t.Errorf("%s: a foreign key makes one statement lock %s, which an installation under load writes: leave it out", name, strings.Join(locked, " and "))
			}
		}
		for _, line := range ddl.FindAllString(string(text), -1) {
			if !regexp.MustCompile(`(?i)\bIF\s+(NOT\s+)?EXISTS\b`).MatchString(line) {
				t.Errorf("%s: %q fails when the file runs again: say IF [NOT] EXISTS", name, line)
			}
		}
	}
}

var (
	altered    = regexp.MustCompile(`(?m)^ALTER TABLE (\w+)`)
	references = regexp.MustCompile(`\bREFERENCES (\w+)`)
)

// lockedByKeys names the tables that a statement with foreign keys locks against writes while backends use them. A
// statement that locks two of them can end in a deadlock. Nobody writes a table that the same file makes.
func lockedByKeys(file, statement string) (locked []string) {
	keys := references.FindAllStringSubmatch(statement, -1)
	if len(keys) == 0 {
		return nil
	}
	for _, m := range append(altered.FindAllStringSubmatch(statement, -1), keys...) {
		if !strings.Contains(file, "CREATE TABLE IF NOT EXISTS "+m[1]+" (") && !slices.Contains(locked, m[1]) {
			locked = append(locked, m[1])
		}
	}
	return locked
}

func TestStatementsThatLockTwoTablesAreFound(t *testing.T) {
	t.Parallel()
	for statement, want := range map[string][]string{
		"CREATE TABLE IF NOT EXISTS a (b UUID REFERENCES hosts (id))":                                 {"hosts"},
		"CREATE TABLE IF NOT EXISTS a (b UUID REFERENCES hosts (id),\n c UUID REFERENCES jobs (id))":  {"hosts", "jobs"},
		"CREATE TABLE IF NOT EXISTS a (b UUID REFERENCES hosts (id),\n c UUID REFERENCES fresh (id))": {"hosts"},
		"-- c\nALTER TABLE hosts ADD COLUMN IF NOT EXISTS c UUID REFERENCES jobs (id)":                {"hosts", "jobs"},
		"ALTER TABLE hosts ADD COLUMN IF NOT EXISTS c UUID REFERENCES hosts (id)":                     {"hosts"},
		"ALTER TABLE hosts ADD COLUMN IF NOT EXISTS c UUID":                                           nil,
	} {
		if diff := cmp.Diff(want, lockedByKeys("CREATE TABLE IF NOT EXISTS fresh (", statement)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", statement, diff)
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
