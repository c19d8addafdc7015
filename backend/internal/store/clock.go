package store

import (
	"context"
	"fmt"

	"kloigos/backend/internal/kernel/db"
)

// What lies further ahead of the database's clock than anything that is ever
// written was written before that clock went back. A job waits for at most
// min(2^attempt, 600) s; a lease lasts 10 minutes at most, and one that is alive
// is renewed within a second; a name is blocked for 64 s.
const (
	sqlReadyAgain = `
UPDATE jobs
   SET run_after = now()
 WHERE id IN (SELECT j.id
                FROM jobs j
               WHERE j.state = 'queued' AND j.run_after > now() + INTERVAL '1 minute'
                 AND j.run_after > now() + (60 + LEAST(1::INT8 << LEAST(j.attempt, 10), 600)) * INTERVAL '1 second'
               ORDER BY j.priority DESC, j.run_after, j.id
               LIMIT 1000)
   AND state = 'queued' AND run_after > now() + INTERVAL '1 minute'`

	sqlLeasesAhead = `
UPDATE jobs
   SET lease_expires_at = now() + INTERVAL '1 minute'
 WHERE lease_expires_at > now() + INTERVAL '11 minutes'`

	sqlUnblockLogins = `
UPDATE login_failures
   SET blocked_until = now()
 WHERE blocked_until > now() + INTERVAL '2 minutes'`
)

// SetAheadRight makes what was written before the database's clock went back
// count by what it is now, and tells how much of it there was: up to 1,000 jobs
// that wait, all leases, all names that are blocked.
func (tx *Tx) SetAheadRight(ctx context.Context) (changed int64, err error) {
	for _, one := range []struct {
		what string
		sql  db.Statement
	}{{"jobs that wait", sqlReadyAgain}, {"leases", sqlLeasesAhead}, {"blocked names", sqlUnblockLogins}} {
		n, err := tx.Exec(ctx, one.sql)
		if err != nil {
			return 0, fmt.Errorf("set right %s that are ahead of the clock: %w", one.what, err)
		}
		changed += n
	}
	return changed, nil
}
