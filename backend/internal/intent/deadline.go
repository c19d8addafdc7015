package intent

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// InFlight is what the nouns here hand in whose states have deadlines. An object that is past its deadline and has no job goes
// to the state that its job's failure would have led to, from where a person can go on. That happens where a job ended whose
// outcome no longer fitted its objects.
func (in *Intents) InFlight() []reconcile.Deadlines {
	all := store.InFlight()
	for i := range all {
		ending := endings[all[i].Noun]
		all[i].End = func(ctx context.Context, tx *db.Tx, e reconcile.Ending) error {
			return ending.end(ctx, in.db.Over(tx), e)
		}
	}
	return all
}

// ending is how the objects of a noun end whose job is gone.
type ending struct {
	// takes gives the part of a job's failure that leads an object out of a state; empty if none does.
	takes func(state string, failure domain.Effect) domain.Effect
	whole bool // what belongs to the object takes the job's failure too
	load  func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error)
}

// ended is an object that ends.
type ended struct {
	job.Subject
	workspace uuid.UUID
	name      string
}

var endings = map[string]ending{
	domain.HostLifecycle.Noun: {
		whole: true,
		takes: func(state string, failure domain.Effect) domain.Effect {
			return domain.Effect{Host: leaves(domain.HostLifecycle, state, failure.Host)}
		},
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			h, err := tx.Host(ctx, id)
			return ended{job.Subject{HostID: id}, h.WorkspaceID, h.Name}, err
		},
	},
	domain.AllocationLifecycle.Noun: {
		whole: true,
		takes: func(state string, failure domain.Effect) domain.Effect {
			return domain.Effect{Allocation: leaves(domain.AllocationLifecycle, state, failure.Allocation)}
		},
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			a, err := tx.Allocation(ctx, id)
			return ended{job.Subject{HostID: a.HostID, UnitID: a.UnitID, AllocationID: id}, a.WorkspaceID, a.LoginUser}, err
		},
	},
	domain.UnitLifecycle.Noun: {
		takes: func(state string, failure domain.Effect) domain.Effect {
			on := leaves(domain.UnitLifecycle, state, failure.Unit)
			if on == "" {
				on = leaves(domain.UnitLifecycle, state, failure.Replaced)
			}
			return domain.Effect{Unit: on}
		},
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			with, err := tx.UnitMovesWith(ctx, id)
			if err == nil && with {
				err = reconcile.ErrEndsLater
			}
			if err != nil {
				return ended{}, err
			}
			u, err := tx.Unit(ctx, id)
			return ended{job.Subject{HostID: u.HostID, UnitID: id}, u.WorkspaceID, u.Name}, err
		},
	},
	domain.PlanLifecycle.Noun: {
		takes: func(state string, failure domain.Effect) domain.Effect {
			return domain.Effect{Plan: leaves(domain.PlanLifecycle, state, failure.Plan)}
		},
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			p, err := tx.Plan(ctx, id)
			return ended{job.Subject{HostID: p.HostID, PlanID: id}, p.WorkspaceID, p.Action}, err
		},
	},
}

// leaves is the event if it leads an object out of the state, else none.
func leaves[S ~string](l domain.Lifecycle[S], state string, on domain.Event) domain.Event {
	if to, err := l.Next(S(state), on); on == "" || err != nil || string(to) == state {
		return ""
	}
	return on
}

func (n ending) end(ctx context.Context, tx *store.Tx, e reconcile.Ending) error {
	effect := n.effect(e.State, e.Alone)
	if effect == (domain.Effect{}) {
		return errors.New("no job's failure ends that")
	}
	o, err := n.load(ctx, tx, e.ID)
	if err != nil {
		return fmt.Errorf("load it: %w", err)
	}
	if err := tx.Apply(ctx, effect, o.Subject, e.Message); err != nil {
		return err
	}
	return tx.AddEvent(ctx, e.By, store.Audit{
		Workspace: o.workspace, Action: e.Noun + ".end_stuck", ObjectKind: e.Noun, ObjectID: e.ID, ObjectName: o.name,
		Before: map[string]any{"state": e.State}, After: map[string]any{"message": e.Message},
	})
}

// effect is the failure in the joint table that an object in its state takes, for all that it is about or for the object alone.
func (n ending) effect(state string, alone bool) domain.Effect {
	for _, j := range domain.JointTable {
		part := n.takes(state, j.Failure)
		switch {
		case part == (domain.Effect{}):
		case n.whole && !alone:
			return j.Failure
		default:
			return part
		}
	}
	return domain.Effect{}
}
