package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// told writes the event in the workspace of the zone, and in the scope that may use it where that is of another organization.
func (g ZoneGrant) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	e := audit.Entry{
		Workspace: g.WorkspaceID, Action: ZoneGrantNoun + "." + action, ObjectKind: ZoneGrantNoun, ObjectID: g.ID, ObjectName: g.Zone.Display(),
		Before: before, After: after,
	}
	if err := tx.Event(ctx, e); err != nil {
		return err
	}
	owner, err := Workspaces.byID(ctx, tx.Reader, g.WorkspaceID)
	if err != nil {
		return fmt.Errorf("read the workspace of a zone: %w", err)
	}
	if owner.OrganizationID != at.OrganizationID {
		if err := audit.Append(ctx, tx.Tx, tx.Call().Actor, at.entry(e)); err != nil {
			return err
		}
	}
	return tx.Made(ctx, ZoneGrantNoun, g.ID, uuid.Nil)
}

// CreateZoneGrant lets a scope have names in a zone of a workspace. It is refused while backends of another release than this one
// run: they would take away the names of its allocations.
func CreateZoneGrant(ctx context.Context, tx *intent.Tx, zone scope.Ref[ZoneGrant], to scope.Ref[Scope], level string, draft ZoneGrantDraft, release string) (ZoneGrant, error) {
	if err := OnlyThisRelease(ctx, tx.Tx, release, "they would not keep to it"); err != nil {
		return ZoneGrant{}, err
	}
	at, err := levelOf(level).keep(ctx, tx.Tx, to.ID())
	if err != nil {
		return ZoneGrant{}, err
	}
	if err := at.CanWrite(); err != nil {
		return ZoneGrant{}, err
	}
	if at.ID == zone.Workspace() {
		return ZoneGrant{}, fault.Conflictf("dns_zone_grant_own", "The zone is of this workspace already.")
	}
	name, err := keepZoneToGrant(ctx, tx.Tx, zone.Workspace(), zone.ID())
	if err != nil {
		return ZoneGrant{}, err
	}
	suffix, err := draft.suffixIn(name)
	if err != nil {
		return ZoneGrant{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("dns_zone_grant_exists", "The zone is granted to %s already. Change that grant.", at.Path())
	if err := tx.One(ctx, taken, sqlInsertZoneGrant, id, zone.Workspace(), zone.ID(), at.Kind, at.ID, suffix, tx.Call().Actor.Name); err != nil {
		return ZoneGrant{}, err
	}
	made, err := db.First[ZoneGrant](ctx, tx.Reader, fault.ErrNotFound, sqlZoneGrantByID, id)
	if err != nil {
		return ZoneGrant{}, err
	}
	return made, made.told(ctx, tx, at, "create", nil, made.facts())
}

// zoneGrantAt returns a grant that nobody else changes, with its scope.
func zoneGrantAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[ZoneGrant], version int64, can func(ZoneGrant) error) (ZoneGrant, Scope, error) {
	if _, err := tx.Exec(ctx, sqlHoldZoneGrant, ref.ID()); err != nil {
		return ZoneGrant{}, Scope{}, fmt.Errorf("hold a grant of a zone: %w", err)
	}
	g, err := db.First[ZoneGrant](ctx, tx.Reader, fault.ErrNotFound, sqlZoneGrantByID, ref.ID())
	if err != nil {
		return ZoneGrant{}, Scope{}, err
	}
	if err := fault.CheckVersion("grant of a zone", g.Version, version); err != nil {
		return ZoneGrant{}, Scope{}, err
	}
	if err := can(g); err != nil {
		return ZoneGrant{}, Scope{}, err
	}
	at, err := levelOf(g.Scope).byID(ctx, tx.Reader, g.ScopeID)
	return g, at, err
}

// ChangeZoneGrant changes which names a scope may have in a zone. Names beyond it stay; no more come. Allocations get theirs anew.
func ChangeZoneGrant(ctx context.Context, tx *intent.Tx, ref scope.Ref[ZoneGrant], version int64, draft ZoneGrantDraft) error {
	before, at, err := zoneGrantAt(ctx, tx, ref, version, ZoneGrant.CanChange)
	if err != nil {
		return err
	}
	after := before
	if after.Suffix, err = draft.suffixIn(before.Zone); err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlChangeZoneGrant, before.ID, after.Suffix); err != nil {
		return fmt.Errorf("change a grant of a zone: %w", err)
	}
	if err := dns.TouchNamedBy(ctx, tx.Tx, before.ID); err != nil {
		return err
	}
	return after.told(ctx, tx, at, "change", before.facts(), after.facts())
}

// RevokeZoneGrant lets no new name into a zone. Those that are there stay until they are deleted, so no tenant loses a name by it.
func RevokeZoneGrant(ctx context.Context, tx *intent.Tx, ref scope.Ref[ZoneGrant], version int64) error {
	g, at, err := zoneGrantAt(ctx, tx, ref, version, ZoneGrant.CanChange)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlRevokeZoneGrant, g.ID); err != nil {
		return fmt.Errorf("revoke a grant of a zone: %w", err)
	}
	if err := dns.TouchNamedBy(ctx, tx.Tx, g.ID); err != nil {
		return err
	}
	return g.told(ctx, tx, at, "revoke", g.facts(), map[string]any{"record_sets": g.InUse})
}

// RemoveNames deletes what a revoked grant let into a zone, so that an owner needs no help of the tenants to have the zone alone.
// Each workspace that loses names is told.
func RemoveNames(ctx context.Context, tx *intent.Tx, ref scope.Ref[ZoneGrant], confirm string) error {
	g, at, err := zoneGrantAt(ctx, tx, ref, 0, ZoneGrant.CanRemoveNames)
	if err != nil {
		return err
	}
	if confirm != g.Zone.Display() {
		var bad fault.Invalid
		bad.Add("confirm", "Type the name of the zone, %s.", g.Zone.Display())
		return bad.OrNil()
	}
	lost, err := dns.RemoveNamesOf(ctx, tx.Tx, g.ZoneID, g.ID)
	if err != nil {
		return err
	}
	removed := 0
	for workspace, n := range lost {
		removed += n
		if workspace == g.WorkspaceID {
			continue
		}
		err := audit.Append(ctx, tx.Tx, tx.Call().Actor, audit.Entry{
			Workspace: workspace, Action: dns.SharedZoneNoun + ".lose_names", ObjectKind: dns.SharedZoneNoun, ObjectID: g.ID, ObjectName: g.Zone.Display(),
			After: map[string]any{"record_sets": n},
		})
		if err != nil {
			return err
		}
	}
	return g.told(ctx, tx, at, "remove_names", g.facts(), map[string]any{"record_sets": removed})
}
