package store

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Pulse is the little of a job that tells whether a viewer has to look again.
type Pulse struct {
	State     domain.JobState `db:"state"`
	Attempt   int             `db:"attempt"`
	Failures  int             `db:"failures"`
	StepsDone int             `db:"steps_done"`
	StepsRun  int             `db:"steps_run"`
	HostsDone int             `db:"hosts_done"` // well or not, of a job that has several
	LastSeq   int64           `db:"last_seq"`   // of the log
}

// State and end of the log come from one statement: a job that has ended has
// no more entries than it shows here.
const sqlPulse = `
SELECT j.state, j.attempt, j.failures,
       (SELECT count(*) FROM job_steps s WHERE s.job_id = j.id AND s.state = 'succeeded') AS steps_done,
       (SELECT count(*) FROM job_steps s WHERE s.job_id = j.id AND s.state = 'running') AS steps_run,
       (SELECT count(*) FROM job_hosts o WHERE o.job_id = j.id AND o.state <> 'pending') AS hosts_done,
       COALESCE((SELECT l.last_seq FROM job_log l WHERE l.job_id = j.id ORDER BY l.first_seq DESC LIMIT 1), 0) AS last_seq
  FROM jobs j
 WHERE j.id = $1`

// JobPulse returns the pulse of a job.
func (r Reads) JobPulse(ctx context.Context, id uuid.UUID) (Pulse, error) {
	return db.First[Pulse](ctx, r.q, domain.ErrNotFound, sqlPulse, id)
}
