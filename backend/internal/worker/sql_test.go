package worker_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// sql brings about what only the passing of time, or another process, would.
func (p place) sql(statement string, args ...any) {
	p.T.Helper()
	conn, err := pgx.Connect(p.T.Context(), p.URL)
	if err != nil {
		p.T.Fatal(err)
	}
	defer func() { _ = conn.Close(p.T.Context()) }()
	tag, err := conn.Exec(p.T.Context(), statement, args...)
	if err != nil || tag.RowsAffected() != 1 {
		p.T.Fatalf("%s: %v, %v", statement, tag, err)
	}
}

// now lets a job that waits for its next try be claimed at once.
func (p place) now(job uuid.UUID) {
	p.T.Helper()
	p.sql(`UPDATE jobs SET run_after = now() WHERE id = $1`, job)
}
