package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// JobHost is one host of a job that has several: done, failed in the last
// attempt that came to it, or still to be done. It is never running: all are
// that the job's step is at.
type JobHost struct {
	HostID    uuid.UUID        `db:"host_id"`
	Host      string           `db:"host"`
	State     domain.StepState `db:"state"`
	Code      string           `db:"code"`    // of the failure; "" where there is none
	Message   string           `db:"message"` // what came of it
	UpdatedAt time.Time        `db:"updated_at"`
}

const sqlInsertJobHosts = `
INSERT INTO job_hosts (job_id, host_id, state)
SELECT $1, n.id, 'pending'
  FROM unnest($2::UUID[]) AS n(id)`

const sqlBindSeveral = `
UPDATE jobs
   SET playbook_version_id = v.id
  FROM playbook_versions v
 WHERE jobs.id = $1 AND v.playbook = $2
   AND v.version = (SELECT min(b.version)
                      FROM host_playbooks b
                     WHERE b.host_id = ANY($3::UUID[]) AND b.playbook = $2
                    HAVING count(*) = $4 AND min(b.version) = max(b.version))`

// insertJobHosts adds the hosts of a job that has several. A version that a delivery gave to all of them takes the place of the
// default: one play has one version.
func (tx *Tx) insertJobHosts(ctx context.Context, job uuid.UUID, playbook string, hosts []uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlInsertJobHosts, job, hosts); err != nil {
		return fmt.Errorf("insert the job's hosts: %w", err)
	}
	if _, err := tx.Exec(ctx, sqlBindSeveral, job, playbook, hosts, len(hosts)); err != nil {
		return fmt.Errorf("bind the job to what its hosts were given: %w", err)
	}
	return nil
}

const sqlHostsOfJob = `
SELECT o.host_id, h.name AS host, o.state, o.code, o.message, o.updated_at
  FROM job_hosts o
  JOIN hosts h ON h.id = o.host_id
 WHERE o.job_id = $1
 ORDER BY h.name, o.host_id`

// HostsOfJob returns the hosts of a job that has several, by name.
func (r Reads) HostsOfJob(ctx context.Context, job uuid.UUID) ([]JobHost, error) {
	rows, err := r.q.Query(ctx, sqlHostsOfJob, job)
	if err != nil {
		return nil, fmt.Errorf("load the job's hosts: %w", err)
	}
	return db.AppendRows([]JobHost{}, rows)
}

// HostsToDo returns those hosts of a job that are not done, by name.
func (r Reads) HostsToDo(ctx context.Context, job uuid.UUID) ([]Host, error) {
	rows, err := r.q.Query(ctx, sqlHost+`
   AND h.id IN (SELECT o.host_id FROM job_hosts o WHERE o.job_id = $1 AND o.state <> 'succeeded')
 ORDER BY h.name, h.id`, job)
	if err != nil {
		return nil, fmt.Errorf("load the hosts that are to be done: %w", err)
	}
	return db.AppendRows([]Host{}, rows)
}

const sqlEndJobHost = `
UPDATE job_hosts
   SET state = CASE WHEN $3 = '' THEN 'succeeded' ELSE 'failed' END, code = $3, message = $4, updated_at = now()
 WHERE job_id = $1 AND host_id = $2 AND state <> 'succeeded'`

// EndJobHost notes what came of one host of a job: it is done, or with a code it
// failed. One that is done stays so.
func (tx *Tx) EndJobHost(ctx context.Context, job, host uuid.UUID, code, message string) error {
	return tx.One(ctx, domain.ErrNotFound, sqlEndJobHost, job, host, code, message)
}

const sqlHoldHosts = `
SELECT h.id
  FROM hosts h
 WHERE h.id = ANY($1)
 ORDER BY h.id
   FOR UPDATE`

// HeldHosts returns hosts, removed or not, which nobody changes until the
// transaction ends. One that is not there is not among them.
func (tx *Tx) HeldHosts(ctx context.Context, ids []uuid.UUID) ([]Host, error) {
	if _, err := tx.Exec(ctx, sqlHoldHosts, ids); err != nil {
		return nil, fmt.Errorf("hold hosts: %w", err)
	}
	rows, err := tx.q.Query(ctx, sqlHost+" AND h.id = ANY($1) ORDER BY h.name, h.id", ids)
	if err != nil {
		return nil, fmt.Errorf("load hosts: %w", err)
	}
	return db.AppendRows([]Host{}, rows)
}

// Such jobs stand with no host of their own.
const sqlUnderWayTogether = `
SELECT h.name
  FROM (SELECT j.id FROM jobs j WHERE j.host_id IS NULL AND j.kind = $2 AND j.state = 'queued'
        UNION ALL
        SELECT j.id FROM jobs j WHERE j.host_id IS NULL AND j.kind = $2 AND j.state = 'running' AND j.lease_expires_at IS NOT NULL) AS u
  JOIN job_hosts o ON o.job_id = u.id
  JOIN hosts h ON h.id = o.host_id
 WHERE o.host_id = ANY($1)
 GROUP BY h.id, h.name
HAVING count(*) >= $3::INT8
 ORDER BY h.name`

// UnderWayTogether returns the names of those of the hosts that at least so many
// jobs of one kind, which has several, are about that have not ended and were not
// told to stop.
func (r Reads) UnderWayTogether(ctx context.Context, hosts []uuid.UUID, kind domain.JobKind, jobs int) ([]string, error) {
	rows, err := r.q.Query(ctx, sqlUnderWayTogether, hosts, kind, jobs)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
