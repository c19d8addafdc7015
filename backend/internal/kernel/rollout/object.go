package rollout

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// Object is a noun whose objects are rollouts, such as deliveries: what is the same when people and policies move one.
type Object[D any] struct {
	Noun string
	Load func(context.Context, db.Reader, uuid.UUID) (D, error)
	// Stand is how far the object is, and At the object as far as a rollout is.
	Stand func(D) Rollout
	At    func(D, Rollout) D
	// Entry is an event of the object, and Facts what it tells before and after.
	Entry func(d D, action string, before, after map[string]any) audit.Entry
	Facts func(D) map[string]any
	// SetOpen notes whether an object, $1, has not ended, $2. ErrOpen is the error where another one is open that may not be beside it.
	SetOpen db.Statement
	ErrOpen error
	// Driver is for moves by people: it can't prove.
	Driver func(D) Driver
	// CanRollBack is the Conflict of an object that its rollout alone would let roll back; nil: there is none.
	CanRollBack func(D) error
}

func (o Object[D]) setOpen(ctx context.Context, tx *db.Tx, r Rollout) error {
	_, err := tx.Exec(ctx, o.SetOpen, r.ID, !r.State.Ended())
	if _, taken := db.UniqueViolation(err); taken {
		return o.ErrOpen
	}
	tx.Touch(o.Noun, r.ID)
	return err
}

// Pause has a person keep an object from further targets. revision is that of the object that was seen, here and below; 0 for any.
func (o Object[D]) Pause(ctx context.Context, tx *intent.Tx, id uuid.UUID, revision int64) error {
	return o.move(ctx, tx, id, revision, "pause", nil, Pause)
}

// Resume has a person go on with an object that is paused or halted.
func (o Object[D]) Resume(ctx context.Context, tx *intent.Tx, id uuid.UUID, revision int64) error {
	return o.move(ctx, tx, id, revision, "resume", nil, Resume)
}

// RollBack has a person take an object back.
func (o Object[D]) RollBack(ctx context.Context, tx *intent.Tx, id uuid.UUID, revision int64) error {
	return o.move(ctx, tx, id, revision, "roll_back", o.CanRollBack, RollBack)
}

func (o Object[D]) move(ctx context.Context, tx *intent.Tx, id uuid.UUID, revision int64, action string, can func(D) error, move func(context.Context, *db.Tx, uuid.UUID, Driver) (Rollout, error)) error {
	before, err := o.Load(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	if now := o.Stand(before).Version; revision != 0 && revision != now {
		return fault.Conflictf("version_mismatch", "The delivery is at version %d, not %d: it went on meanwhile. Reload it.", now, revision)
	}
	if can != nil {
		if err := can(before); err != nil {
			return err
		}
	}
	driver := o.Driver(before)
	driver.Moved = func(ctx context.Context, inner *db.Tx, _, after Rollout) error { return o.setOpen(ctx, inner, after) }
	if _, err := move(ctx, tx.Tx, id, driver); err != nil {
		return err
	}
	after, err := o.Load(ctx, tx.Reader, id)
	if err != nil {
		return err
	}
	return tx.Changed(ctx, o.Entry(after, action, o.Facts(before), o.Facts(after)))
}

// Told records a step that a policy made, and writes an event of it if the object has another state or wave by now.
func (o Object[D]) Told(ctx context.Context, tx *db.Tx, d D, before, after Rollout, by audit.Actor) error {
	if err := o.setOpen(ctx, tx, after); err != nil {
		return err
	}
	action := string(after.State)
	switch {
	case before.State == after.State && before.Wave == after.Wave:
		return nil // a step that nobody needs to be told of
	case before.State == after.State:
		action = "wave"
	}
	return audit.Append(ctx, tx, by, o.Entry(d, action, o.Facts(d), o.Facts(o.At(d, after))))
}
