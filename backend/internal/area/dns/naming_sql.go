package dns

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// usesNames tells of an object o whether a zone names those of its workspace.
const usesNames = `
       (EXISTS (SELECT 1 FROM dns_zones z WHERE z.workspace_id = o.workspace_id AND z.names_allocations)
        OR EXISTS (SELECT 1 FROM dns_naming_choices c WHERE c.workspace_id = o.workspace_id))`

const (
	sqlNamedAllocation = `
SELECT o.id, o.workspace_id, u.name AS unit, o.address, o.state
  FROM allocations o
  JOIN compute_units u ON u.id = o.unit_id
 WHERE o.id = $1`

	sqlAllocationsToName = `
SELECT o.id
  FROM allocations o
 WHERE o.id > $1 AND o.ended_at IS NULL AND` + usesNames + `
 ORDER BY o.id
 LIMIT $2`

	sqlAllocationsOfWorkspace = `
SELECT o.id
  FROM allocations o
 WHERE o.workspace_id = $1 AND o.ended_at IS NULL
 ORDER BY o.id`

	sqlAllocationsByGrant = `
SELECT o.id
  FROM allocations o
  JOIN dns_naming_choices c ON c.workspace_id = o.workspace_id
 WHERE c.zone_grant_id = $1 AND o.ended_at IS NULL
 ORDER BY o.id`
)

// An allocation has the name of its unit, from the request until it is given back.
var allocationNames = NamedNoun{
	Noun: AllocationNoun, ofWorkspace: sqlAllocationsOfWorkspace, byGrant: sqlAllocationsByGrant,
	Load: func(ctx context.Context, q db.Reader, id uuid.UUID) (Named, error) {
		return namedAllocation(ctx, q, sqlNamedAllocation, id)
	},
	keep: func(ctx context.Context, tx *db.Tx, id uuid.UUID) (Named, error) {
		return namedAllocation(ctx, tx.Reader, sqlNamedAllocation+" FOR SHARE OF o", id)
	},
	ToName: func(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
		return db.IDs(ctx, q, "list allocations to name", sqlAllocationsToName, after, limit)
	},
}

func namedAllocation(ctx context.Context, q db.Reader, sql db.Statement, id uuid.UUID) (Named, error) {
	type allocation struct {
		ID          uuid.UUID `db:"id"`
		WorkspaceID uuid.UUID `db:"workspace_id"`
		Unit        string    `db:"unit"`
		Address     string    `db:"address"`
		State       string    `db:"state"`
	}
	a, err := db.First[allocation](ctx, q, fault.ErrNotFound, sql, id)
	n := Named{Noun: AllocationNoun, ID: a.ID, WorkspaceID: a.WorkspaceID, Label: a.Unit, Addresses: []string{a.Address}, Reverse: true}
	switch a.State {
	case "allocating", "allocated", "allocation_failed":
		n.Has = true
	case "deallocated", "lost":
		n.Ended = true
	}
	return n, err
}

// touchNamed makes the names of all objects of a workspace due.
func touchNamed(ctx context.Context, tx *db.Tx, workspace uuid.UUID) error {
	for _, k := range NamedNouns() {
		due, err := db.IDs(ctx, tx.Reader, "list objects that have names", k.ofWorkspace, workspace)
		if err != nil {
			return err
		}
		tx.Touch(k.Noun, due...)
	}
	return nil
}

// TouchNamedBy makes the names of all objects due that have theirs by a grant of a zone.
func TouchNamedBy(ctx context.Context, tx *db.Tx, grant uuid.UUID) error {
	for _, k := range NamedNouns() {
		due, err := db.IDs(ctx, tx.Reader, "list objects that a shared zone names", k.byGrant, grant)
		if err != nil {
			return err
		}
		tx.Touch(k.Noun, due...)
	}
	return nil
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

// NamingZones are the zones that names of a workspace's objects may go to: its own, and those that are granted to it.
func NamingZones(ctx context.Context, q db.Reader, workspace uuid.UUID) ([]NamingZone, error) {
	return db.Collect[NamingZone](ctx, q, sqlNamingZones, workspace)
}

// owned is the reference to a record set of a named object, which its naming has read.
func (m ManagedSet) owned() scope.Ref[ManagedSet] {
	return scope.Found[ManagedSet](m.ID, m.WorkspaceID)
}

// naming is the reference to a zone that the object's workspace may use.
func (z NamingZone) naming() scope.Ref[Zone] { return scope.Found[Zone](z.ID, z.WorkspaceID) }

// RecordSetsOf returns the record sets of an owner, in the order of their names.
func RecordSetsOf(ctx context.Context, q db.Reader, owner SetOwner) ([]ManagedSet, error) {
	return db.Collect[ManagedSet](ctx, q, sqlRecordSet+" AND s.owner = $1 AND s.owner <> 'user' ORDER BY s.name, s.type, s.id", owner)
}
