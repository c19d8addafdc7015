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
	parts []domain.Part // that such objects can be of a job
	whole bool          // what belongs to the object takes the job's failure too
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
		parts: []domain.Part{domain.OfHost}, whole: true,
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			h, err := tx.Host(ctx, id)
			return ended{job.Subject{domain.OfHost: id}, h.WorkspaceID, h.Name}, err
		},
	},
	domain.AllocationLifecycle.Noun: {
		parts: []domain.Part{domain.OfAllocation}, whole: true,
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			a, err := tx.Allocation(ctx, id)
			return ended{job.Subject{domain.OfHost: a.HostID, domain.OfUnit: a.UnitID, domain.OfAllocation: id}, a.WorkspaceID, a.LoginUser}, err
		},
	},
	domain.UnitLifecycle.Noun: {
		parts: []domain.Part{domain.OfUnit, domain.OfReplaced},
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			with, err := tx.UnitMovesWith(ctx, id)
			if err == nil && with {
				err = reconcile.ErrEndsLater
			}
			if err != nil {
				return ended{}, err
			}
			u, err := tx.Unit(ctx, id)
			return ended{job.Subject{domain.OfHost: u.HostID, domain.OfUnit: id}, u.WorkspaceID, u.Name}, err
		},
	},
	domain.PlanLifecycle.Noun: {
		parts: []domain.Part{domain.OfPlan},
		load: func(ctx context.Context, tx *store.Tx, id uuid.UUID) (ended, error) {
			p, err := tx.Plan(ctx, id)
			return ended{job.Subject{domain.OfHost: p.HostID, domain.OfPlan: id}, p.WorkspaceID, p.Action}, err
		},
	},
}

func (n ending) end(ctx context.Context, tx *store.Tx, e reconcile.Ending) error {
	effect := n.effect(e.State, e.Alone)
	if len(effect) == 0 {
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
		for _, p := range n.parts {
			on := j.Failure.On(p)
			switch {
			case !p.Leaves(state, on):
			case n.whole && !alone:
				return j.Failure
			default: // a unit that is replaced ends as that one unit
				return domain.Effect{{Of: n.parts[0], On: on}}
			}
		}
	}
	return nil
}
