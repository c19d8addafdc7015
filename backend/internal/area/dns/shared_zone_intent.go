package dns

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// NameInSharedZone has the allocations of a workspace named in a zone of another one, or not any more. One zone of a workspace
// names them.
func NameInSharedZone(ctx context.Context, tx *intent.Tx, ref scope.Ref[SharedZone], names bool) error {
	z, _, err := FindSharedZone(ctx, tx.Reader, ref.Workspace(), ref.ID().String())
	if err != nil {
		return err
	}
	action := "stop_naming"
	if names {
		action = "name_allocations"
		err = z.beginNaming(ctx, tx)
	} else if err = z.CanStopNaming(); err == nil {
		err = tx.One(ctx, fault.ErrNotFound, sqlUnchoose, z.WorkspaceID, z.ID)
	}
	if err != nil {
		return err
	}
	if err := touchNamed(ctx, tx.Tx, z.WorkspaceID); err != nil {
		return err
	}
	err = tx.Event(ctx, audit.Entry{
		Workspace: z.WorkspaceID, Action: SharedZoneNoun + "." + action, ObjectKind: SharedZoneNoun, ObjectID: z.ID, ObjectName: z.Name.Display(),
		Before: map[string]any{"names_allocations": z.NamesAllocations}, After: map[string]any{"names_allocations": names, "suffix": z.Suffix.Display()},
	})
	if err != nil {
		return err
	}
	return tx.Made(ctx, SharedZoneNoun, z.ID, uuid.Nil)
}

func (z SharedZone) beginNaming(ctx context.Context, tx *intent.Tx) error {
	if err := z.CanName(); err != nil {
		return err
	}
	if err := tx.One(ctx, ErrGrantEnded, sqlHoldLiveGrant, z.ID); err != nil {
		return err
	}
	if err := nameHere(ctx, tx.Tx, z.WorkspaceID); err != nil {
		return err
	}
	if err := tx.One(ctx, errNamesAlready, sqlChoose, z.WorkspaceID, z.ID, tx.Call().Actor.Name); err != nil {
		return fmt.Errorf("name allocations in a shared zone: %w", err)
	}
	return nil
}
