package grammar_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"kloigos/crdb/grammar"
)

const (
	root       = "../.."
	migrations = root + "/crdb/migrations"
	internal   = root + "/backend/internal"
	store      = internal + "/store"
)

// packages are those of the backend that hold SQL: store, the kernel's db, and each
// that has a file *_sql.go.
func packages(t *testing.T) []string {
	t.Helper()
	dirs := []string{store, internal + "/kernel/db"}
	err := filepath.WalkDir(internal, func(path string, entry fs.DirEntry, err error) error {
		if dir := filepath.Dir(path); err == nil && strings.HasSuffix(path, "_sql.go") && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(migrations, "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations in %s, %v", len(files), migrations, err)
	}
	total := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		count, problems := grammar.CheckSchema(string(text))
		total += count
		for _, problem := range problems {
			t.Errorf("%s: %s", file, problem)
		}
	}
	t.Logf("%d statements in %d files", total, len(files))
}

func TestStatements(t *testing.T) {
	t.Parallel()
	statements := 0
	for _, dir := range append(packages(t), root+"/crdb") {
		found, err := grammar.SourceSQL(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, piece := range found {
			var problems []string
			switch {
			case piece.Uncheckable != "":
				problems = []string{piece.Uncheckable}
			case piece.Condition:
				problems = grammar.CheckExpression(strings.ReplaceAll(piece.SQL, "?", "$1"))
			default:
				statements++
				_, problems = grammar.Check(piece.SQL)
			}
			for _, problem := range problems {
				t.Errorf("%s: %s\n%s", piece.Position, problem, piece.SQL)
			}
		}
	}
	// Else the test would pass when the store moves away.
	if statements < 20 {
		t.Errorf("only %d statements found in %s", statements, store)
	}
	t.Logf("%d statements", statements)
}

// TestAssembledStatements parses what the store puts together at run time. A test of the store writes the file; tests on
// the database fail at a statement that is neither constant nor made of what is in it.
func TestAssembledStatements(t *testing.T) {
	t.Parallel()
	file := store + "/testdata/assembled.sql"
	var text []byte
	for _, dir := range packages(t) {
		one, err := os.ReadFile(dir + "/testdata/assembled.sql")
		if err != nil && (dir == store || !errors.Is(err, fs.ErrNotExist)) {
			t.Fatal(err)
		}
		text = append(text, one...)
	}
	statements := strings.Split(strings.TrimSpace(string(text)), ";\n")
	for _, statement := range statements {
		if count, problems := grammar.Check(statement); count != 1 || len(problems) > 0 {
			t.Errorf("%d statements: %s\n%s", count, strings.Join(problems, "\n"), statement)
		}
	}
	for _, part := range []string{"FOR UPDATE OF u SKIP LOCKED", "FOR UPDATE OF u;", " LIMIT $", "SELECT count(*), COALESCE("} {
		if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), part) {
			t.Errorf("%s has no statement with %q", file, part)
		}
	}
	t.Logf("%d statements", len(statements))
}

// TestSQLHasItsPlaces: whoever looks for SQL finds it by the name of the file.
func TestSQLHasItsPlaces(t *testing.T) {
	t.Parallel()
	allowed := []string{store, internal + "/kernel/db", internal + "/testkit"}
	err := filepath.WalkDir(internal, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		if slices.Contains(allowed, path) {
			return filepath.SkipDir
		}
		found, err := grammar.SourceSQL(path)
		if err != nil {
			return err
		}
		for _, piece := range found {
			if name, _, _ := strings.Cut(piece.Position, ":"); strings.HasSuffix(name, "_sql.go") {
				continue
			}
			if count, _ := grammar.Check(piece.SQL); count > 0 && !piece.Condition && strings.Contains(piece.SQL, " ") {
				t.Errorf("%s: SQL outside of store, kernel/db and files *_sql.go: %s", piece.Position, piece.SQL)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELEC 1":                                  "can't parse",
		"SELECT pg_advisory_lock(1)":               "lock nothing",
		"LISTEN jobs":                              "LISTEN",
		"CREATE DOMAIN d AS TEXT":                  "domains",
		"SELECT format('%s', a) FROM t":            "format()",
		"SELECT jsonb_path_query(a, '$.b') FROM t": "JSON path",
		"INSERT INTO t (a) VALUES (1) ON CONFLICT ON CONSTRAINT c DO NOTHING":        "conflict",
		"DELETE FROM a USING b WHERE a.id = b.id":                                    "USING",
		"SELECT txid_current()":                                                      "transaction ids",
		"CREATE TABLE t (id SERIAL PRIMARY KEY)":                                     "SERIAL",
		"CREATE TABLE t (id UUID PRIMARY KEY, UNIQUE (id) DEFERRABLE)":               "deferred",
		"WITH a AS (UPDATE t SET x = 1 RETURNING id) UPDATE t SET y = 2":             "changed twice",
		"WITH a AS (DELETE FROM t RETURNING id) INSERT INTO t (id) SELECT id FROM a": "changed twice",
		"DO $$ BEGIN END $$":                                 "DO blocks",
		"SELECT a FROM t WHERE $1 = ANY (b)":                 "before ANY",
		"SELECT (SELECT jsonb_object_agg(a, b) FROM t) AS c": "no key",
		"": "no statement",
	} {
		_, problems := grammar.Check(sql)
		if len(problems) == 0 || !strings.Contains(strings.Join(problems, "\n"), want) {
			t.Errorf("%q: got %q, want one with %q", sql, problems, want)
		}
	}
	if _, problems := grammar.CheckSchema("CREATE TABLE t (n INTEGER)"); len(problems) != 1 {
		t.Errorf("a naked INTEGER: %q", problems)
	}
}

func TestCheckAccepts(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"SELECT id FROM jobs WHERE state = 'queued' ORDER BY priority DESC LIMIT $1 FOR UPDATE SKIP LOCKED",
		"INSERT INTO t (a) VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = excluded.b RETURNING a",
		"WITH a AS (UPDATE t SET x = 1 RETURNING id) INSERT INTO u (id) SELECT id FROM a",
		"SELECT 'pg_advisory_lock(1), format(', a -- LISTEN to format(\nFROM t",
		"CREATE TABLE IF NOT EXISTS t (n INT4 NOT NULL REFERENCES u (n) ON DELETE CASCADE ON UPDATE CASCADE)",
	} {
		if _, problems := grammar.Check(sql); len(problems) > 0 {
			t.Errorf("%q: %q", sql, problems)
		}
	}
}

func TestSourceSQLFindsPieces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "package p\n" +
		"const sqlT = `\nSELECT a\n  FROM t\n WHERE true`\n" +
		"func f(name string) {\n" +
		"\tq(sqlT+\" AND a = $1\")\n" +
		"\tq(\"SELECT \" + name)\n" +
		"\tnewList(sqlT).And(\"a = ?\", 1).AndIf(name, \"t.b = ?\").And(filter.sql).Page(\"a, b\", 10)\n" +
		"\tfilter{sql: \"(t.c < ? OR t.c IS NULL)\"}\n" +
		"\tfmt.Errorf(\"select host: %w\", err)\n" +
		"}\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := grammar.SourceSQL(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, piece := range found {
		kind := "statement"
		if piece.Condition {
			kind = "condition"
		}
		if piece.Uncheckable != "" {
			kind = "uncheckable"
		}
		got = append(got, kind+": "+strings.Join(strings.Fields(piece.SQL), " "))
	}
	slices.Sort(got)
	want := []string{
		"condition: (t.c < ? OR t.c IS NULL)", "condition: a = ?", "condition: t.b = ?", "statement: SELECT FROM t ORDER BY a, b", "statement: SELECT a FROM t WHERE true",
		"statement: SELECT a FROM t WHERE true AND a = $1", "uncheckable: SELECT",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
