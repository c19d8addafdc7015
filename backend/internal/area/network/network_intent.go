package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

var errMeanwhile = fault.Conflictf("version_mismatch", "Another request changed the network at the same time. Reload it.")

// told records a change: for policies, as an event, and for a repetition of the request.
func (n Network) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	return tx.Changed(ctx, audit.Entry{
		Workspace: n.WorkspaceID, Action: Noun + "." + action, ObjectKind: Noun, ObjectID: n.ID, ObjectName: n.Name, Before: before, After: after,
	})
}

// Create adds a network to the workspace of the call.
func Create(ctx context.Context, tx *intent.Tx, draft Draft) (Network, error) {
	draft, err := draft.check()
	if err != nil {
		return Network{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("network_exists", "The workspace already has a network %s.", draft.Name)
	if err := tx.One(ctx, taken, sqlInsertNetwork, id, tx.Call().Workspace, draft.Name, draft.Description, draft.CIDR); err != nil {
		return Network{}, fmt.Errorf("insert a network: %w", err)
	}
	made, err := byID(ctx, tx.Reader, id)
	if err != nil {
		return Network{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// held returns the network of a reference, if it is at the version that the change was made for; 0 for any.
func held(ctx context.Context, tx *intent.Tx, ref scope.Ref[Network], version int64) (Network, error) {
	n, err := hold(ctx, tx.Tx, ref.ID())
	if err != nil {
		return n, err
	}
	return n, fault.CheckVersion("network", n.Version, version)
}

// Change changes a network, but for its name, which hosts and addresses call it by. All addresses of its pool must lie in the
// new range.
func Change(ctx context.Context, tx *intent.Tx, ref scope.Ref[Network], version int64, change func(*Draft)) error {
	before, err := held(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	draft := before.draft()
	change(&draft)
	draft.Name = before.Name
	if draft, err = draft.check(); err != nil {
		return err
	}
	if err := allInside(ctx, tx.Tx, before, draft.CIDR); err != nil {
		return err
	}
	if err := tx.One(ctx, errMeanwhile, sqlChangeNetwork, before.ID, before.Version, draft.Description, draft.CIDR); err != nil {
		return fmt.Errorf("change a network: %w", err)
	}
	after := before
	after.Description, after.CIDR = draft.Description, draft.CIDR
	return after.told(ctx, tx, "change", before.facts(), after.facts())
}

// allInside refuses a range that an address of the pool lies outside of.
func allInside(ctx context.Context, tx *db.Tx, n Network, cidr string) error {
	if cidr == "" {
		return nil
	}
	p, err := netip.ParsePrefix(cidr)
	if err != nil {
		return fmt.Errorf("read a range: %w", err)
	}
	type row struct {
		Address string `db:"address"`
	}
	first, last := bounds(p)
	out, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlOutside, n.WorkspaceID, n.Name, int64(first), int64(last))
	switch {
	case err == nil:
		var bad fault.Invalid
		bad.Add("cidr", "%s is in the pool of %s, and can't be handed out of this range.", out.Address, n.Name)
		return bad.OrNil()
	case errors.Is(err, fault.ErrNotFound):
		return nil
	}
	return fmt.Errorf("look for addresses outside of a range: %w", err)
}

// Delete deletes a network that no host carries and whose pool is empty.
func Delete(ctx context.Context, tx *intent.Tx, ref scope.Ref[Network], version int64) error {
	before, err := held(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := before.CanDelete(); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlEndGrants, before.ID); err != nil {
		return fmt.Errorf("end the grants of a network: %w", err)
	}
	if err := tx.One(ctx, errMeanwhile, sqlDeleteNetwork, before.ID, before.Version); err != nil {
		return fmt.Errorf("delete a network: %w", err)
	}
	return before.told(ctx, tx, "delete", before.facts(), nil)
}
