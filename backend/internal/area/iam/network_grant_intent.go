package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// told writes the event in the workspace of the network, and in the scope that may use it where that is of another organization.
func (g NetworkGrant) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	e := audit.Entry{
		Workspace: g.WorkspaceID, Action: NetworkGrantNoun + "." + action, ObjectKind: NetworkGrantNoun, ObjectID: g.ID, ObjectName: g.Network,
		Before: before, After: after,
	}
	if err := tx.Event(ctx, e); err != nil {
		return err
	}
	owner, err := Workspaces.byID(ctx, tx.Reader, g.WorkspaceID)
	if err != nil {
		return fmt.Errorf("read the workspace of a network: %w", err)
	}
	if owner.OrganizationID != at.OrganizationID {
		if err := audit.Append(ctx, tx.Tx, tx.Call().Actor, at.entry(e)); err != nil {
			return err
		}
	}
	return tx.Made(ctx, NetworkGrantNoun, g.ID, uuid.Nil)
}

// CreateNetworkGrant lets hosts of a scope carry a network of a workspace. It is refused while backends of another release than this
// one run: they would take names for ids, and keep an address from being lent again.
func CreateNetworkGrant(ctx context.Context, tx *intent.Tx, network scope.Ref[NetworkGrant], to scope.Ref[Scope], level string, draft NetworkGrantDraft, release string) (NetworkGrant, error) {
	if err := draft.check(); err != nil {
		return NetworkGrant{}, err
	}
	if err := OnlyThisRelease(ctx, tx.Tx, release, "they would not keep to it"); err != nil {
		return NetworkGrant{}, err
	}
	at, err := levelOf(level).keep(ctx, tx.Tx, to.ID())
	if err != nil {
		return NetworkGrant{}, err
	}
	if err := at.CanWrite(); err != nil {
		return NetworkGrant{}, err
	}
	if at.ID == network.Workspace() {
		return NetworkGrant{}, fault.Conflictf("network_grant_own", "The network is of this workspace already.")
	}
	n, err := db.First[grantableNetwork](ctx, tx.Reader, fault.ErrNotFound, sqlKeepNetworkToGrant, network.Workspace(), network.ID())
	if err != nil {
		return NetworkGrant{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("network_grant_exists", "The network is granted to %s already. Change that grant.", at.Path())
	if err := tx.One(ctx, taken, sqlInsertNetworkGrant, id, network.Workspace(), n.ID, at.Kind, at.ID, draft.Addresses, tx.Call().Actor.Name); err != nil {
		return NetworkGrant{}, err
	}
	made, err := db.First[NetworkGrant](ctx, tx.Reader, fault.ErrNotFound, sqlNetworkGrantByID, id)
	if err != nil {
		return NetworkGrant{}, err
	}
	return made, made.told(ctx, tx, at, "create", nil, made.facts())
}

// networkGrantAt returns a grant that counts, and that nobody else changes, with its scope.
func networkGrantAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[NetworkGrant], version int64) (NetworkGrant, Scope, error) {
	if _, err := tx.Exec(ctx, sqlHoldNetworkGrant, ref.ID()); err != nil {
		return NetworkGrant{}, Scope{}, fmt.Errorf("hold a grant of a network: %w", err)
	}
	g, err := db.First[NetworkGrant](ctx, tx.Reader, fault.ErrNotFound, sqlNetworkGrantByID, ref.ID())
	if err != nil {
		return NetworkGrant{}, Scope{}, err
	}
	if err := fault.CheckVersion("grant of a network", g.Version, version); err != nil {
		return NetworkGrant{}, Scope{}, err
	}
	if err := g.CanChange(); err != nil {
		return NetworkGrant{}, Scope{}, err
	}
	at, err := levelOf(g.Scope).byID(ctx, tx.Reader, g.ScopeID)
	return g, at, err
}

// ChangeNetworkGrant changes how many addresses of a network a scope may have. Those beyond it stay; it gets no more.
func ChangeNetworkGrant(ctx context.Context, tx *intent.Tx, ref scope.Ref[NetworkGrant], version int64, draft NetworkGrantDraft) error {
	if err := draft.check(); err != nil {
		return err
	}
	before, at, err := networkGrantAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlChangeNetworkGrant, before.ID, draft.Addresses); err != nil {
		return fmt.Errorf("change a grant of a network: %w", err)
	}
	after := before
	after.Addresses = draft.Addresses
	return after.told(ctx, tx, at, "change", before.facts(), after.facts())
}

// RevokeNetworkGrant gives no more addresses of a network. Allocations keep those that they have until they are deallocated: an owner
// needs no help of the receivers to stop sharing, and no receiver loses an address by it.
func RevokeNetworkGrant(ctx context.Context, tx *intent.Tx, ref scope.Ref[NetworkGrant], version int64) error {
	g, at, err := networkGrantAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlRevokeNetworkGrant, g.ID); err != nil {
		return fmt.Errorf("revoke a grant of a network: %w", err)
	}
	return g.told(ctx, tx, at, "revoke", g.facts(), map[string]any{"addresses": g.InUse})
}
