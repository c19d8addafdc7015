package intent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

// EndStuck takes one object that is in flight without a job, for longer than it
// may be, to the state that its job's failure would have led to, from where a
// person can go on. It returns which one that was, also with an error, which
// need not keep the caller from the next: those in past are left alone. None if
// there is no other. That happens where a job ended whose outcome no longer
// fitted its objects.
func (in *Intents) EndStuck(ctx context.Context, who domain.Actor, past []uuid.UUID) (found uuid.UUID, err error) {
	// What belongs to it too, if it takes part; else the object alone.
	for _, alone := range []bool{false, true} {
		err = in.do(ctx, func(tx *store.Tx) error {
			found = uuid.Nil // a try before this one was rolled back
			s, err := tx.Stuck(ctx, past)
			if errors.Is(err, domain.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			found = s.ID
			if err := endStuck(ctx, tx, who, s, alone); err != nil {
				return fmt.Errorf("end %s %s, which is %s: %w", s.Noun, s.ID, s.State, err)
			}
			return nil
		})
		var conflict *domain.Conflict
		if !errors.As(err, &conflict) {
			break
		}
	}
	return found, err
}

func endStuck(ctx context.Context, tx *store.Tx, who domain.Actor, s store.Stuck, alone bool) error {
	effect := failureOf(s, alone)
	if effect == (domain.Effect{}) {
		return errors.New("no job's failure ends that")
	}
	message := fmt.Sprintf("It was %s with no job at work on it since %s.", s.State, s.Since.UTC().Format(time.RFC3339))
	subject := job.Subject{HostID: s.HostID}
	if s.UnitID != nil {
		subject.UnitID = *s.UnitID
	}
	if s.AllocationID != nil {
		subject.AllocationID = *s.AllocationID
	}
	if s.Noun == domain.PlanLifecycle.Noun {
		subject.PlanID = s.ID
	}
	if err := tx.Apply(ctx, effect, subject, message); err != nil {
		return err
	}
	return tx.AddEvent(ctx, who, store.Audit{
		Workspace: s.Workspace, Action: s.Noun + ".end_stuck", ObjectKind: s.Noun, ObjectID: s.ID, ObjectName: s.Name,
		Before: map[string]any{"state": s.State}, After: map[string]any{"message": message},
	})
}

// failureOf is the failure in the joint table that an object in its state takes,
// for all that it is about or for the object alone; empty if there is none.
func failureOf(s store.Stuck, alone bool) domain.Effect {
	for _, j := range domain.JointTable {
		e := j.Failure
		switch s.Noun {
		case domain.HostLifecycle.Noun:
			if leaves(domain.HostLifecycle, s.State, e.Host) {
				if alone {
					return domain.Effect{Host: e.Host}
				}
				return e
			}
		case domain.AllocationLifecycle.Noun:
			if leaves(domain.AllocationLifecycle, s.State, e.Allocation) {
				if alone {
					return domain.Effect{Allocation: e.Allocation}
				}
				return e
			}
		case domain.UnitLifecycle.Noun: // its host, or its allocation, is not stuck
			for _, on := range []domain.Event{e.Unit, e.Replaced} {
				if leaves(domain.UnitLifecycle, s.State, on) {
					return domain.Effect{Unit: on}
				}
			}
		case domain.PlanLifecycle.Noun:
			if leaves(domain.PlanLifecycle, s.State, e.Plan) {
				return domain.Effect{Plan: e.Plan}
			}
		}
	}
	return domain.Effect{}
}

// leaves tells whether the event leads an object out of the state.
func leaves[S ~string](l domain.Lifecycle[S], state string, on domain.Event) bool {
	if on == "" {
		return false
	}
	to, err := l.Next(S(state), on)
	return err == nil && string(to) != state
}
