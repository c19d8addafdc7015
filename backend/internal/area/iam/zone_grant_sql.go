package iam

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlZoneGrant = `
SELECT t.id, t.workspace_id, t.zone_id, z.name AS zone, t.scope, t.scope_id, t.suffix, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM dns_record_sets s WHERE s.zone_grant_id = t.id) AS in_use
  FROM dns_zone_grants t
  JOIN dns_zones z ON z.id = t.zone_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM dns_record_sets l WHERE l.zone_grant_id = t.id))`

// FindZoneGrant finds a grant of a zone of a workspace.
func FindZoneGrant(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (ZoneGrant, scope.Ref[ZoneGrant], error) {
	return scope.FindByID(ctx, q, sqlZoneGrant+" AND t.workspace_id = $1 AND t.id = $2", workspace, text, func(g ZoneGrant) uuid.UUID { return g.ID })
}

// ZoneGrantSorting is the orders that grants of zones can be listed in.
var ZoneGrantSorting = db.Sorting[ZoneGrant]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("t.created_at"), db.ByID("t.id")}, At: func(g ZoneGrant) db.Position {
		return db.Position{Time: g.CreatedAt, ID: g.ID}
	}},
}

// ZoneGrantFilter narrows a list of grants of zones.
type ZoneGrantFilter struct {
	WorkspaceID uuid.UUID
	Zone        string // its id or name
	Sort        string // one of ZoneGrantSorting; "" for the first
	After       *db.Position
	Limit       int
}

// ZoneGrants lists the grants of the zones of a workspace.
func ZoneGrants(ctx context.Context, q db.Reader, f ZoneGrantFilter) ([]ZoneGrant, error) {
	l := db.NewList(sqlZoneGrant).And("t.workspace_id = ?", f.WorkspaceID)
	if f.Zone != "" {
		zone, _, err := dns.FindZone(ctx, q, f.WorkspaceID, f.Zone)
		if err != nil && !errors.Is(err, fault.ErrNotFound) {
			return nil, err
		}
		l.And("t.zone_id = ?", zone.ID) // of no zone, no grant
	}
	return ZoneGrantSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// FindZoneToGrant finds a zone of a workspace.
func FindZoneToGrant(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (scope.Ref[ZoneGrant], error) {
	found, ref, err := dns.FindZone(ctx, q, workspace, text)
	return scope.Found[ZoneGrant](found.ID, ref.Workspace()), err
}

const (
	sqlInsertZoneGrant = `
INSERT INTO dns_zone_grants (id, workspace_id, zone_id, scope, scope_id, suffix, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING`

	sqlKeepZoneToGrant = `
SELECT z.name
  FROM dns_zones z
 WHERE z.workspace_id = $1 AND z.id = $2
   FOR KEY SHARE`

	sqlHoldZoneGrant = `
SELECT g.id
  FROM dns_zone_grants g
 WHERE g.id = $1
   FOR UPDATE`

	sqlZoneGrantByID = sqlZoneGrant + ` AND t.id = $1`

	sqlChangeZoneGrant = `
UPDATE dns_zone_grants
   SET suffix = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRevokeZoneGrant = `
UPDATE dns_zone_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRevokeZoneGrantsTo = `
UPDATE dns_zone_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE scope_id = $1 AND revoked_at IS NULL`

	sqlForgetNamingOf = `
DELETE FROM dns_naming_choices
 WHERE workspace_id = $1`

	sqlForgetNamingByProject = `
DELETE FROM dns_naming_choices
 WHERE workspace_id = $1 AND zone_grant_id IN (SELECT g.id FROM dns_zone_grants g WHERE g.scope = 'project' AND g.scope_id <> $2)`

	sqlLeavesNamesBehind = `
SELECT count(*) AS n
  FROM dns_record_sets s
  JOIN dns_zone_grants g ON g.id = s.zone_grant_id
 WHERE s.workspace_id = $1 AND g.scope = 'project' AND g.scope_id <> $2`
)

// keepZoneToGrant returns the name of a zone that is not deleted before the transaction ends.
func keepZoneToGrant(ctx context.Context, tx *db.Tx, workspace, zone uuid.UUID) (dns.Name, error) {
	type row struct {
		Name dns.Name `db:"name"`
	}
	r, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlKeepZoneToGrant, workspace, zone)
	return r.Name, err
}

// leavesNamesBehind is how many record sets of a workspace are in zones by grants to another project than the given one.
func leavesNamesBehind(ctx context.Context, q db.Reader, workspace, project uuid.UUID) (int64, error) {
	type row struct {
		N int64 `db:"n"`
	}
	r, err := db.First[row](ctx, q, fault.ErrNotFound, sqlLeavesNamesBehind, workspace, project)
	return r.N, err
}
