package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
)

// Apply takes everything that a job is about through one effect of the joint
// table, in the caller's transaction. message says why where a new state is a
// bad one. A subject that is no longer in a state that takes its event is a
// Conflict, and nothing of it is written.
func (tx *Tx) Apply(ctx context.Context, e domain.Effect, s job.Subject, message string) error {
	for _, x := range e {
		if err := movesOf[x.Of](ctx, tx, x.On, s, message); err != nil {
			return err
		}
	}
	return nil
}

// movesOf says how each part of a job is moved.
var movesOf = map[domain.Part]func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, message string) error{
	domain.OfHost: func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, _ string) error {
		h, err := tx.Host(ctx, s[domain.OfHost])
		if err != nil {
			return fmt.Errorf("load host: %w", err)
		}
		_, err = tx.MoveHost(ctx, h.ID, h.State, on)
		return err
	},
	domain.OfUnit: func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, message string) error {
		return tx.applyToUnits(ctx, on, s, message)
	},
	domain.OfReplaced: func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, message string) error {
		_, err := tx.MoveUnitsOfHost(ctx, s[domain.OfHost], on, message)
		return err
	},
	domain.OfAllocation: func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, message string) error {
		a, err := tx.Allocation(ctx, s[domain.OfAllocation])
		if err != nil {
			return fmt.Errorf("load allocation: %w", err)
		}
		_, err = tx.MoveAllocation(ctx, a.ID, a.State, on, message)
		return err
	},
	domain.OfAddress: func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, _ string) error {
		return tx.applyToAddress(ctx, on, s[domain.OfAllocation])
	},
	domain.OfPlan: func(ctx context.Context, tx *Tx, on domain.Event, s job.Subject, _ string) error {
		p, err := tx.Plan(ctx, s[domain.OfPlan])
		if err != nil {
			return fmt.Errorf("load plan: %w", err)
		}
		_, err = tx.MovePlan(ctx, p.ID, p.State, on)
		return err
	},
}

// A job that names a unit is about that one, any other about all of its host.
func (tx *Tx) applyToUnits(ctx context.Context, on domain.Event, s job.Subject, message string) error {
	if s[domain.OfUnit] == uuid.Nil {
		if _, err := tx.MoveUnitsOfHost(ctx, s[domain.OfHost], on, message); err != nil {
			return err
		}
		if on == domain.RemoveRequested {
			return tx.noUnitInUse(ctx, s[domain.OfHost])
		}
		return nil
	}
	u, err := tx.Unit(ctx, s[domain.OfUnit])
	if err != nil {
		return fmt.Errorf("load unit: %w", err)
	}
	_, err = tx.MoveUnit(ctx, u.ID, u.State, on, message)
	return err
}

func (tx *Tx) applyToAddress(ctx context.Context, on domain.Event, allocation uuid.UUID) error {
	p, err := tx.AddressOfAllocation(ctx, allocation)
	if errors.Is(err, domain.ErrNotFound) {
		return domain.Conflictf("address_gone", "the allocation has no address any more")
	}
	if err != nil {
		return fmt.Errorf("load address: %w", err)
	}
	_, err = tx.MoveAddress(ctx, p.ID, p.State, on)
	return err
}

const sqlUnitsInUse = `
SELECT count(*)
  FROM compute_units u
 WHERE u.host_id = $1 AND u.state NOT IN ('removing', 'removed')`

// noUnitInUse settles the race of a decommission with an allocation: whichever
// changed the unit's row second sees the other.
func (tx *Tx) noUnitInUse(ctx context.Context, host uuid.UUID) error {
	var n int
	if err := tx.q.QueryRow(ctx, sqlUnitsInUse, host).Scan(&n); err != nil {
		return err
	}
	if n > 0 {
		return domain.Conflictf("host_in_use", "%d of its units are in use; deallocate them first", n)
	}
	return nil
}
