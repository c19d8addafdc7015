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
	ZoneID   uuid.UUID `db:"zone_id"`
	Name     Name      `db:"name"`
	Type     Type      `db:"type"`
	TTL      int64     `db:"ttl"` // seconds
	Contents []string  `db:"contents"`
	Outcome  Outcome   `db:"outcome"` // foreign, or what else keeps it there
	Message  string    `db:"message"` // whose it is, if that is known
	SeenAt   time.Time `db:"seen_at"` // when it was first found like this
}

const sqlForeign = `
SELECT f.zone_id, f.name, f.type, f.ttl, f.contents, f.outcome, f.message, f.seen_at
  FROM dns_foreign_records f
 WHERE true`

func foreignAt(ctx context.Context, q db.Reader, zone uuid.UUID, name Name, kind Type) (ForeignRecord, error) {
	return db.First[ForeignRecord](ctx, q, fault.ErrNotFound, sqlForeign+" AND f.zone_id = $1 AND f.name = $2 AND f.type = $3", zone, name, kind)
}

func foreignOfZone(ctx context.Context, q db.Reader, zone uuid.UUID) ([]ForeignRecord, error) {
	return db.Collect[ForeignRecord](ctx, q, sqlForeign+" AND f.zone_id = $1 ORDER BY f.name, f.type", zone)
}

const sqlForeignPage = sqlForeign + ` AND f.zone_id = $1 AND (f.name, f.type) > ($2, $3)
 ORDER BY f.name, f.type
 LIMIT $4`

// ForeignRecords lists the foreign records of a zone, from behind a name and type; "" and "" for the first page.
func ForeignRecords(ctx context.Context, q db.Reader, zone uuid.UUID, afterName Name, afterType Type, limit int) ([]ForeignRecord, error) {
	return db.Collect[ForeignRecord](ctx, q, sqlForeignPage, zone, afterName, afterType, limit)
}

const sqlDeleteForeignOfZone = `
DELETE FROM dns_foreign_records
 WHERE zone_id = $1`

const sqlDeleteForeign = `
DELETE FROM dns_foreign_records
 WHERE zone_id = $1
   AND (name, type) IN (SELECT g.name, g.type FROM unnest($2::TEXT[], $3::TEXT[]) AS g(name, type))`

const sqlInsertForeign = `
INSERT INTO dns_foreign_records (zone_id, name, type, ttl, contents, outcome, message)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (zone_id, name, type)
DO UPDATE SET ttl = excluded.ttl, contents = excluded.contents, outcome = excluded.outcome, message = excluded.message, seen_at = now()`
