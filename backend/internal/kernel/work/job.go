package work

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// New is a job that is asked for.
type New struct {
	Kind    string
	Objects []Object // at least one
	Args    any      // ids and options only: an attempt reads everything afresh; nil for none
	Draft   any      // what the plan of the kind lists by beside the objects; kept in plans only. nil for none
}

// Ask starts a job in the transaction of an intent: its objects take its Start, the
// job is queued, the event is written with its id, and a repeated request is
// answered with it. A call that only makes a plan ends here, and nothing of it is kept.
func (r *Registry) Ask(ctx context.Context, tx *intent.Tx, n New, e audit.Entry) (uuid.UUID, error) {
	id, err := r.Enqueue(ctx, tx.Tx, tx.Call().Actor.Name, tx.Call().Workspace, n)
	if err != nil {
		return uuid.Nil, err
	}
	e.JobID = id
	if err := tx.Event(ctx, e); err != nil {
		return uuid.Nil, err
	}
	if err := tx.Made(ctx, e.ObjectKind, e.ObjectID, id); err != nil {
		return uuid.Nil, err
	}
	return id, r.planned(ctx, tx, n, e)
}

// Enqueue is Ask without an event, for what asks for no person.
func (r *Registry) Enqueue(ctx context.Context, tx *db.Tx, by string, workspace uuid.UUID, n New) (uuid.UUID, error) {
	k, ok := r.Kind(n.Kind)
	if !ok || len(n.Objects) == 0 {
		return uuid.Nil, fmt.Errorf("enqueue: there is no kind %q, or the job has no objects", n.Kind)
	}
	if err := r.apply(ctx, tx, k.Start, n.Objects, ""); err != nil {
		return uuid.Nil, err
	}
	if n.Args == nil {
		n.Args = struct{}{}
	}
	args, err := json.Marshal(n.Args)
	if err != nil {
		return uuid.Nil, fmt.Errorf("enqueue %s: %w", n.Kind, err)
	}
	id, err := insertJob(ctx, tx, k, by, workspace, args, n.Objects)
	if err == nil && r.Bind != nil && len(k.Playbooks) > 0 {
		err = r.Bind(ctx, tx, id, k.Playbooks)
	}
	return id, err
}

// Cancelled makes the moves of a job that left the queue because a person
// cancelled it. begun: a step of it had begun.
func (r *Registry) Cancelled(ctx context.Context, tx *db.Tx, kind string, objects []Object, begun bool) error {
	k, ok := r.Kind(kind)
	if !ok {
		return nil
	}
	if begun {
		return r.apply(ctx, tx, k.cancelled(), objects, "its job was cancelled")
	}
	return r.apply(ctx, tx, k.withdrawn(), objects, "its job was cancelled")
}

// Again makes the moves of a job that is queued once more after it ended badly. A
// Conflict where its objects have moved on since.
func (r *Registry) Again(ctx context.Context, tx *db.Tx, kind string, objects []Object) error {
	k, ok := r.Kind(kind)
	if !ok {
		return fault.Conflictf("job_kind", "this backend does not know jobs of kind %q", kind)
	}
	return r.apply(ctx, tx, k.Start, objects, "")
}

// Deadline is how long after it was asked for a job of a kind may begin.
func (r *Registry) Deadline(kind string) time.Duration {
	k, _ := r.Kind(kind)
	return k.deadline()
}
