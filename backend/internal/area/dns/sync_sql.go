package dns

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// SyncWork is what a synchronization works with: a zone and its record sets at one time. What changes meanwhile stays to
// be done for the next one.
type SyncWork struct {
	Zone         Zone
	Sets         []ManagedSet
	Installation string
}

// LoadSync reads the work of a synchronization.
func LoadSync(ctx context.Context, q db.Reader, zone uuid.UUID) (SyncWork, error) {
	var work SyncWork
	var err error
	// The zone first: a record set that comes in between is seen, or is pending for the next synchronization.
	if work.Zone, err = ZoneByID(ctx, q, zone); err != nil {
		return SyncWork{}, fmt.Errorf("load zone %s: %w", zone, err)
	}
	if work.Sets, err = recordSetsOfZone(ctx, q, zone); err != nil {
		return SyncWork{}, fmt.Errorf("load the record sets of zone %s: %w", zone, err)
	}
	if work.Installation, err = Installation(ctx, q); err != nil {
		return SyncWork{}, fmt.Errorf("load the installation's id: %w", err)
	}
	return work, nil
}

// Settings of the zone.
func (w SyncWork) Settings() Settings { return w.Zone.Settings(w.Installation) }

// Desired is the intent.
func (w SyncWork) Desired() []Desired {
	var desired []Desired
	for _, set := range w.Sets {
		if set.State != SetDeleting {
			desired = append(desired, set.Desired())
		}
	}
	return desired
}

// Known is the serial at which the zone need not be transferred again, or nil if the intent has changed.
func (w SyncWork) Known() *uint32 {
	if w.Zone.Serial == nil || w.Zone.Revision != w.Zone.SyncedRevision {
		return nil
	}
	for _, set := range w.Sets {
		if set.State == SetPending || set.State == SetDeleting {
			return nil
		}
	}
	serial := uint32(*w.Zone.Serial)
	return &serial
}

// sqlRecordResults writes what a synchronization found of record sets that have not changed since.
const sqlRecordResults = `
UPDATE dns_record_sets
   SET state = r.becomes, state_message = r.message, outcome = r.said,
       adopt = CASE WHEN r.reached THEN '' ELSE adopt END,
       settles_at = CASE WHEN r.reached AND live_revision <> revision THEN now() + r.wait * INTERVAL '1 second' ELSE settles_at END,
       live_revision = CASE WHEN r.reached THEN revision ELSE live_revision END,
       live_ttl = CASE WHEN r.reached THEN ttl ELSE live_ttl END,
       version = version + 1, updated_at = now()
  FROM unnest($1::UUID[], $2::INT8[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::TEXT[], $7::BOOL[], $8::INT8[])
       AS r(set_id, at_revision, was, becomes, message, said, reached, wait)
 WHERE dns_record_sets.id = r.set_id AND dns_record_sets.revision = r.at_revision AND dns_record_sets.state = r.was`

// sqlForgetDeleted removes record sets that the server no longer holds.
const sqlForgetDeleted = `
DELETE FROM dns_record_sets
 WHERE state = 'deleting'
   AND id IN (SELECT g.id FROM unnest($1::UUID[]) AS g(id))`

// recordSetsOfZone returns all record sets of a zone.
func recordSetsOfZone(ctx context.Context, q db.Reader, zone uuid.UUID) ([]ManagedSet, error) {
	return db.Collect[ManagedSet](ctx, q, sqlRecordSet+" AND s.zone_id = $1 ORDER BY s.name, s.id", zone)
}
