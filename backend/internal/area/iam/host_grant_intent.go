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

// told writes the event in the workspace of the host, and in the scope that may use it where that is of another organization.
func (g HostGrant) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	e := audit.Entry{
		Workspace: g.WorkspaceID, Action: HostGrantNoun + "." + action, ObjectKind: HostGrantNoun, ObjectID: g.ID, ObjectName: g.Host,
		Before: before, After: after,
	}
	if err := tx.Event(ctx, e); err != nil {
		return err
	}
	owner, err := Workspaces.byID(ctx, tx.Reader, g.WorkspaceID)
	if err != nil {
		return fmt.Errorf("read the workspace of a host: %w", err)
	}
	if owner.OrganizationID != at.OrganizationID {
		if err := audit.Append(ctx, tx.Tx, tx.Call().Actor, at.entry(e)); err != nil {
			return err
		}
	}
	return tx.Made(ctx, HostGrantNoun, g.ID, uuid.Nil)
}

// CreateHostGrant lets a scope place allocations on a host of a workspace. It is refused while backends of another release than
// this one run.
func CreateHostGrant(ctx context.Context, tx *intent.Tx, host scope.Ref[HostGrant], to scope.Ref[Scope], level string, draft HostGrantDraft, release string) (HostGrant, error) {
	if err := draft.check(); err != nil {
		return HostGrant{}, err
	}
	if err := OnlyThisRelease(ctx, tx.Tx, release, "they would not keep to it"); err != nil {
		return HostGrant{}, err
	}
	at, err := levelOf(level).keep(ctx, tx.Tx, to.ID())
	if err != nil {
		return HostGrant{}, err
	}
	if err := at.CanWrite(); err != nil {
		return HostGrant{}, err
	}
	if at.ID == host.Workspace() {
		return HostGrant{}, fault.Conflictf("host_grant_own", "The host is of this workspace already.")
	}
	h, err := db.First[grantable](ctx, tx.Reader, fault.ErrNotFound, sqlHostToGrantByID, host.Workspace(), host.ID())
	if err != nil {
		return HostGrant{}, err
	}
	if h.Purpose != "units" {
		return HostGrant{}, fault.Conflictf("host_purpose", "The host is for Kubernetes. Only hosts with units can be granted.")
	}
	id := uuid.New()
	taken := fault.Conflictf("host_grant_exists", "The host is granted to %s already. Change that grant.", at.Path())
	if err := tx.One(ctx, taken, sqlInsertHostGrant, id, host.Workspace(), h.ID, at.Kind, at.ID, draft.Units, tx.Call().Actor.Name); err != nil {
		return HostGrant{}, err
	}
	made, err := db.First[HostGrant](ctx, tx.Reader, fault.ErrNotFound, sqlHostGrantByID, id)
	if err != nil {
		return HostGrant{}, err
	}
	return made, made.told(ctx, tx, at, "create", nil, made.facts())
}

// hostGrantAt returns a grant that counts, and that nobody else changes, with its scope.
func hostGrantAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[HostGrant], version int64) (HostGrant, Scope, error) {
	if _, err := tx.Exec(ctx, sqlHoldHostGrant, ref.ID()); err != nil {
		return HostGrant{}, Scope{}, fmt.Errorf("hold a grant of a host: %w", err)
	}
	g, err := db.First[HostGrant](ctx, tx.Reader, fault.ErrNotFound, sqlHostGrantByID, ref.ID())
	if err != nil {
		return HostGrant{}, Scope{}, err
	}
	if err := fault.CheckVersion("grant of a host", g.Version, version); err != nil {
		return HostGrant{}, Scope{}, err
	}
	if err := g.CanChange(); err != nil {
		return HostGrant{}, Scope{}, err
	}
	at, err := levelOf(g.Scope).byID(ctx, tx.Reader, g.ScopeID)
	return g, at, err
}

// ChangeHostGrant changes how much of a host a scope may use. Allocations beyond it stay; no more begin.
func ChangeHostGrant(ctx context.Context, tx *intent.Tx, ref scope.Ref[HostGrant], version int64, draft HostGrantDraft) error {
	if err := draft.check(); err != nil {
		return err
	}
	before, at, err := hostGrantAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlChangeHostGrant, before.ID, draft.Units); err != nil {
		return fmt.Errorf("change a grant of a host: %w", err)
	}
	after := before
	after.Units = draft.Units
	return after.told(ctx, tx, at, "change", before.facts(), after.facts())
}

// RevokeHostGrant lets no new allocation onto a host. Those that are there stay until they are deallocated: an owner needs no
// help of the tenants to stop sharing, and no tenant loses data by it.
func RevokeHostGrant(ctx context.Context, tx *intent.Tx, ref scope.Ref[HostGrant], version int64) error {
	g, at, err := hostGrantAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlRevokeHostGrant, g.ID); err != nil {
		return fmt.Errorf("revoke a grant of a host: %w", err)
	}
	return g.told(ctx, tx, at, "revoke", g.facts(), map[string]any{"allocations": g.InUse})
}
