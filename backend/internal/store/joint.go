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
	if e.Host != "" {
		h, err := tx.Host(ctx, s.HostID)
		if err != nil {
			return fmt.Errorf("load host: %w", err)
		}
		if _, err := tx.MoveHost(ctx, h.ID, h.State, e.Host); err != nil {
			return err
		}
	}
	if e.Unit != "" {
		if err := tx.applyToUnits(ctx, e.Unit, s, message); err != nil {
			return err
		}
	}
	if e.Replaced != "" {
		if _, err := tx.MoveUnitsOfHost(ctx, s.HostID, e.Replaced, message); err != nil {
			return err
		}
	}
	if e.Allocation != "" {
		a, err := tx.Allocation(ctx, s.AllocationID)
		if err != nil {
			return fmt.Errorf("load allocation: %w", err)
		}
		if _, err := tx.MoveAllocation(ctx, a.ID, a.State, e.Allocation, message); err != nil {
			return err
		}
	}
	if e.Address != "" {
		if err := tx.applyToAddress(ctx, e.Address, s.AllocationID); err != nil {
			return err
		}
	}
	if e.Plan != "" {
		p, err := tx.Plan(ctx, s.PlanID)
		if err != nil {
			return fmt.Errorf("load plan: %w", err)
		}
		_, err = tx.MovePlan(ctx, p.ID, p.State, e.Plan)
		return err
	}
	return nil
}

// A job that names a unit is about that one, any other about all of its host.
func (tx *Tx) applyToUnits(ctx context.Context, on domain.Event, s job.Subject, message string) error {
	if s.UnitID == uuid.Nil {
		if _, err := tx.MoveUnitsOfHost(ctx, s.HostID, on, message); err != nil {
			return err
		}
		if on == domain.RemoveRequested {
			return tx.noUnitInUse(ctx, s.HostID)
		}
		return nil
	}
	u, err := tx.Unit(ctx, s.UnitID)
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
