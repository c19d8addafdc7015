package store

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit"
)

// statement is SQL, also where a variable has taken the name of the package.
type statement = db.Statement

// over is a reader over one connection.
var over = db.Over

// newList begins a list of what base selects.
var newList = db.NewList

// opened is a store, and connections to its database for what no store would do.
type opened struct {
	*DB
	pool *pgxpool.Pool
}

func open(t *testing.T, url string, options ...Option) *opened {
	t.Helper()
	d, err := Open(t.Context(), url, options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return &opened{d, pool}
}

func postgresOnly(t *testing.T) {
	t.Helper()
	if testkit.IsCockroach(t) {
		t.Skip("PostgreSQL's own way; CockroachDB's is another")
	}
}
