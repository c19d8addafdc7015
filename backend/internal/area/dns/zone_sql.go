package dns

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlZone = `
SELECT z.id, z.workspace_id, z.name, z.provider, z.server, z.allow_private, z.key_name, z.key_algorithm, z.key_sealed, z.patterns,
       z.mode, z.names_allocations, z.state, z.state_message, z.reason, z.revision, z.synced_revision, z.soa_serial, z.negative_ttl, z.synced_at,
       z.plan, z.plan_owned, z.plan_touched, z.confirmed, z.version, z.created_at, z.updated_at
  FROM dns_zones z
 WHERE true`

// ZoneByID returns a zone.
func ZoneByID(ctx context.Context, q db.Reader, id uuid.UUID) (Zone, error) {
	return db.First[Zone](ctx, q, fault.ErrNotFound, sqlZone+" AND z.id = $1", id)
}

// FindZone finds a zone of a workspace by its id, or by its name in any form.
func FindZone(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Zone, scope.Ref[Zone], error) {
	if _, err := uuid.Parse(text); err != nil {
		name, err := parseZone(text)
		if err != nil {
			return Zone{}, scope.Ref[Zone]{}, fault.ErrNotFound
		}
		text = string(name)
	}
	return scope.Find(ctx, q, sqlZone+" AND z.workspace_id = $1 AND z.id = $2", sqlZone+" AND z.workspace_id = $1 AND z.name = $2", workspace, text,
		func(z Zone) uuid.UUID { return z.ID })
}

// holdZone returns a zone that nobody else changes until the transaction ends. Record sets may come to it.
func holdZone(ctx context.Context, tx *db.Tx, id uuid.UUID) (Zone, error) {
	return db.First[Zone](ctx, tx.Reader, fault.ErrNotFound, sqlZone+" AND z.id = $1 FOR NO KEY UPDATE", id)
}

// keepZone returns a zone that is not deleted before the transaction ends. It may change.
func keepZone(ctx context.Context, tx *db.Tx, id uuid.UUID) (Zone, error) {
	return db.First[Zone](ctx, tx.Reader, fault.ErrNotFound, sqlZone+" AND z.id = $1 FOR KEY SHARE", id)
}

// ZoneSorting is the orders that zones can be listed in.
var ZoneSorting = db.Sorting[Zone]{
	{Name: "name", Columns: []db.Column{db.ByText("z.name"), db.ByID("z.id")}, At: func(z Zone) db.Position {
		return db.Position{Text: string(z.Name), ID: z.ID}
	}},
	{Name: "state", Columns: []db.Column{db.ByText("z.state"), db.ByID("z.id")}, At: func(z Zone) db.Position {
		return db.Position{Text: string(z.State), ID: z.ID}
	}},
}

// ZoneFilter narrows a list of zones.
type ZoneFilter struct {
	WorkspaceID uuid.UUID
	State, Mode string
	Sort        string // one of ZoneSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Zones lists zones.
func Zones(ctx context.Context, q db.Reader, f ZoneFilter) ([]Zone, error) {
	l := db.NewList(sqlZone).And("z.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "z.state = ?").AndIf(f.Mode, "z.mode = ?")
	return ZoneSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// ZoneIDs lists all zones.
const ZoneIDs db.Statement = "SELECT id FROM dns_zones" + db.IDsBehind

const sqlZoneChanged = `
SELECT z.revision <> z.synced_revision
       OR EXISTS (SELECT 1 FROM dns_record_sets s WHERE s.zone_id = z.id AND s.state IN ('pending', 'deleting') AND s.outcome = '') AS changed
  FROM dns_zones z
 WHERE z.id = $1`

// ZoneChanged tells whether the intent of a zone has something that no synchronization has looked at.
func ZoneChanged(ctx context.Context, q db.Reader, id uuid.UUID) (bool, error) {
	type row struct {
		Changed bool `db:"changed"`
	}
	found, err := db.First[row](ctx, q, fault.ErrNotFound, sqlZoneChanged, id)
	return found.Changed, err
}

const sqlInstallation = `
SELECT convert_from(s.value, 'UTF8') AS id
  FROM settings s
 WHERE s.name = 'installation_id'`

var errNoInstallation = errors.New("the database has no installation id; run init")

// Installation returns the id of this installation, which ownership records name.
func Installation(ctx context.Context, q db.Reader) (string, error) {
	type row struct {
		ID string `db:"id"`
	}
	found, err := db.First[row](ctx, q, errNoInstallation, sqlInstallation)
	return found.ID, err
}

const sqlInsertZone = `
INSERT INTO dns_zones (id, workspace_id, name, provider, server, allow_private, key_name, key_algorithm, key_sealed, patterns, mode, state, names_allocations)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (workspace_id, name) DO NOTHING`

const sqlChangeZone = `
UPDATE dns_zones
   SET server = $3, allow_private = $4, key_name = $5, key_algorithm = $6, key_sealed = $7, patterns = $8, mode = $9, state = $10, names_allocations = $11,
       state_message = '', reason = '', plan = NULL, confirmed = NULL, revision = revision + 1, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlMoveZone = `
UPDATE dns_zones
   SET state = $3, state_message = $4, plan = NULL, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlNoteReason = `
UPDATE dns_zones
   SET reason = $2
 WHERE id = $1 AND state = 'syncing' AND reason <> $2`

const sqlConfirmZone = `
UPDATE dns_zones
   SET state = $3, confirmed = plan, plan = NULL, state_message = '', reason = '', revision = revision + 1, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlEndSync = `
UPDATE dns_zones
   SET state = $3, state_message = $4, reason = $5, synced_revision = $6, soa_serial = $7, negative_ttl = $8, plan = $9,
       plan_owned = $10, plan_touched = $11, confirmed = NULL, synced_at = now(), version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlDeleteNames = `
DELETE FROM dns_names
 WHERE zone_id = $1`

const sqlDeleteZone = `
DELETE FROM dns_zones
 WHERE id = $1`
