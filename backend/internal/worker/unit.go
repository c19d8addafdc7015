package worker

import (
	"context"
	"encoding/json"
	"fmt"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/store"
)

var unitAllocate = handler{
	steps: map[string]step{"allocate": {lock: true, do: allocate}},
	apply: keysApplied,
}

// allocationKeys runs the playbook that set the unit up once more: twice is
// once, so nothing but the keys changes.
var allocationKeys = handler{
	steps: map[string]step{"allocate": {lock: true, do: allocateAgain}},
	apply: keysApplied,
}

// allocationNetwork does the same with the other kind of network. The row keeps the old kind until the play has ended well: what
// is set up again after a failure is the unit as it was.
var allocationNetwork = handler{
	steps: map[string]step{"allocate": {lock: true, do: func(ctx context.Context, r *run) error {
		r.alloc.UnitNetwork = domain.NetworkOfUnit
		return allocateAgain(ctx, r)
	}}},
	apply: func(ctx context.Context, tx *store.Tx, r *run) error {
		if err := tx.MovedToOwnNetwork(ctx, r.alloc.ID); err != nil {
			return err
		}
		return keysApplied(ctx, tx, r)
	},
}

func allocateAgain(ctx context.Context, r *run) error {
	if r.alloc.State != domain.AllocationAllocated {
		return &domain.JobError{
			Code: domain.ErrCodeSuperseded, Host: r.host.Name,
			Message: fmt.Sprintf("The allocation is now %s.", r.alloc.State),
		}
	}
	return allocate(ctx, r)
}

func allocate(ctx context.Context, r *run) error {
	err := r.play(ctx, inputs.OfAllocate(r.host.Host, r.unit, r.alloc), true)
	if err == nil {
		r.outcome = fmt.Sprintf("%s can log in at %s.", r.alloc.LoginUser, r.alloc.Address)
	}
	return err
}

func keysApplied(ctx context.Context, tx *store.Tx, r *run) error {
	return tx.KeysApplied(ctx, r.alloc.ID, r.alloc.KeysVersion)
}

var unitDeallocate = handler{
	steps: map[string]step{"deallocate": {lock: true, do: deallocate}},
	apply: func(ctx context.Context, tx *store.Tx, r *run) error {
		if err := tx.SetWipe(ctx, r.unit.ID, *r.wipe); err != nil {
			return err
		}
		if len(r.wipe.Leftovers) == 0 && r.wipe.LeftoversMore == 0 {
			if err := tx.UIDWiped(ctx, r.alloc.UID, r.alloc.ID); err != nil {
				return err
			}
		}
		// The record holds the last one; the events hold them all.
		return tx.AddEvent(ctx, r.actor(), store.Audit{
			Workspace: r.job.WorkspaceID, Action: "unit.wipe", ObjectKind: "unit", ObjectID: r.unit.ID, ObjectName: r.unit.Name,
			JobID: r.claim.ID, After: map[string]any{"wipe": r.wipe},
		})
	},
}

func deallocate(ctx context.Context, r *run) error {
	err := r.play(ctx, inputs.OfDeallocate(r.host.Host, r.unit, r.alloc), true)
	if err != nil {
		return err
	}
	var result struct {
		Wipe json.RawMessage `json:"wipe"`
	}
	_ = json.Unmarshal(r.result, &result)
	wipe, err := domain.ReadWipe(result.Wipe, domain.WipeOf{
		JobID: r.job.ID.String(), AllocationID: r.alloc.ID.String(), UnitID: r.unit.ID.String(), LoginUser: r.alloc.LoginUser, UID: r.alloc.UID,
		VolumeGroup: r.host.Layout.VolumeGroup, Volume: domain.VolumeName(r.unit.Ordinal), MinBytes: domain.MinVolume,
	})
	if err != nil {
		// Without evidence the unit must not be handed out again.
		return &domain.JobError{
			Code: domain.ErrCodePlaybookError, Host: r.host.Name,
			Message: fmt.Sprintf("The playbook succeeded, but its evidence of the wipe is invalid: %v.", err),
		}
	}
	r.wipe = &wipe
	r.outcome = fmt.Sprintf("%s is wiped and free.", r.unit.Name)
	return nil
}
