package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// CloseUnit keeps a free unit from being allocated.
func (in *Intents) CloseUnit(ctx context.Context, who domain.Actor, id uuid.UUID, ifMatch int64) error {
	return in.moveUnit(ctx, who, id, ifMatch, domain.Closed, "unit.close", "closed by "+who.Name)
}

// OpenUnit lets a closed unit be allocated again.
func (in *Intents) OpenUnit(ctx context.Context, who domain.Actor, id uuid.UUID, ifMatch int64) error {
	return in.moveUnit(ctx, who, id, ifMatch, domain.Opened, "unit.open", "")
}

func (in *Intents) moveUnit(ctx context.Context, who domain.Actor, id uuid.UUID, ifMatch int64, on domain.Event, action, message string) error {
	return in.do(ctx, func(tx *store.Tx) error {
		if err := holdVersion(ctx, "unit", id, ifMatch, tx.HoldUnit); err != nil {
			return err
		}
		u, err := tx.Unit(ctx, id)
		if err != nil {
			return err
		}
		to, err := tx.MoveUnit(ctx, u.ID, u.State, on, message)
		if err != nil {
			return err
		}
		err = tx.AddEvent(ctx, who, store.Audit{
			Workspace: u.WorkspaceID, Action: action, ObjectKind: "unit", ObjectID: u.ID, ObjectName: u.Name,
			Before: map[string]any{"state": u.State}, After: map[string]any{"state": to},
		})
		if err != nil {
			return err
		}
		return recordMade(ctx, tx, "unit", u.ID, uuid.Nil)
	})
}
