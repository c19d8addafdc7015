package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/work"
)

// Claim is an attempt of a job that a worker got the lease of.
type Claim struct {
	ID         uuid.UUID       `db:"id"`
	Kind       domain.JobKind  `db:"kind"`
	Attempt    int             `db:"attempt"`
	State      domain.JobState `db:"state"`
	Takeover   bool            `db:"takeover"`    // the lease of another worker ran out
	HandedOver bool            `db:"handed_over"` // another worker gave it away half done
	Found      int             `db:"found"`       // how many jobs it was chosen from: of several that need one host, one is claimed
	Limited    bool            `db:"limited"`     // something has a quota of jobs

	// What the job is about, so that all of it can be read at once.
	HostID            *uuid.UUID `db:"host_id"`
	UnitID            *uuid.UUID `db:"unit_id"`
	AllocationID      *uuid.UUID `db:"allocation_id"`
	PlanID            *uuid.UUID `db:"plan_id"`
	PlaybookVersionID *uuid.UUID `db:"playbook_version_id"`

	Begun *Begun // nil: no step has begun yet
}

// Subject names the objects that the job is about.
func (c Claim) Subject() job.Subject { return subject(c.HostID, c.UnitID, c.AllocationID, c.PlanID) }

// Begun is the first open step of a job, begun in the transaction that claimed
// the job: one commit that a play waits for instead of two.
type Begun struct {
	Position int
	Number   int64 // of the host's lock, which the attempt holds
}

// What may be claimed: a job of a host that another job holds is left in the
// queue, unless it only reads: it could do nothing but wait. So is a job of a
// workspace whose quota of jobs is used up. While the queue is paused there is
// none, on whatever backend.
// $1: the kinds that only read; they stand inside of NOT EXISTS, since CockroachDB
// would keep no order, and read all of the queue, for an OR around it.
// The quota is asked for by NULLIF: of any other form PostgreSQL expects that it
// leaves nothing where most jobs are of one workspace, and then sorts the queue.
const claimable = `j.state = 'queued' AND j.run_after <= statement_timestamp()
                          AND NOT EXISTS (SELECT 1 FROM host_locks l WHERE l.host_id = j.host_id AND l.job_id <> j.id AND j.kind <> ALL($1))
                          AND NOT EXISTS (SELECT 1 FROM queue_pauses p WHERE p.queue = 'jobs')
                          AND NULLIF(j.workspace_id = ANY (ARRAY(` + fullWorkspaces + `)), true) IS NOT NULL`

// What may be taken over. It does not ask for a pause, since what had begun
// goes on.
const overdue = `j.lease_expires_at < now()`

// Inside EXISTS the order, and with it the index, would be lost.
const sqlWaiting = `
SELECT (SELECT true
          FROM jobs j
         WHERE ` + claimable + `
         ORDER BY j.priority DESC, j.run_after, j.id
         LIMIT 1) IS NOT NULL AS claimable,
       (SELECT true
          FROM jobs j
         WHERE ` + overdue + `
         ORDER BY j.lease_expires_at
         LIMIT 1) IS NOT NULL AS overdue`

// Waiting is what a worker could begin now.
type Waiting struct {
	Claimable bool `db:"claimable"` // ClaimJobs would find a job
	Overdue   bool `db:"overdue"`   // TakeOverJobs would
}

// Waiting tells whether it is worth the while to claim or to take over: it locks
// and writes nothing, so that any number of idle workers may ask.
func (r Reads) Waiting(ctx context.Context) (Waiting, error) {
	return db.First[Waiting](ctx, r.q, domain.ErrNotFound, sqlWaiting, readOnlyKinds())
}

// Of several jobs that need one host only the first is claimed: the others could
// only wait, and keep their places. What is found is found once and has been
// locked as it says, so the update asks for no state: PostgreSQL would walk over
// the whole index of what is queued for it. The ids come by an array, of which
// PostgreSQL expects few, whatever the limit, and by unnest, since CockroachDB
// finds a row by an array's elements only if that is a constant.
const sqlClaimJobs = `
WITH found AS MATERIALIZED (
     SELECT j.id, CASE WHEN j.kind = ANY($1) THEN NULL ELSE j.host_id END AS needs, j.priority, j.run_after
       FROM jobs j
      WHERE ` + claimable + `
      ORDER BY j.priority DESC, j.run_after, j.id
      LIMIT $4
        FOR UPDATE SKIP LOCKED)
UPDATE jobs
   SET state = 'running', attempt = jobs.attempt + 1, worker_id = $2, lease_expires_at = statement_timestamp() + $3::INT8 * INTERVAL '1 millisecond',
       started_at = COALESCE(jobs.started_at, statement_timestamp())
  FROM unnest(ARRAY(SELECT f.id
                      FROM found f
                     WHERE NOT EXISTS (SELECT 1
                                         FROM found e
                                        WHERE e.needs = f.needs
                                          AND (e.priority > f.priority OR e.priority = f.priority AND (e.run_after, e.id) < (f.run_after, f.id))))) AS c(id)
 WHERE jobs.id = c.id
RETURNING jobs.id, jobs.kind, jobs.attempt, jobs.state, false AS takeover, false AS handed_over, (SELECT count(*) FROM found) AS found, ` + jobsLimited + ` AS limited,
          jobs.host_id, jobs.unit_id, jobs.allocation_id, jobs.plan_id, jobs.playbook_version_id`

const sqlOverdueJobs = `
SELECT j.id, j.kind, j.attempt + 1 AS attempt, j.state, j.worker_id <> $1 AS takeover, j.worker_id = $1 AND j.state = 'running' AS handed_over, 1 AS found, false AS limited,
       j.host_id, j.unit_id, j.allocation_id, j.plan_id, j.playbook_version_id
  FROM jobs j
 WHERE ` + overdue + `
 ORDER BY j.lease_expires_at
 LIMIT $2
   FOR UPDATE SKIP LOCKED`

const sqlTakeOverJobs = `
UPDATE jobs
   SET attempt = attempt + 1, worker_id = $2, lease_expires_at = statement_timestamp() + $3::INT8 * INTERVAL '1 millisecond'
 WHERE id = ANY ($1)`

// readOnlyKinds are the kinds of jobs that need not be the one holder of a host.
func readOnlyKinds() []string {
	return kindsThat(func(j domain.Joint) bool { return j.ReadOnly })
}

func kindsThat(are func(domain.Joint) bool) (kinds []string) {
	for _, j := range domain.JointTable {
		if are(j) {
			kinds = append(kinds, string(j.Kind))
		}
	}
	return kinds
}

// Where PostgreSQL's planner believes that a queue is short, as it does of one
// that has just filled up, it would rather sort all of it with every claim than
// walk along its index: 400 ms instead of one, of 200,000 jobs.
const sqlDoNotSort = `SET LOCAL enable_sort = off`

// byIndex looks for what comes first in the order of an index.
func (tx *Tx) byIndex(ctx context.Context, what string, sql db.Statement, args ...any) ([]Claim, error) {
	b, claims := &db.Batch{}, []Claim{}
	if tx.Postgres() {
		b.Queue(sqlDoNotSort)
	}
	if tx.Cockroach() && sql == sqlClaimJobs {
		b.Queue(sqlLockReturned)
	}
	db.AskAll(b, what, &claims, sql, args...)
	return claims, tx.q.Send(ctx, b)
}

// ClaimJobs gives a worker the lease of up to limit queued jobs, by priority,
// then age, and begins those that need their host, where nobody holds it.
func (tx *Tx) ClaimJobs(ctx context.Context, worker uuid.UUID, lease time.Duration, limit int) (claims []Claim, err error) {
	for again := true; again && len(claims) < limit; {
		var more []Claim
		if more, again, err = tx.claimFirst(ctx, worker, lease, limit-len(claims)); err != nil {
			return nil, err
		}
		claims = append(claims, more...)
	}
	return claims, nil
}

// claimFirst claims from the first limit jobs of the queue. Where some of them
// only wait for the host of another one, there may be more to claim behind them.
func (tx *Tx) claimFirst(ctx context.Context, worker uuid.UUID, lease time.Duration, limit int) (claims []Claim, again bool, err error) {
	readOnly := readOnlyKinds()
	claims, err = tx.byIndex(ctx, "claim", sqlClaimJobs, readOnly, worker, lease.Milliseconds(), limit)
	if err != nil || len(claims) == 0 {
		return nil, false, err
	}
	found := claims[0].Found
	if claims[0].Limited {
		if claims, err = tx.within(ctx, claims); err != nil || len(claims) == 0 {
			return nil, false, err
		}
	}
	var needHosts []*Claim
	for i, c := range claims {
		if c.HostID != nil && !slices.Contains(readOnly, string(c.Kind)) {
			needHosts = append(needHosts, &claims[i])
		}
	}
	return claims, found == limit && len(claims) < limit, tx.begin(ctx, needHosts)
}

// A claim waits for no lock, so it can be part of no deadlock: a host whose lock
// is being written is left to the attempt itself. (On CockroachDB it may wait to
// read one that is being written, which whoever writes it needs nothing of ours for.)
// The first attempt begins with the first step.
const sqlBeginClaimed = `
WITH held AS (
     UPDATE host_locks
        SET number = number + 1, job_id = a.id, attempt = a.attempt, taken_at = statement_timestamp()
       FROM unnest($1::UUID[], $2::INT8[], $3::UUID[]) AS a(id, attempt, host_id)
      WHERE host_locks.host_id = a.host_id
        AND host_locks.host_id = ANY (ARRAY(SELECT l.host_id
                                              FROM host_locks l
                                             WHERE l.host_id = ANY ($3) AND l.job_id IS NULL
                                               FOR UPDATE SKIP LOCKED))
     RETURNING host_locks.job_id, host_locks.attempt, host_locks.number)
UPDATE job_steps
   SET state = 'running', attempt = held.attempt, started_at = COALESCE(job_steps.started_at, statement_timestamp()), finished_at = NULL
  FROM held
 WHERE job_steps.job_id = held.job_id
   AND job_steps.position = CASE WHEN held.attempt = 1 THEN 0
                                 ELSE (SELECT min(s.position) FROM job_steps s WHERE s.job_id = held.job_id AND s.state <> 'succeeded') END
RETURNING job_steps.job_id, job_steps.position, held.number`

// begin begins the attempts that find their host free; each has another one.
func (tx *Tx) begin(ctx context.Context, claims []*Claim) error {
	if len(claims) == 0 {
		return nil
	}
	ids, attempts, hosts := []uuid.UUID{}, []int64{}, []uuid.UUID{}
	claimed := make(map[uuid.UUID]*Claim, len(claims))
	for _, c := range claims {
		ids, attempts, hosts = append(ids, c.ID), append(attempts, int64(c.Attempt)), append(hosts, *c.HostID)
		claimed[c.ID] = c
	}
	type row struct {
		JobID    uuid.UUID `db:"job_id"`
		Position int       `db:"position"`
		Number   int64     `db:"number"`
	}
	begun, err := db.Collect[row](ctx, tx.q, sqlBeginClaimed, ids, attempts, hosts)
	if err != nil {
		return fmt.Errorf("begin what was claimed: %w", err)
	}
	for _, r := range begun {
		claimed[r.JobID].Begun = &Begun{Position: r.Position, Number: r.Number}
	}
	return nil
}

// nobody is the worker of a job that was handed over half done, or that is to be
// stopped and has none: whoever comes takes it.
var nobody uuid.UUID

// TakeOverJobs gives a worker the lease of up to limit jobs whose own worker
// let it run out, or handed them over.
func (tx *Tx) TakeOverJobs(ctx context.Context, worker uuid.UUID, lease time.Duration, limit int) ([]Claim, error) {
	claims, err := tx.byIndex(ctx, "look for overdue jobs", sqlOverdueJobs, nobody, limit)
	if err != nil || len(claims) == 0 {
		return nil, err
	}
	ids := make([]uuid.UUID, len(claims))
	for i, c := range claims {
		ids[i] = c.ID
	}
	if _, err := tx.Exec(ctx, sqlTakeOverJobs, ids, worker, lease.Milliseconds()); err != nil {
		return nil, fmt.Errorf("take over: %w", err)
	}
	return claims, nil
}

// By the time of the statement, not of a transaction that may have begun tries ago.
const sqlRenewLease = `
UPDATE jobs
   SET lease_expires_at = statement_timestamp() + $4::INT8 * INTERVAL '1 millisecond'
 WHERE id = $1 AND attempt = $2 AND worker_id = $3 AND state IN ('running', 'cancelling')
RETURNING state`

// RenewLease renews the lease of a worker's attempt and tells whether the job is
// to be stopped. ErrLost if it is no longer the caller's, who may have handed it
// over while this waited for the row. One statement by itself, since it has to
// come through where the database answers late: that is one round trip, CockroachDB
// tries it again without another, and a second one of the same does no harm.
func (d *DB) RenewLease(ctx context.Context, id uuid.UUID, attempt int, worker uuid.UUID, lease time.Duration) (cancelling bool, err error) {
	var state domain.JobState
	err = d.q.QueryRow(ctx, sqlRenewLease, id, attempt, worker, lease.Milliseconds()).Scan(&state)
	if db.IsNoRows(err) {
		return false, ErrLost
	}
	return state == domain.JobCancelling, err
}

// OwnJob makes sure that the attempt is still the running one, and keeps it so
// until the transaction ends.
func (tx *Tx) OwnJob(ctx context.Context, id uuid.UUID, attempt int) error {
	return work.Own(ctx, tx.Tx, id, attempt)
}

// StartStep marks a step as running.
func (tx *Tx) StartStep(ctx context.Context, id uuid.UUID, attempt, position int) error {
	return work.StartStep(ctx, tx.Tx, id, attempt, position)
}

// EndStep marks a running step as done or failed.
func (tx *Tx) EndStep(ctx context.Context, id uuid.UUID, attempt, position int, state domain.StepState) error {
	return work.EndStep(ctx, tx.Tx, id, attempt, position, string(state))
}

const sqlFinishJob = `
UPDATE jobs
   SET state = $3, finished_at = now(), lease_expires_at = NULL, error = $4, outcome = $5
 WHERE id = $1 AND attempt = $2 AND state IN ('running', 'cancelling')`

// FinishJob ends a job, and with it the step that it was at. It belongs in the
// transaction of the job's outcome.
func (tx *Tx) FinishJob(ctx context.Context, id uuid.UUID, attempt int, state domain.JobState, why *domain.JobError, outcome string) error {
	tx.Touch(nounJob, id)
	if err := tx.One(ctx, ErrLost, sqlFinishJob, id, attempt, state, why, outcome); err != nil {
		return err
	}
	step := domain.StepFailed
	if state == domain.JobSucceeded {
		step = domain.StepSucceeded
	}
	if err := tx.endSteps(ctx, id, step); err != nil {
		return err
	}
	if err := tx.UnlockHost(ctx, id, attempt); err != nil {
		return err
	}
	return tx.countJobs(ctx, -1, id)
}

const sqlSucceedJobs = `
WITH ended AS (
     UPDATE jobs
        SET state = 'succeeded', finished_at = now(), lease_expires_at = NULL, error = NULL, outcome = a.outcome
       FROM unnest($1::UUID[], $2::INT8[], $3::TEXT[]) AS a(id, attempt, outcome)
      WHERE jobs.id = a.id AND jobs.attempt = a.attempt AND jobs.state IN ('running', 'cancelling')
     RETURNING jobs.id, jobs.attempt, jobs.host_id),
     done AS (
     UPDATE job_steps
        SET state = 'succeeded', finished_at = now()
       FROM ended
      WHERE job_steps.job_id = ended.id AND job_steps.state = 'running'
     RETURNING job_steps.job_id),
     unlocked AS (
     UPDATE host_locks
        SET job_id = NULL, taken_at = NULL
       FROM ended
      WHERE host_locks.host_id = ended.host_id AND host_locks.job_id = ended.id AND host_locks.attempt <= ended.attempt
     RETURNING host_locks.host_id)
SELECT id, ` + jobsLimited + ` AS limited FROM ended`

// Success is the end of an attempt that went well.
type Success struct {
	ID      uuid.UUID
	Attempt int
	Outcome string
}

// SucceedJobs is FinishJob for several attempts that went well. It returns
// those that were the running ones, which are ended now and keep their rows
// locked: what they mean for their objects belongs behind it, in the same
// transaction.
func (tx *Tx) SucceedJobs(ctx context.Context, all []Success) (ended []Success, err error) {
	rows, err := tx.q.Query(ctx, sqlSucceedJobs, columnsOf(all)...)
	if err != nil {
		return nil, err
	}
	owned := make(map[uuid.UUID]bool, len(all))
	var id uuid.UUID
	var limited bool
	if _, err := pgx.ForEachRow(rows, []any{&id, &limited}, func() error { owned[id] = true; return nil }); err != nil {
		return nil, err
	}
	for _, s := range all {
		if owned[s.ID] {
			tx.Touch(nounJob, s.ID)
			ended = append(ended, s)
		}
	}
	if limited {
		return ended, tx.countJobs(ctx, -1, slices.Collect(maps.Keys(owned))...)
	}
	return ended, nil
}

func columnsOf(all []Success) []any {
	ids, attempts, outcomes := make([]uuid.UUID, len(all)), make([]int64, len(all)), make([]string, len(all))
	for i, s := range all {
		ids[i], attempts[i], outcomes[i] = s.ID, int64(s.Attempt), s.Outcome
	}
	return []any{ids, attempts, outcomes}
}

const sqlRequeueJob = `
UPDATE jobs
   SET state = 'queued', worker_id = NULL, lease_expires_at = NULL, run_after = now() + $3::INT8 * INTERVAL '1 millisecond',
       error = COALESCE($4, error), failures = failures + $5
 WHERE id = $1 AND attempt = $2 AND state = 'running'`

// RequeueJob gives a job back to the queue: after a failure that may heal
// (why), or as it is.
func (tx *Tx) RequeueJob(ctx context.Context, id uuid.UUID, attempt int, after time.Duration, why *domain.JobError) error {
	failures := 0
	if why != nil {
		failures = 1
	}
	if err := tx.One(ctx, ErrLost, sqlRequeueJob, id, attempt, after.Milliseconds(), why, failures); err != nil {
		return err
	}
	if err := tx.UnlockHost(ctx, id, attempt); err != nil {
		return err
	}
	return tx.countJobs(ctx, -1, id)
}

const sqlPutBackJob = `
UPDATE jobs
   SET state = 'queued', worker_id = NULL, lease_expires_at = NULL
 WHERE id = $1 AND attempt = $2 AND state = 'running'`

// PutBackJob gives a job back to the queue, to the place that it had there.
func (tx *Tx) PutBackJob(ctx context.Context, id uuid.UUID, attempt int) error {
	if err := tx.One(ctx, ErrLost, sqlPutBackJob, id, attempt); err != nil {
		return err
	}
	if err := tx.UnlockHost(ctx, id, attempt); err != nil {
		return err
	}
	return tx.countJobs(ctx, -1, id)
}

const sqlHandOver = `
UPDATE jobs
   SET lease_expires_at = now() + $4::INT8 * INTERVAL '1 millisecond', worker_id = $3
 WHERE id = $1 AND attempt = $2
   AND (state = 'cancelling' OR state = 'running' AND EXISTS (SELECT 1 FROM job_steps s WHERE s.job_id = jobs.id AND s.state <> 'pending'))`

// HandOver gives a job that has begun, or is to be stopped, to whoever comes
// first after some time: like that of a worker that died, it keeps its host and waits neither
// behind what is queued nor for the end of a pause. What has not begun goes back
// to the queue.
func (tx *Tx) HandOver(ctx context.Context, id uuid.UUID, attempt int, after time.Duration) error {
	switch n, err := tx.Exec(ctx, sqlHandOver, id, attempt, nobody, after.Milliseconds()); {
	case err != nil:
		return fmt.Errorf("hand over: %w", err)
	case n == 0:
		return tx.RequeueJob(ctx, id, attempt, after, nil)
	}
	return nil
}
