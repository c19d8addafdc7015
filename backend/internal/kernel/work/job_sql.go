package work

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// ErrLost says that a job's attempt is no longer the caller's: its lease ran
// out and another worker took it over, or it was ended.
var ErrLost = errors.New("the job's lease is lost")

// JobNoun is the noun of jobs themselves.
const JobNoun = "job"

const sqlInsertJob = `
WITH job AS (
    INSERT INTO jobs (id, workspace_id, kind, args, state, priority, deadline_at, max_attempts, requested_by)
    SELECT $1, w.id, $3, $4, 'queued', $5, now() + $6::INT8 * INTERVAL '1 second', $7, $8
      FROM workspaces w
     WHERE w.id = $2
    RETURNING id
),
   steps AS (
    INSERT INTO job_steps (job_id, position, name, state)
    SELECT j.id, s.position, s.name, 'pending'
      FROM job j, unnest($9::INT4[], $10::TEXT[]) AS s(position, name)
    RETURNING job_id
)
INSERT INTO job_objects (job_id, position, role, noun, object_id, name)
SELECT j.id, o.position, o.role, o.noun, o.object_id, o.name
  FROM job j, unnest($11::INT4[], $12::TEXT[], $13::TEXT[], $14::UUID[], $15::TEXT[]) AS o(position, role, noun, object_id, name)`

func insertJob(ctx context.Context, tx *db.Tx, k Kind, by string, workspace uuid.UUID, args json.RawMessage, objects []Object) (uuid.UUID, error) {
	id := uuid.Must(uuid.NewV7())
	tx.Touch(JobNoun, id)
	var positions, places []int32
	var steps, roles, nouns, names []string
	var ids []uuid.UUID
	for i, s := range k.Steps {
		positions, steps = append(positions, int32(i)), append(steps, s.Name)
	}
	for i, o := range objects {
		places, roles, nouns, ids, names = append(places, int32(i)), append(roles, o.Role), append(nouns, o.Noun), append(ids, o.ID), append(names, o.Name)
	}
	n, err := tx.Exec(ctx, sqlInsertJob, id, workspace, k.Name, args, k.Priority, int64(k.deadline()/time.Second), k.tries(), by,
		positions, steps, places, roles, nouns, ids, names)
	if err != nil {
		return uuid.Nil, fmt.Errorf("enqueue %s: %w", k.Name, err)
	}
	if int(n) != len(objects) {
		return uuid.Nil, fmt.Errorf("enqueue %s: there is no workspace %s", k.Name, workspace)
	}
	tx.Touch("job", id)
	return id, nil
}

// Job is what an attempt of a job begins with.
type Job struct {
	ID             uuid.UUID       `db:"id"`
	Workspace      uuid.UUID       `db:"workspace_id"`
	Kind           string          `db:"kind"`
	Args           json.RawMessage `db:"args"`
	Failures       int             `db:"failures"`
	MaxAttempts    int             `db:"max_attempts"`
	DeadlineAt     time.Time       `db:"deadline_at"`
	DeadlinePassed bool            `db:"deadline_passed"`
	RequestedBy    string          `db:"requested_by"`
	Steps          []JobStep       `db:"steps"`
	Objects        []Object        `db:"objects"`
}

// JobStep is a step of a job, as it stands.
type JobStep struct {
	Position int     `json:"position"`
	Name     string  `json:"name"`
	State    string  `json:"state"`
	Waited   float64 `json:"waited"` // seconds since it began; 0 if it has not
}

const sqlWorkJob = `
SELECT j.id, j.workspace_id, j.kind, j.args, j.failures, j.max_attempts, j.deadline_at, j.deadline_at < now() AS deadline_passed, j.requested_by,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('position', s.position, 'name', s.name, 'state', s.state,
                                                     'waited', COALESCE(EXTRACT(EPOCH FROM now() - s.started_at), 0)) ORDER BY s.position)
                   FROM job_steps s WHERE s.job_id = j.id), '[]') AS steps,
       COALESCE((SELECT jsonb_agg(jsonb_build_object('role', o.role, 'noun', o.noun, 'id', o.object_id, 'name', o.name) ORDER BY o.position)
                   FROM job_objects o WHERE o.job_id = j.id), '[]') AS objects
  FROM jobs j
 WHERE j.id = $1`

func load(ctx context.Context, r db.Reader, id uuid.UUID) (Job, error) {
	return db.First[Job](ctx, r, fault.ErrNotFound, sqlWorkJob, id)
}

const sqlObjects = `
SELECT o.role, o.noun, o.object_id AS id, o.name
  FROM job_objects o
 WHERE o.job_id = $1
 ORDER BY o.position`

// Objects are what a job is about; none of a job whose kind is about hosts in the
// columns of its row.
func Objects(ctx context.Context, r db.Reader, job uuid.UUID) ([]Object, error) {
	return db.Collect[Object](ctx, r, sqlObjects, job)
}

const sqlOwnJob = `
SELECT j.id
  FROM jobs j
 WHERE j.id = $1 AND j.attempt = $2 AND j.state IN ('running', 'cancelling')
   FOR UPDATE`

// Own makes sure that the attempt is still the running one, and keeps it so until
// the transaction ends; ErrLost if it is not.
func Own(ctx context.Context, tx *db.Tx, job uuid.UUID, attempt int) error {
	var got uuid.UUID
	err := tx.QueryRow(ctx, sqlOwnJob, job, attempt).Scan(&got)
	if db.IsNoRows(err) {
		return ErrLost
	}
	return err
}

const sqlStartStep = `
UPDATE job_steps
   SET state = 'running', attempt = $3, started_at = COALESCE(started_at, now()), finished_at = NULL
 WHERE job_id = $1 AND position = $2 AND state <> 'succeeded'`

const sqlEndStep = `
UPDATE job_steps
   SET state = $4, finished_at = now()
 WHERE job_id = $1 AND position = $2 AND attempt = $3 AND state = 'running'`

// StartStep marks a step of an attempt as running.
func StartStep(ctx context.Context, tx *db.Tx, job uuid.UUID, attempt, position int) error {
	if err := Own(ctx, tx, job, attempt); err != nil {
		return err
	}
	return tx.One(ctx, ErrLost, sqlStartStep, job, position, attempt)
}

// EndStep marks a running step as succeeded or failed.
func EndStep(ctx context.Context, tx *db.Tx, job uuid.UUID, attempt, position int, state string) error {
	if err := Own(ctx, tx, job, attempt); err != nil {
		return err
	}
	return tx.One(ctx, ErrLost, sqlEndStep, job, position, attempt, state)
}
