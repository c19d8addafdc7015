package dns

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlRecordSet = `
SELECT s.id, s.workspace_id, s.zone_id, z.name AS zone_name, s.name, s.type, s.ttl, s.contents, s.owner, s.adopt, s.state,
       s.state_message, s.outcome, s.revision, s.live_revision, s.live_ttl, s.settles_at, s.checked, s.checked_at,
       s.zone_grant_id, EXISTS (SELECT 1 FROM dns_zone_grants g WHERE g.id = s.zone_grant_id AND g.revoked_at IS NOT NULL) AS grant_ended,
       s.version, s.created_at, s.updated_at
  FROM dns_record_sets s
  JOIN dns_zones z ON z.id = s.zone_id
 WHERE true`

// RecordSetByID returns a record set.
func RecordSetByID(ctx context.Context, q db.Reader, id uuid.UUID) (ManagedSet, error) {
	return db.First[ManagedSet](ctx, q, fault.ErrNotFound, sqlRecordSet+" AND s.id = $1", id)
}

// FindRecordSet finds a record set of a workspace by its id.
func FindRecordSet(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (ManagedSet, scope.Ref[ManagedSet], error) {
	return scope.FindByID(ctx, q, sqlRecordSet+" AND s.workspace_id = $1 AND s.id = $2", workspace, text,
		func(m ManagedSet) uuid.UUID { return m.ID })
}

// holdRecordSet returns a record set and locks its row until the transaction ends.
func holdRecordSet(ctx context.Context, tx *db.Tx, id uuid.UUID) (ManagedSet, error) {
	return db.First[ManagedSet](ctx, tx.Reader, fault.ErrNotFound, sqlRecordSet+" AND s.id = $1 FOR UPDATE OF s", id)
}

// RecordSetSorting is the orders that record sets can be listed in.
var RecordSetSorting = db.Sorting[ManagedSet]{
	{Name: "name", Columns: []db.Column{db.ByText("s.name"), db.ByID("s.id")}, At: func(m ManagedSet) db.Position {
		return db.Position{Text: string(m.Name), ID: m.ID}
	}},
	{Name: "state", Columns: []db.Column{db.ByText("s.state"), db.ByID("s.id")}, At: func(m ManagedSet) db.Position {
		return db.Position{Text: string(m.State), ID: m.ID}
	}},
}

// RecordSetFilter narrows a list of record sets.
type RecordSetFilter struct {
	WorkspaceID uuid.UUID
	ZoneID      uuid.UUID // the zero value for all zones
	Name        Name      // canonical
	Type, State string
	Owner       string
	Sort        string // one of RecordSetSorting; "" for the first
	After       *db.Position
	Limit       int
}

// RecordSets lists record sets.
func RecordSets(ctx context.Context, q db.Reader, f RecordSetFilter) ([]ManagedSet, error) {
	l := db.NewList(sqlRecordSet).And("s.workspace_id = ?", f.WorkspaceID)
	if f.ZoneID != uuid.Nil {
		l.And("s.zone_id = ?", f.ZoneID)
	}
	l.AndIf(string(f.Name), "s.name = ?").AndIf(f.Type, "s.type = ?").AndIf(f.State, "s.state = ?").AndIf(f.Owner, "s.owner = ?")
	return RecordSetSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlForgetDeletedSet = `
DELETE FROM dns_record_sets
 WHERE zone_id = $1 AND name = $2 AND type = $3 AND state = 'deleting'`

const sqlInsertRecordSet = `
INSERT INTO dns_record_sets (id, workspace_id, zone_id, name, type, ttl, contents, owner, alone, adopt, state, zone_grant_id)
SELECT $1::UUID, $11::UUID, z.id, $3::TEXT, $4::TEXT, $5::INT8, $6::TEXT[], $7::TEXT, $8::BOOL, $9::TEXT, $10::TEXT, $12::UUID
  FROM dns_zones z
 WHERE z.id = $2
ON CONFLICT (zone_id, name, type) WHERE state <> 'deleting' DO NOTHING`

const sqlChangeRecordSet = `
UPDATE dns_record_sets
   SET state = $3, ttl = $4, contents = $5, adopt = $6, state_message = '', outcome = '', checked = NULL, checked_at = NULL, revision = revision + 1,
       version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlDeletingRecordSet = `
UPDATE dns_record_sets
   SET state = $3, alone = NULL, state_message = '', outcome = '', revision = revision + 1, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlForgetRecordSet = `
DELETE FROM dns_record_sets
 WHERE id = $1 AND state = $2`

// RecordSetIDs lists all record sets.
const RecordSetIDs db.Statement = "SELECT id FROM dns_record_sets" + db.IDsBehind
