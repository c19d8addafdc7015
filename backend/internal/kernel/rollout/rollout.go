package rollout

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/reconcile"
)

// State of a rollout.
type State string

// States of a rollout.
const (
	Running   State = "running"
	Paused    State = "paused"    // by a person: targets that were told go on, no others are told
	Halted    State = "halted"    // by failures: nobody is told, and whoever has not changed yet is not to
	Returning State = "returning" // each target that was told goes back
	Done      State = "done"
	Returned  State = "returned"
)

var states = lifecycle.Lifecycle[State]{
	Noun: "rollout", Initial: Running,
	States: []lifecycle.StateInfo[State]{
		{State: Running, Means: "targets are told, wave by wave"},
		{State: Paused, Means: "no further targets are told until a person resumes it"},
		{State: Halted, Means: "failures have passed the limit; targets that have not changed yet stay as they are", Failed: true},
		{State: Returning, Means: "each target that was told goes back"},
		{State: Done, Means: "all targets that it could reach have changed", Final: true},
		{State: Returned, Means: "each target that was told is back", Final: true},
	},
}

// Means is the state in a sentence, for people.
func (s State) Means() string { return states.Info(s).Means }

// Ended tells whether nothing happens any more.
func (s State) Ended() bool { return s == Done || s == Returned }

// TargetState is how one target stands.
type TargetState string

// States of a target.
const (
	Waiting    TargetState = "waiting"
	Told       TargetState = "told"
	Proven     TargetState = "proven"
	Failed     TargetState = "failed"
	Skipped    TargetState = "skipped" // it can't be proven now, by no fault of the change
	TargetBack TargetState = "returning"
	WentBack   TargetState = "returned"
)

// Rollout is a change under way.
type Rollout struct {
	ID        uuid.UUID  `db:"id"`
	State     State      `db:"state"`
	Plan      Plan       `db:"plan"`
	Wave      int64      `db:"wave"` // the last that has begun
	Waves     int64      `db:"waves"`
	Forgiven  int64      `db:"forgiven"`
	Reason    string     `db:"reason"`
	NextAt    *time.Time `db:"next_at"`
	EndedAt   *time.Time `db:"ended_at"`
	Version   int64      `db:"version"`
	CreatedAt time.Time  `db:"created_at"`
	UpdatedAt time.Time  `db:"updated_at"`
	Now       time.Time  `db:"now"` // of the database
}

// Target is one object that a rollout reaches.
type Target struct {
	ID      uuid.UUID   `db:"target_id"`
	Name    string      `db:"name"`
	Region  string      `db:"region"`
	Zone    string      `db:"zone"`
	Wave    int64       `db:"wave"`
	State   TargetState `db:"state"`
	Reason  string      `db:"reason"`
	ToldAt  *time.Time  `db:"told_at"`
	EndedAt *time.Time  `db:"ended_at"`
}

func (r Rollout) refuse(what string) error {
	return fault.Conflictf("rollout_state", "It is %s, and can't be %s.", r.State, what)
}

// CanPause tells why it can't be paused; nil if it can.
func (r Rollout) CanPause() error {
	if r.State != Running {
		return r.refuse("paused")
	}
	return nil
}

// CanResume tells why it can't be resumed; nil if it can.
func (r Rollout) CanResume() error {
	if r.State != Paused && r.State != Halted {
		return r.refuse("resumed")
	}
	return nil
}

// CanRollBack tells why it can't be rolled back; nil if it can.
func (r Rollout) CanRollBack() error {
	if r.State == Returning || r.State == Returned {
		return r.refuse("rolled back")
	}
	return nil
}

// lookAgain is how soon a rollout is looked at after a step.
const lookAgain = time.Second

// Outcome tells what came of an Advance, whose results it takes. changed counts the targets that moved.
func Outcome(r Rollout, changed int, err error) (reconcile.Outcome, error) {
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("advance: %w", err)
	}
	out := reconcile.Outcome{Changed: int64(changed), Gone: r.State.Ended()}
	if out.Gone {
		return out, nil
	}
	out.Conditions = []reconcile.Condition{r.Progresses()}
	if changed > 0 {
		out.Again = lookAgain
	}
	return out, nil
}

// Progresses is the condition that tells whether the rollout goes on by itself.
func (r Rollout) Progresses() reconcile.Condition {
	c := reconcile.Condition{Type: "progresses", Status: reconcile.True, Reason: string(r.State), Message: r.Reason, Threshold: 1}
	if r.State == Halted {
		c.Status, c.Fault = reconcile.False, reconcile.FaultUser
	}
	return c
}

// Why says what a target waits for, or why it is as it is.
func (r Rollout) Why(t Target) string {
	if t.State != Waiting {
		return t.Reason
	}
	switch {
	case r.State == Returning || r.State == Returned:
		return "It was not reached before the way back."
	case r.State == Halted:
		return "The delivery is halted."
	case r.State == Paused:
		return "The delivery is paused."
	case t.Wave <= r.Wave:
		return "Its wave has begun, and it is told next."
	case t.Wave == r.Wave+1:
		return fmt.Sprintf("Its wave %d is next. %s", t.Wave, r.Reason)
	}
	return fmt.Sprintf("Its wave is %d of %d, and %d have begun.", t.Wave, r.Waves, r.Wave)
}
