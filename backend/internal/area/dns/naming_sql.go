package dns

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlNamed = `
SELECT a.id, a.workspace_id, u.name AS unit, a.address, a.state
  FROM allocations a
  JOIN compute_units u ON u.id = a.unit_id
 WHERE a.id = $1`

// NamedByID returns an allocation as far as its name goes.
func NamedByID(ctx context.Context, q db.Reader, id uuid.UUID) (Named, error) {
	return db.First[Named](ctx, q, fault.ErrNotFound, sqlNamed, id)
}

// keepNamed returns an allocation that does not change before the transaction ends.
func keepNamed(ctx context.Context, tx *db.Tx, id uuid.UUID) (Named, error) {
	return db.First[Named](ctx, tx.Reader, fault.ErrNotFound, sqlNamed+" FOR SHARE OF a", id)
}

const sqlToName = `
SELECT a.id
  FROM allocations a
 WHERE a.id > $1 AND a.ended_at IS NULL
   AND (EXISTS (SELECT 1 FROM dns_zones z WHERE z.workspace_id = a.workspace_id AND z.names_allocations)
        OR EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = a.workspace_id))
 ORDER BY a.id
 LIMIT $2`

// AllocationsToName lists the ids of allocations that a zone names, behind one of them, ascending.
func AllocationsToName(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list allocations to name", sqlToName, after, limit)
}

const sqlNamedOfWorkspace = `
SELECT a.id
  FROM allocations a
 WHERE a.workspace_id = $1 AND a.ended_at IS NULL
 ORDER BY a.id`

// touchNamed makes the names of all live allocations of a workspace due.
func touchNamed(ctx context.Context, tx *db.Tx, workspace uuid.UUID) error {
	live, err := db.IDs(ctx, tx.Reader, "list live allocations", sqlNamedOfWorkspace, workspace)
	tx.Touch(AllocationNoun, live...)
	return err
}

const sqlNamingZones = `
SELECT z.id, z.workspace_id, z.name, z.name AS suffix, z.names_allocations, false AS ended
  FROM dns_zones z
 WHERE z.workspace_id = $1 AND (z.names_allocations OR z.name LIKE '%.arpa.')
 UNION ALL
SELECT sz.id, $1::UUID AS workspace_id, sz.name, g.suffix, c.zone_grant_id IS NOT NULL AS names_allocations, g.revoked_at IS NOT NULL AS ended
  FROM dns_zone_grants g
  JOIN dns_zones sz ON sz.id = g.zone_id
  LEFT JOIN dns_naming_choices c ON c.zone_grant_id = g.id AND c.workspace_id = $1
 WHERE ` + usable + ` AND (c.zone_grant_id IS NOT NULL OR sz.name LIKE '%.arpa.')
 ORDER BY name, id`

// NamingZones are the zones that names of a workspace's allocations may go to: its own, and those that are granted to it.
func NamingZones(ctx context.Context, q db.Reader, workspace uuid.UUID) ([]NamingZone, error) {
	return db.Collect[NamingZone](ctx, q, sqlNamingZones, workspace)
}

// owned is the reference to a record set of an allocation, which its naming has read.
func (m ManagedSet) owned() scope.Ref[ManagedSet] {
	return scope.Found[ManagedSet](m.ID, m.WorkspaceID)
}

// naming is the reference to a zone that the allocation's workspace may use.
func (z NamingZone) naming() scope.Ref[Zone] { return scope.Found[Zone](z.ID, z.WorkspaceID) }
