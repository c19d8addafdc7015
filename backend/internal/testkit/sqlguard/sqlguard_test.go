package sqlguard_test

import (
	"os"
	"path/filepath"
	"testing"

	"kloigos/backend/internal/testkit/sqlguard"
)

func TestHas(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source := "package p\n\nconst sqlA = `\nSELECT a.id\n  FROM a\n WHERE true`\n\nfunc f(q func(string)) { q(sqlA + \" AND a.id = $1\"); q(\"SELECT 1\") }\n"
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	const golden = "-- a comment\n\nSELECT a.id\n  FROM a\n WHERE true\n  AND a.x = $1\n  AND a.y IN ($2, $3)\nORDER BY a.id\nLIMIT $4;\n\nSELECT a.id\n  FROM a\n WHERE true\nORDER BY a.id\nLIMIT $1\nFOR UPDATE;\n"
	if err := os.Mkdir(filepath.Join(dir, "testdata"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "testdata", "assembled.sql"), []byte(golden), 0o600); err != nil {
		t.Fatal(err)
	}
	k, err := sqlguard.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	const base = "\nSELECT a.id\n  FROM a\n WHERE true"
	for sql, want := range map[string]bool{
		base: true, base + " AND a.id = $1": true, "SELECT 1": true, "commit": true, "begin isolation level read committed": true,
		base + "\n  AND a.y IN ($1, $2)\nORDER BY a.id\nLIMIT $3":                 true,
		base + "\n  AND a.y IN ($1, $2)\n  AND a.x = $3\nORDER BY a.id\nLIMIT $4": true,
		base + "\nORDER BY a.id\nLIMIT $1\nFOR UPDATE":                            true,
		base + "\n  AND a.x = $1\nORDER BY a.id\nLIMIT 51":                        true,
		base + "\n  AND a.x = 51\nORDER BY a.id\nLIMIT $1":                        false,
		"SELECT 2":            false,
		base + " AND a.y = 1": false,
		base + "\n  AND a.z = $1\nORDER BY a.id\nLIMIT $2":                            false,
		base + "\n  AND a.x = $1\nORDER BY a.x\nLIMIT $2":                             false,
		base + "\nORDER BY a.id\nLIMIT $1\nFOR UPDATE SKIP LOCKED":                    false,
		"SELECT b.id\n  FROM b\n WHERE true\n  AND a.x = $1\nORDER BY a.id\nLIMIT $2": false,
	} {
		if got := k.Has(sql); got != want {
			t.Errorf("%v for %s", got, sql)
		}
	}
}
