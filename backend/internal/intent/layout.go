package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// SetLayout sets how a probed host is cut. Until the host is initialized it
// may be set again; units that were planned are then forgotten, and since none
// of them ever reached the host, ordinals begin at 1 again.
func (in *Intents) SetLayout(ctx context.Context, who domain.Actor, id uuid.UUID, ifMatch int64, r domain.LayoutRequest) (layout domain.Layout, err error) {
	err = in.onHost(ctx, id, ifMatch, func(tx *store.Tx, h store.Host) error {
		if err := canSetLayout(h); err != nil {
			return err
		}
		if layout, err = domain.PlanLayout(*h.Facts, r); err != nil {
			return err
		}
		// The host's row first: whoever sets a layout at the same time waits here
		// and then finds another version.
		if err := tx.SetHostLayout(ctx, h, layout, len(layout.Units)+1); err != nil {
			return err
		}
		if err := tx.DropPlannedUnits(ctx, h.ID); err != nil {
			return err
		}
		for i, u := range layout.Units {
			if _, err := tx.InsertUnit(ctx, h, i+1, u); err != nil {
				return err
			}
		}
		audit := hostAudit(h, "host.set_layout")
		audit.Before, audit.After = map[string]any{"layout": h.Layout}, map[string]any{"layout": layout}
		return tx.AddEvent(ctx, who, audit)
	})
	return layout, err
}

// PreviewLayout computes a layout and writes nothing.
func (in *Intents) PreviewLayout(ctx context.Context, id uuid.UUID, r domain.LayoutRequest) (domain.Layout, error) {
	h, err := in.db.Host(ctx, id)
	if err == nil {
		err = notRemoved(h)
	}
	if err != nil {
		return domain.Layout{}, err
	}
	if h.Facts == nil {
		return domain.Layout{}, domain.Conflictf("host_state", "it has not been probed")
	}
	return domain.PlanLayout(*h.Facts, r)
}

func canSetLayout(h store.Host) error {
	if h.State != domain.HostProbed {
		if h.Facts == nil {
			return domain.Conflictf("host_state", "it is %s; a layout is set against what a probe read", h.State)
		}
		return domain.Conflictf("host_state", "it is %s; a layout is set before the host is initialized", h.State)
	}
	return nil
}
