package work

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// errBusy hands a job back because another one holds what it needs.
var errBusy = errors.New("another job holds what this one needs")

// The holder of a lock whose job is over, or gone, holds it no longer: whoever ends
// a job need not know what it held.
const sqlFreeStaleLock = `
UPDATE job_locks
   SET job_id = NULL, taken_at = NULL
 WHERE key = $1 AND job_id <> $2
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = job_locks.job_id AND j.lease_expires_at IS NOT NULL)`

// The number grows with each taking, over the lock's whole life: what is written
// outside under an older one can be told from that.
const sqlTakeLock = `
INSERT INTO job_locks (key, job_id, attempt, number, taken_at)
VALUES ($1, $2, $3, 1, now())
ON CONFLICT (key) DO UPDATE
   SET job_id = excluded.job_id, attempt = excluded.attempt, number = job_locks.number + 1, taken_at = now()
 WHERE job_locks.job_id IS NULL OR job_locks.job_id = excluded.job_id
RETURNING number`

const sqlReleaseLocks = `
UPDATE job_locks
   SET job_id = NULL, taken_at = NULL
 WHERE job_id = $1 AND attempt <= $2`

// key names the lock of an object.
func (o Object) key() string { return o.Noun + "/" + o.ID.String() }

// lock takes the locks of an attempt, in sorted order so that two jobs never wait
// for each other, all or none; errBusy if another job has one of them. It returns
// the number of each by its key.
func lock(ctx context.Context, tx *db.Tx, job uuid.UUID, attempt int, keys []string) (map[string]int64, error) {
	keys = slices.Clone(keys)
	slices.Sort(keys)
	numbers := map[string]int64{}
	for _, key := range slices.Compact(keys) {
		if _, err := tx.Exec(ctx, sqlFreeStaleLock, key, job); err != nil {
			return nil, fmt.Errorf("look at the lock %s: %w", key, err)
		}
		var number int64
		err := tx.QueryRow(ctx, sqlTakeLock, key, job, attempt).Scan(&number)
		if db.IsNoRows(err) {
			return nil, errBusy
		}
		if err != nil {
			return nil, fmt.Errorf("take the lock %s: %w", key, err)
		}
		numbers[key] = number
	}
	return numbers, nil
}

// release lets go of what an attempt holds.
func release(ctx context.Context, tx *db.Tx, job uuid.UUID, attempt int) error {
	if _, err := tx.Exec(ctx, sqlReleaseLocks, job, attempt); err != nil {
		return fmt.Errorf("release locks: %w", err)
	}
	return nil
}
