package intent_test

import (
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// waiting counts the connections that wait for a lock of another one.
func waiting(s *site.Site) (n int) {
	if testkit.IsCockroach(s.T) {
		s.T.Skip("looks at PostgreSQL's own table of locks")
	}
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		return 0
	}
	defer func() { _ = conn.Close(s.T.Context()) }()
	err = conn.QueryRow(s.T.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n)
	if err != nil {
		return 0
	}
	return n
}

// forget takes the note of its zone from a unit.
func forget(s *site.Site, unit uuid.UUID) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(s.T.Context()) }()
	if _, err := conn.Exec(s.T.Context(), `UPDATE compute_units SET zone = NULL WHERE id = $1`, unit); err != nil {
		s.T.Fatal(err)
	}
}
