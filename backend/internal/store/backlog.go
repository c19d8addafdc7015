package store

import (
	"context"
	"fmt"

	"kloigos/backend/internal/kernel/db"
)

// Backlog is the jobs of one kind that have not ended and stand alike.
type Backlog struct {
	Kind string `db:"kind"`
	// State is 'queued' (may be claimed), 'delayed' (queued for a later try),
	// 'running' or 'cancelling'.
	State         string  `db:"state"`
	Jobs          int64   `db:"jobs"`
	OldestSeconds float64 `db:"oldest_seconds"` // since it may be claimed, or since its first attempt began; 0 while delayed
	Overdue       int64   `db:"overdue"`        // whose lease has run out, and nobody took them over yet
}

// BacklogCounted is how many queued jobs are counted: beyond, the exact number
// is not worth what it costs to whoever asks every few seconds.
const BacklogCounted = 100_000

const sqlBacklog = `
SELECT b.kind, b.state, count(*) AS jobs,
       COALESCE(GREATEST(EXTRACT(EPOCH FROM now() - min(b.since)), 0), 0)::FLOAT8 AS oldest_seconds,
       count(*) FILTER (WHERE b.overdue) AS overdue
  FROM ((SELECT j.kind, CASE WHEN j.run_after > now() THEN 'delayed' ELSE 'queued' END AS state, j.run_after AS since, false AS overdue
           FROM jobs j
          WHERE j.state = 'queued'
          ORDER BY j.priority DESC, j.run_after, j.id
          LIMIT $1)
        UNION ALL
        (SELECT j.kind, j.state, j.started_at, j.lease_expires_at < now()
           FROM jobs j
          WHERE j.lease_expires_at IS NOT NULL
          ORDER BY j.lease_expires_at
          LIMIT $1)) AS b
 GROUP BY b.kind, b.state
 ORDER BY b.kind, b.state`

// Backlog counts what has not ended, by kind and state.
func (r Reads) Backlog(ctx context.Context) ([]Backlog, error) {
	rows, err := db.Collect[Backlog](ctx, r.q, sqlBacklog, BacklogCounted)
	if err != nil {
		return nil, fmt.Errorf("count the queue: %w", err)
	}
	return rows, nil
}
