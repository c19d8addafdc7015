package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// CloseUnit keeps a free unit from being allocated.
func (in *Intents) CloseUnit(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.moveUnit(ctx, call, id, ifMatch, domain.Closed, "unit.close", "closed by "+call.Actor.Name)
}

// OpenUnit lets a closed unit be allocated again.
func (in *Intents) OpenUnit(ctx context.Context, call Call, id uuid.UUID, ifMatch int64) error {
	return in.moveUnit(ctx, call, id, ifMatch, domain.Opened, "unit.open", "")
}

func (in *Intents) moveUnit(ctx context.Context, call Call, id uuid.UUID, ifMatch int64, on domain.Event, action, message string) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
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
		err = tx.AddEvent(ctx, call.Actor, store.Audit{
			Workspace: u.WorkspaceID, Action: action, ObjectKind: "unit", ObjectID: u.ID, ObjectName: u.Name,
			Before: map[string]any{"state": u.State}, After: map[string]any{"state": to},
		})
		if err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "unit", u.ID, uuid.Nil)
	})
}
