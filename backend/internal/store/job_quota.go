package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/db"
)

// A quota of jobs counts those that run: what a worker has the lease of, or had when it died. Its row changes in the transaction
// in which a job comes to run, or stops to. A job that finds its quota used up is refused nothing: it keeps its place in the queue.

// fullWorkspaces are those that may begin no job: their own quota, or that of their project or organization, is used up.
const fullWorkspaces = `
SELECT qw.scope_id
  FROM quotas qw
 WHERE qw.resource = 'jobs' AND qw.used >= qw.amount
 UNION ALL
SELECT wp.id
  FROM quotas qp
  JOIN workspaces wp ON wp.project_id = qp.scope_id
 WHERE qp.resource = 'jobs' AND qp.used >= qp.amount
 UNION ALL
SELECT wo.id
  FROM quotas qo
  JOIN projects po ON po.organization_id = qo.scope_id
  JOIN workspaces wo ON wo.project_id = po.id
 WHERE qo.resource = 'jobs' AND qo.used >= qo.amount`

// jobsLimited tells whether anything has a quota of jobs at all. Mostly nothing has, and then counting costs nothing.
const jobsLimited = `EXISTS (SELECT 1 FROM quotas ql WHERE ql.resource = 'jobs')`

// In the order in which quotas are changed everywhere: workspace, project, organization.
const sqlQuotasOfJobs = `
SELECT j.id AS job_id, q.scope_id, CASE q.scope WHEN 'workspace' THEN 0 WHEN 'project' THEN 1 ELSE 2 END AS level
  FROM jobs j
  JOIN workspaces w ON w.id = j.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN quotas q ON q.scope_id IN (w.id, p.id, p.organization_id)
 WHERE q.resource = 'jobs' AND j.id = ANY ($1)
 ORDER BY level, q.scope_id, j.id`

const sqlLockJobQuota = `
SELECT q.amount - q.used AS room
  FROM quotas q
 WHERE q.scope_id = $1 AND q.resource = 'jobs'
   FOR UPDATE`

const sqlCountJobs = `
UPDATE quotas
   SET used = used + $2::INT8
 WHERE scope_id = $1 AND resource = 'jobs'`

// jobQuota is a quota over some jobs.
type jobQuota struct {
	scope uuid.UUID
	jobs  []uuid.UUID
}

// jobQuotas are the quotas over some jobs, in their order.
func (tx *Tx) jobQuotas(ctx context.Context, jobs []uuid.UUID) (quotas []jobQuota, err error) {
	type row struct {
		JobID   uuid.UUID `db:"job_id"`
		ScopeID uuid.UUID `db:"scope_id"`
		Level   int       `db:"level"`
	}
	rows, err := db.Collect[row](ctx, tx.q, sqlQuotasOfJobs, jobs)
	if err != nil {
		return nil, fmt.Errorf("read the quotas of jobs: %w", err)
	}
	for _, r := range rows {
		if n := len(quotas); n == 0 || quotas[n-1].scope != r.ScopeID {
			quotas = append(quotas, jobQuota{scope: r.ScopeID})
		}
		last := &quotas[len(quotas)-1]
		last.jobs = append(last.jobs, r.JobID)
	}
	return quotas, nil
}

// countJobs counts jobs that came to run, or with -1 those that stopped to, whatever their quotas leave.
func (tx *Tx) countJobs(ctx context.Context, sign int, jobs ...uuid.UUID) error {
	if len(jobs) == 0 {
		return nil
	}
	quotas, err := tx.jobQuotas(ctx, jobs)
	if err != nil {
		return err
	}
	for _, q := range quotas {
		if _, err := tx.Exec(ctx, sqlCountJobs, q.scope, sign*len(q.jobs)); err != nil {
			return fmt.Errorf("count jobs: %w", err)
		}
	}
	return nil
}

// admit counts what was just claimed, and returns what the quotas leave no room for.
func (tx *Tx) admit(ctx context.Context, claimed []uuid.UUID) (over []uuid.UUID, err error) {
	quotas, err := tx.jobQuotas(ctx, claimed)
	if err != nil {
		return nil, err
	}
	for _, q := range quotas {
		room, err := db.Collect[struct {
			Room int64 `db:"room"`
		}](ctx, tx.q, sqlLockJobQuota, q.scope)
		if err != nil {
			return nil, fmt.Errorf("hold a quota of jobs: %w", err)
		}
		if len(room) == 0 { // it was taken away just now
			continue
		}
		left := max(room[0].Room, 0)
		for _, id := range q.jobs {
			switch {
			case slices.Contains(over, id): // another quota has no room for it
			case left > 0:
				left--
			default:
				over = append(over, id)
			}
		}
	}
	within := slices.DeleteFunc(slices.Clone(claimed), func(id uuid.UUID) bool { return slices.Contains(over, id) })
	return over, tx.countJobs(ctx, 1, within...)
}

// Nobody has seen that they were claimed: the attempt is used again.
const sqlUnclaimJobs = `
UPDATE jobs
   SET state = 'queued', worker_id = NULL, lease_expires_at = NULL, attempt = attempt - 1, started_at = CASE WHEN attempt = 1 THEN NULL ELSE started_at END
 WHERE id = ANY ($1)`

// within keeps of what was just claimed the jobs that quotas have room for. The others are as they were.
func (tx *Tx) within(ctx context.Context, claims []Claim) ([]Claim, error) {
	ids := make([]uuid.UUID, len(claims))
	for i, c := range claims {
		ids[i] = c.ID
	}
	over, err := tx.admit(ctx, ids)
	if err != nil || len(over) == 0 {
		return claims, err
	}
	if _, err := tx.Exec(ctx, sqlUnclaimJobs, over); err != nil {
		return nil, fmt.Errorf("leave jobs in the queue: %w", err)
	}
	return slices.DeleteFunc(claims, func(c Claim) bool { return slices.Contains(over, c.ID) }), nil
}

// FullJobQuota is the quota that the jobs of a workspace wait for, in a sentence; "" if they wait for none.
func (r Reads) FullJobQuota(ctx context.Context, workspace uuid.UUID) (string, error) {
	quotas, err := iam.QuotasOver(ctx, r.q, workspace)
	for _, q := range quotas {
		if q.Resource == iam.Jobs && q.Used >= q.Amount {
			return q.Full(), err
		}
	}
	return "", err
}
