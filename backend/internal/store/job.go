package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// Job is one row of jobs, with the names of what it is about.
type Job struct {
	ID                uuid.UUID        `db:"id"`
	WorkspaceID       uuid.UUID        `db:"workspace_id"`
	Kind              domain.JobKind   `db:"kind"`
	Args              json.RawMessage  `db:"args"`
	HostID            *uuid.UUID       `db:"host_id"`
	Host              *string          `db:"host"`
	HostWorkspace     *uuid.UUID       `db:"host_workspace_id"`
	UnitID            *uuid.UUID       `db:"unit_id"`
	Unit              *string          `db:"unit"`
	AllocationID      *uuid.UUID       `db:"allocation_id"`
	LoginUser         *string          `db:"login_user"`
	AllocationEndedAt *time.Time       `db:"allocation_ended_at"`
	PlanID            *uuid.UUID       `db:"plan_id"` // that it makes, or that it is bound to
	State             domain.JobState  `db:"state"`
	Priority          int              `db:"priority"`
	RunAfter          time.Time        `db:"run_after"`
	DeadlineAt        time.Time        `db:"deadline_at"`
	DeadlinePassed    bool             `db:"deadline_passed"`
	Attempt           int              `db:"attempt"`
	Failures          int              `db:"failures"`
	MaxAttempts       int              `db:"max_attempts"`
	Worker            *string          `db:"worker"`
	LeaseExpiresAt    *time.Time       `db:"lease_expires_at"` // while a worker has it
	PlaybookVersionID *uuid.UUID       `db:"playbook_version_id"`
	Playbook          *string          `db:"playbook"`
	PlaybookVersion   *int             `db:"playbook_version"`
	RequestedBy       string           `db:"requested_by"`
	Error             *domain.JobError `db:"error"`
	Outcome           string           `db:"outcome"`
	Steps             []Step           `db:"steps"`
	Objects           []work.Object    `db:"objects"` // of the kinds that areas handed in
	CreatedAt         time.Time        `db:"created_at"`
	StartedAt         *time.Time       `db:"started_at"`
	FinishedAt        *time.Time       `db:"finished_at"`
	LogExpiredAt      *time.Time       `db:"log_expired_at"` // when its log was removed for its age
}

// Step is one step of a job.
type Step struct {
	Position   int              `json:"position"`
	Name       string           `json:"name"`
	State      domain.StepState `json:"state"`
	Attempt    int              `json:"attempt"`
	StartedAt  *time.Time       `json:"started_at"`
	FinishedAt *time.Time       `json:"finished_at"`
}

// OnSharedHost tells whether its host is of another workspace.
func (j Job) OnSharedHost() bool { return j.HostWorkspace != nil && *j.HostWorkspace != j.WorkspaceID }

// Subject names the objects that the job is about.
func (j Job) Subject() job.Subject { return subject(j.HostID, j.UnitID, j.AllocationID, j.PlanID) }

func subject(host, unit, allocation, plan *uuid.UUID) job.Subject {
	s := job.Subject{}
	for part, id := range map[domain.Part]*uuid.UUID{domain.OfHost: host, domain.OfUnit: unit, domain.OfAllocation: allocation, domain.OfPlan: plan} {
		if id != nil {
			s[part] = *id
		}
	}
	return s
}

// Names by subqueries and not by joins: PostgreSQL plans a page each time that
// it is asked for, and the order of five joins takes several times what the page
// itself does.
const sqlJob = `
SELECT j.id, j.workspace_id, j.kind, j.args, j.host_id, (SELECT h.name FROM hosts h WHERE h.id = j.host_id) AS host,
       (SELECT hw.workspace_id FROM hosts hw WHERE hw.id = j.host_id) AS host_workspace_id,
       j.unit_id, (SELECT u.name FROM compute_units u WHERE u.id = j.unit_id) AS unit,
       j.allocation_id, (SELECT a.login_user FROM allocations a WHERE a.id = j.allocation_id) AS login_user,
       (SELECT a.ended_at FROM allocations a WHERE a.id = j.allocation_id) AS allocation_ended_at,
       j.plan_id, j.state, j.priority, j.run_after, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.attempt, j.failures, j.max_attempts,
       (SELECT b.name FROM backends b WHERE b.id = j.worker_id) AS worker, j.lease_expires_at, j.playbook_version_id,
       (SELECT v.playbook FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook,
       (SELECT v.version FROM playbook_versions v WHERE v.id = j.playbook_version_id) AS playbook_version, j.requested_by, j.error, j.outcome,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state, 'attempt', s.attempt,
                                                     'started_at', s.started_at, 'finished_at', s.finished_at) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects,
       j.created_at, j.started_at, j.finished_at, j.log_expired_at
  FROM jobs j
 WHERE true`

// Job returns a job by its id.
func (r Reads) Job(ctx context.Context, id uuid.UUID) (Job, error) {
	return db.First[Job](ctx, r.q, domain.ErrNotFound, sqlJob+" AND j.id = $1", id)
}

const sqlHoldJob = `
SELECT j.id
  FROM jobs j
 WHERE j.id = $1
   FOR UPDATE`

// HeldJob is Job, which nobody claims, ends or changes then until the
// transaction ends: it waits for whoever does just now.
func (tx *Tx) HeldJob(ctx context.Context, id uuid.UUID) (Job, error) {
	if _, err := tx.Exec(ctx, sqlHoldJob, id); err != nil {
		return Job{}, fmt.Errorf("hold job: %w", err)
	}
	return tx.Job(ctx, id)
}

// What waits and what runs lie in indexes of their own, so each is looked for by
// itself.
const sqlUnderWay = `
SELECT u.id
  FROM (SELECT j.id, j.created_at FROM jobs j WHERE j.host_id = $1 AND j.kind = $2 AND j.state = 'queued'
        UNION ALL
        SELECT j.id, j.created_at FROM jobs j WHERE j.host_id = $1 AND j.kind = $2 AND j.state = 'running' AND j.lease_expires_at IS NOT NULL) AS u
 ORDER BY u.created_at DESC`

// UnderWay returns the jobs of one kind and host that have not ended and were not
// told to stop, the newest first.
func (r Reads) UnderWay(ctx context.Context, host uuid.UUID, kind domain.JobKind) ([]uuid.UUID, error) {
	rows, err := r.q.Query(ctx, sqlUnderWay, host, kind)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
}

const sqlDoneSince = `
SELECT EXISTS (SELECT 1 FROM jobs o
                WHERE o.host_id = $1 AND o.unit_id IS NULL AND o.kind = ANY($2) AND o.state = 'succeeded' AND o.finished_at > $3)`

// DoneSince tells whether another job has changed the whole host of one since
// that ended.
func (r Reads) DoneSince(ctx context.Context, j Job) (since bool, err error) {
	kinds := kindsThat(domain.Joint.Changes)
	err = r.q.QueryRow(ctx, sqlDoneSince, j.HostID, kinds, j.FinishedAt).Scan(&since)
	return since, err
}

const sqlInsertJobs = `
WITH job AS (
    INSERT INTO jobs (id, workspace_id, kind, args, host_id, unit_id, allocation_id, state, priority, deadline_at, max_attempts,
                      playbook_version_id, requested_by)
    SELECT n.id, w.id, n.kind, n.args::JSONB, n.host_id, n.unit_id, n.allocation_id, 'queued', n.priority,
           now() + n.seconds * INTERVAL '1 second', n.max_attempts, v.id, $2
      FROM unnest($3::UUID[], $4::TEXT[], $5::TEXT[], $6::UUID[], $7::UUID[], $8::UUID[], $9::INT8[], $10::INT8[], $11::INT8[], $12::TEXT[])
           AS n(id, kind, args, host_id, unit_id, allocation_id, priority, seconds, max_attempts, playbook)
      JOIN playbooks p ON p.name = n.playbook
      LEFT JOIN host_playbooks b ON b.host_id = n.host_id AND b.playbook = p.name
      JOIN playbook_versions v ON v.playbook = p.name AND v.version = COALESCE(b.version, p.default_version)
      JOIN workspaces w ON w.id = $1
    RETURNING id
)
INSERT INTO job_steps (job_id, position, name, state)
SELECT j.id, s.position, s.name, 'pending'
  FROM unnest($13::UUID[], $14::INT8[], $15::TEXT[]) AS s(job_id, position, name)
  JOIN job j ON j.id = s.job_id`

const sqlInsertBoundJob = `
WITH job AS (
    INSERT INTO jobs (id, workspace_id, kind, args, host_id, unit_id, allocation_id, plan_id, state, priority, deadline_at, max_attempts,
                      playbook_version_id, requested_by)
    SELECT $1, w.id, $3, $4, $5, $6, $7, $8, 'queued', $9, now() + $10::INT8 * INTERVAL '1 second', $11, v.id, $12
      FROM playbook_versions v, workspaces w
     WHERE v.id = $13 AND w.id = $2
    RETURNING id
)
INSERT INTO job_steps (job_id, position, name, state)
SELECT j.id, s.position, s.name, 'pending'
  FROM job j, unnest($14::INT4[], $15::TEXT[]) AS s(position, name)`

// NewJobID is an id that begins with the time (UUID version 7), so that the rows
// of jobs that are queued, claimed and ended together, and those of their steps
// and logs, lie together in their indexes: with ids of chance each job touches
// pages of its own, which cost the database a tenth more time a job.
func NewJobID() uuid.UUID { return uuid.Must(uuid.NewV7()) }

// Enqueue adds a job in the transaction of the intent that asks for it, bound to the version of its playbook that holds for
// its host: what a delivery gave to the host, or the present default.
func (tx *Tx) Enqueue(ctx context.Context, who domain.Actor, workspace uuid.UUID, args job.Args) (uuid.UUID, error) {
	ids, err := tx.EnqueueAll(ctx, who, workspace, []job.Args{args})
	if err != nil {
		return uuid.Nil, err
	}
	return ids[0], nil
}

// newJobs is jobs, and their steps, as columns.
type newJobs struct {
	id                          []uuid.UUID
	kind, args                  []string
	host, unit, allocation      []*uuid.UUID
	priority, seconds, maxTries []int64
	playbook                    []string
	stepOf                      []uuid.UUID
	stepPosition                []int64
	stepName                    []string
}

func (n *newJobs) add(args job.Args) error {
	joint, ok := domain.JointOf(args.Kind())
	if !ok {
		return fmt.Errorf("enqueue: no kind of job is called %q", args.Kind())
	}
	text, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("enqueue %s: %w", args.Kind(), err)
	}
	id, policy, subject := NewJobID(), job.PolicyOf(args.Kind()), args.Subject()
	n.id, n.kind, n.args, n.playbook = append(n.id, id), append(n.kind, string(args.Kind())), append(n.args, string(text)), append(n.playbook, joint.Playbook)
	n.host, n.unit, n.allocation = append(n.host, orNull(subject[domain.OfHost])), append(n.unit, orNull(subject[domain.OfUnit])), append(n.allocation, orNull(subject[domain.OfAllocation]))
	n.priority, n.seconds = append(n.priority, int64(policy.Priority)), append(n.seconds, int64(policy.Deadline/time.Second))
	n.maxTries = append(n.maxTries, int64(policy.MaxAttempts))
	for i, name := range joint.Steps {
		n.stepOf, n.stepPosition, n.stepName = append(n.stepOf, id), append(n.stepPosition, int64(i)), append(n.stepName, name)
	}
	return nil
}

// EnqueueAll is Enqueue for several jobs, in one statement.
func (tx *Tx) EnqueueAll(ctx context.Context, who domain.Actor, workspace uuid.UUID, all []job.Args) ([]uuid.UUID, error) {
	var n newJobs
	for _, args := range all {
		if err := n.add(args); err != nil {
			return nil, err
		}
	}
	tx.Touch(nounJob, n.id...)
	steps, err := tx.Exec(ctx, sqlInsertJobs, workspace, who.Name, n.id, n.kind, n.args, n.host, n.unit, n.allocation,
		n.priority, n.seconds, n.maxTries, n.playbook, n.stepOf, n.stepPosition, n.stepName)
	if err != nil {
		return nil, fmt.Errorf("enqueue: %w", err)
	}
	if int(steps) != len(n.stepOf) {
		return nil, fmt.Errorf("enqueue: the workspace %s or one of the playbooks %q is not there; was init run?", workspace, slices.Compact(n.playbook))
	}
	for i, args := range all {
		if of, ok := args.(job.OfSeveral); ok {
			if err := tx.insertJobHosts(ctx, n.id[i], n.playbook[i], of.Hosts()); err != nil {
				return nil, err
			}
		}
	}
	return n.id, nil
}

// EnqueueBound adds a job that makes a plan or is bound to one, with the
// plan's version of the playbook.
func (tx *Tx) EnqueueBound(ctx context.Context, id uuid.UUID, who domain.Actor, workspace uuid.UUID, args job.Args, plan, version uuid.UUID) error {
	tx.Touch(nounJob, id)
	joint, ok := domain.JointOf(args.Kind())
	if !ok {
		return fmt.Errorf("enqueue: no kind of job is called %q", args.Kind())
	}
	policy, subject := job.PolicyOf(args.Kind()), args.Subject()
	positions := make([]int32, len(joint.Steps))
	for i := range positions {
		positions[i] = int32(i)
	}
	none := fmt.Errorf("enqueue %s: there is no playbook version %s, or no workspace %s", args.Kind(), version, workspace)
	err := tx.One(ctx, none, sqlInsertBoundJob, id, workspace, args.Kind(), args, orNull(subject[domain.OfHost]), orNull(subject[domain.OfUnit]), orNull(subject[domain.OfAllocation]),
		plan, policy.Priority, int64(policy.Deadline/time.Second), policy.MaxAttempts, who.Name, version, positions, joint.Steps)
	if err != nil {
		return fmt.Errorf("enqueue: %w", err)
	}
	return nil
}

const sqlRetryJob = `
UPDATE jobs
   SET state = 'queued', failures = 0, run_after = now(), deadline_at = now() + $3::INT8 * INTERVAL '1 second', finished_at = NULL,
       log_expired_at = NULL, outcome = '', playbook_version_id = COALESCE($4, playbook_version_id), plan_id = CASE WHEN $5 THEN NULL ELSE plan_id END
 WHERE id = $1 AND state = $2`

// RetryJob queues a job that failed or was cancelled again, to begin within some
// time; steps that are done stay done. It can be let go of the plan that it was bound to.
func (tx *Tx) RetryJob(ctx context.Context, j Job, within time.Duration, playbookVersion *uuid.UUID, withoutPlan bool) error {
	tx.Touch(nounJob, j.ID)
	if _, err := domain.JobLifecycle.Next(j.State, domain.JobRetryRequested); err != nil {
		return err
	}
	seconds := int64(within / time.Second)
	return tx.One(ctx, movedMeanwhile("job"), sqlRetryJob, j.ID, j.State, seconds, playbookVersion, withoutPlan)
}

const sqlRepeatSteps = `
UPDATE job_steps
   SET state = 'pending', started_at = NULL, finished_at = NULL
 WHERE job_id = $1 AND position >= $2 AND state <> 'pending'`

// RepeatSteps makes a step, and those that follow it, ones that are still to be
// done. Only for a job that was just queued again.
func (tx *Tx) RepeatSteps(ctx context.Context, job uuid.UUID, position int) error {
	if _, err := tx.Exec(ctx, sqlRepeatSteps, job, position); err != nil {
		return fmt.Errorf("repeat steps: %w", err)
	}
	return nil
}

const sqlCancelQueued = `
UPDATE jobs
   SET state = 'cancelled', finished_at = now(), outcome = $2
 WHERE id = $1 AND state = 'queued'`

const sqlStopQueued = `
UPDATE jobs
   SET state = 'cancelling', worker_id = $2, lease_expires_at = now()
 WHERE id = $1 AND state = 'queued' AND kind <> ALL($3)
   AND EXISTS (SELECT 1 FROM hosts h WHERE h.id = jobs.host_id AND h.fenced)
   AND EXISTS (SELECT 1 FROM job_steps s WHERE s.job_id = jobs.id AND (s.state = 'running' OR s.state = 'failed' AND jobs.failures > 0))`

// A worker that lives renews its lease within a second, and hears of it then.
// For one that does not, nobody waits as long as its lease would have lasted:
// whoever takes the job over comes with a newer number, which ends on the host
// what it may still do there. So this is only for jobs that change nothing, and for
// those on hosts that have a fence. A job that puts the fence there, where there is
// none or another one's, runs a play that nothing checks: the lease is all that
// keeps two from it. $2: the kinds that only read; $3: those that may have taken
// the fence away.
const sqlCancelRunning = `
UPDATE jobs
   SET state = 'cancelling',
       lease_expires_at = CASE WHEN kind = ANY($2)
                                 OR kind <> ALL($3) AND args->>'refence' IS DISTINCT FROM 'true'
                                    AND EXISTS (SELECT 1 FROM hosts h WHERE h.id = jobs.host_id AND h.fenced)
                               THEN LEAST(lease_expires_at, now() + INTERVAL '4 seconds') ELSE lease_expires_at END
 WHERE id = $1 AND state = 'running'`

// CancelJob ends a queued job at once (true), or asks the worker of a running
// one to stop it (false). One that waits for its next try may have left
// something on its host that goes on: where the host has a fence to end that, it
// is stopped as well, by whoever comes.
func (tx *Tx) CancelJob(ctx context.Context, j Job, outcome string) (ended bool, err error) {
	tx.Touch(nounJob, j.ID)
	if _, err := domain.JobLifecycle.Next(j.State, domain.JobCancelRequested); err != nil {
		return false, err
	}
	if j.State != domain.JobQueued {
		unfence := kindsThat(func(j domain.Joint) bool { return j.Unfences })
		return false, tx.One(ctx, movedMeanwhile("job"), sqlCancelRunning, j.ID, readOnlyKinds(), unfence)
	}
	if n, err := tx.Exec(ctx, sqlStopQueued, j.ID, nobody, readOnlyKinds()); err != nil || n == 1 {
		if err == nil {
			err = tx.countJobs(ctx, 1, j.ID) // whoever comes stops it, which no quota holds up
		}
		return false, err
	}
	return true, tx.One(ctx, movedMeanwhile("job"), sqlCancelQueued, j.ID, outcome)
}

// Held, so that none comes to run before it is ended.
const sqlJobsOfHostToEnd = `
SELECT j.id, j.lease_expires_at IS NOT NULL AS runs
  FROM jobs j
 WHERE j.host_id = $1 AND j.finished_at IS NULL
 ORDER BY j.id
   FOR UPDATE`

const sqlEndJobsOfHost = `
UPDATE jobs
   SET state = 'failed', finished_at = now(), lease_expires_at = NULL, worker_id = NULL, error = $2
 WHERE finished_at IS NULL
   AND id IN (SELECT j.id FROM jobs j WHERE j.host_id = $1 AND j.state = 'queued'
              UNION ALL
              SELECT j.id FROM jobs j WHERE j.host_id = $1 AND j.lease_expires_at IS NOT NULL)
RETURNING id`

const sqlEndSteps = `
UPDATE job_steps
   SET state = $2, finished_at = now()
 WHERE job_id = $1 AND state = 'running'`

// endSteps ends the step that a job was at when it ended.
func (tx *Tx) endSteps(ctx context.Context, job uuid.UUID, state domain.StepState) error {
	_, err := tx.Exec(ctx, sqlEndSteps, job, state)
	return err
}

// Its jobs have all ended by then.
const sqlFailStepsOfHost = `
UPDATE job_steps
   SET state = 'failed', finished_at = now()
 WHERE state = 'running' AND job_id IN (SELECT j.id FROM jobs j WHERE j.host_id = $1 AND j.finished_at IS NOT NULL)`

const sqlForgetHolder = `
UPDATE host_locks
   SET job_id = NULL, taken_at = NULL
 WHERE host_id = $1`

// EndJobsOfHost fails every job of a host that has not ended: the host is gone.
// Their workers notice at the next renewal.
func (tx *Tx) EndJobsOfHost(ctx context.Context, host uuid.UUID, why domain.JobError) (int64, error) {
	if _, err := tx.touching(ctx, nounPlan, sqlFailPlansOfHost, host); err != nil {
		return 0, fmt.Errorf("fail plans: %w", err)
	}
	type open struct {
		ID   uuid.UUID `db:"id"`
		Runs bool      `db:"runs"`
	}
	all, err := db.Collect[open](ctx, tx.q, sqlJobsOfHostToEnd, host)
	if err != nil {
		return 0, fmt.Errorf("hold the jobs of a host: %w", err)
	}
	var running []uuid.UUID
	for _, j := range all {
		if j.Runs {
			running = append(running, j.ID)
		}
	}
	ended, err := tx.touching(ctx, nounJob, sqlEndJobsOfHost, host, why)
	if err != nil {
		return 0, err
	}
	if _, err := tx.Exec(ctx, sqlFailStepsOfHost, host); err != nil {
		return 0, err
	}
	if _, err = tx.Exec(ctx, sqlForgetHolder, host); err != nil {
		return 0, err
	}
	return ended, tx.countJobs(ctx, -1, running...)
}
