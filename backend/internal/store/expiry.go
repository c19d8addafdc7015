package store

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/kernel/db"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Rows that one transaction removes at most: few enough to hold nobody up.
const (
	expiryJobs   = 50
	expiryChunks = 500
	expiryRows   = 500 // of anything else
)

// removeSome removes a bounded number of rows, by a statement whose one parameter that
// is, and tells how many, and whether more may be left.
func (tx *Tx) removeSome(ctx context.Context, remove db.Statement) (n int64, more bool, err error) {
	n, err = tx.Exec(ctx, remove, expiryRows)
	return n, n == expiryRows, err
}

const sqlExpiredLogs = `
SELECT j.id
  FROM jobs j
 WHERE j.finished_at < now() - $1::INT8 * INTERVAL '1 second' AND j.log_expired_at IS NULL
 ORDER BY j.finished_at
 LIMIT $2
   FOR UPDATE SKIP LOCKED`

const sqlDeleteLogs = `
DELETE FROM job_log
 WHERE (job_id, first_seq) IN (SELECT l.job_id, l.first_seq
                                 FROM job_log l
                                WHERE l.job_id = ANY($1)
                                ORDER BY l.job_id, l.first_seq
                                LIMIT $2)`

const sqlLogsExpired = `
UPDATE jobs
   SET log_expired_at = now()
 WHERE id = ANY($1) AND finished_at IS NOT NULL`

// ExpireLogs removes a bounded part of the logs of jobs that ended longer ago
// than keep, and tells how many chunks that were and whether more are left.
func (tx *Tx) ExpireLogs(ctx context.Context, keep time.Duration) (chunks int64, more bool, err error) {
	ids, err := tx.expiredLogs(ctx, keep)
	if err != nil || len(ids) == 0 {
		return 0, false, err
	}
	if chunks, err = tx.Exec(ctx, sqlDeleteLogs, ids, expiryChunks); err != nil {
		return 0, false, fmt.Errorf("remove logs: %w", err)
	}
	if chunks == expiryChunks { // some of them may have more
		return chunks, true, nil
	}
	if _, err := tx.Exec(ctx, sqlLogsExpired, ids); err != nil {
		return 0, false, fmt.Errorf("note that logs were removed: %w", err)
	}
	return chunks, len(ids) == expiryJobs, nil
}

func (tx *Tx) expiredLogs(ctx context.Context, keep time.Duration) ([]uuid.UUID, error) {
	rows, err := tx.q.Query(ctx, sqlExpiredLogs, int64(keep/time.Second), expiryJobs)
	if err != nil {
		return nil, fmt.Errorf("find logs that expired: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}
