package dns

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// ForeignRecord is one row of dns_foreign_records: a record set that the server holds and that is not in the intent.
type ForeignRecord struct {
	ID       uuid.UUID `db:"id"`
	ZoneID   uuid.UUID `db:"zone_id"`
	ZoneName Name      `db:"zone_name"`
	Name     Name      `db:"name"`
	Type     Type      `db:"type"`
	TTL      int64     `db:"ttl"` // seconds
	Contents []string  `db:"contents"`
	Outcome  Outcome   `db:"outcome"` // foreign, or what else keeps it there
	Message  string    `db:"message"` // whose it is, if that is known
	SeenAt   time.Time `db:"seen_at"` // when it was first found like this
}

const sqlForeign = `
SELECT f.id, f.zone_id, z.name AS zone_name, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
  JOIN dns_zones z ON z.id = f.zone_id
 WHERE true`

func foreignAt(ctx context.Context, q db.Reader, zone uuid.UUID, name Name, kind Type) (ForeignRecord, error) {
	return db.First[ForeignRecord](ctx, q, fault.ErrNotFound, sqlForeign+" AND f.zone_id = $1 AND f.name = $2 AND f.type = $3", zone, name, kind)
}

func foreignOfZone(ctx context.Context, q db.Reader, zone uuid.UUID) ([]ForeignRecord, error) {
	return db.Collect[ForeignRecord](ctx, q, sqlForeign+" AND f.zone_id = $1 ORDER BY f.name, f.type", zone)
}

// ForeignSorting is the order that foreign records are listed in.
var ForeignSorting = db.Sorting[ForeignRecord]{
	{Name: "name", Columns: []db.Column{db.ByText("f.name"), db.ByID("f.id")}, At: func(f ForeignRecord) db.Position {
		return db.Position{Text: string(f.Name), ID: f.ID}
	}},
}

// ForeignFilter narrows a list of foreign records.
type ForeignFilter struct {
	WorkspaceID uuid.UUID
	ZoneID      uuid.UUID // the zero value for all zones
	Sort        string    // one of ForeignSorting; "" for the first
	After       *db.Position
	Limit       int
}

// ForeignRecords lists foreign records.
func ForeignRecords(ctx context.Context, q db.Reader, f ForeignFilter) ([]ForeignRecord, error) {
	l := db.NewList(sqlForeign).And("f.workspace_id = ?", f.WorkspaceID)
	if f.ZoneID != uuid.Nil {
		l.And("f.zone_id = ?", f.ZoneID)
	}
	return ForeignSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlDeleteForeignOfZone = `
DELETE FROM dns_foreign_records
 WHERE zone_id = $1`

const sqlDeleteForeign = `
DELETE FROM dns_foreign_records
 WHERE zone_id = $1
   AND (name, type) IN (SELECT g.name, g.type FROM unnest($2::TEXT[], $3::TEXT[]) AS g(name, type))`

const sqlInsertForeign = `
INSERT INTO dns_foreign_records (zone_id, name, type, ttl, contents, outcome, message, workspace_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (zone_id, name, type)
DO UPDATE SET ttl = excluded.ttl, contents = excluded.contents, outcome = excluded.outcome, message = excluded.message, seen_at = now()`

// recordSetAt returns the record set of a name and type that is not deleted.
func recordSetAt(ctx context.Context, q db.Reader, zone uuid.UUID, name Name, kind Type) (ManagedSet, error) {
	return db.First[ManagedSet](ctx, q, fault.ErrNotFound, sqlRecordSet+" AND s.zone_id = $1 AND s.name = $2 AND s.type = $3 AND s.state <> 'deleting'", zone, name, kind)
}
