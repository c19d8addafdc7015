package dns

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// CreateRecordSet adds a record set to a zone. The next synchronization brings it to the name server.
func CreateRecordSet(ctx context.Context, tx *db.Tx, zoneID uuid.UUID, owner SetOwner, draft Draft) (ManagedSet, Changed, error) {
	zone, err := keepZone(ctx, tx, zoneID)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	set, problems := draft.Check(zone.Name)
	if problems != nil {
		return ManagedSet{}, Changed{}, problems.invalid()
	}
	if !Delegated(zone.Settings("").Patterns, set.Name) {
		return ManagedSet{}, Changed{}, Problems{{"name", "The key of the zone may not change this name. See the patterns of the zone."}}.invalid()
	}
	return insertRecordSet(ctx, tx, zone, owner, set, AdoptNone)
}

func insertRecordSet(ctx context.Context, tx *db.Tx, zone Zone, owner SetOwner, set RecordSet, adopt Adoption) (ManagedSet, Changed, error) {
	alone := set.Type == CNAME
	// The foreign key to the row of the name keeps a CNAME record and another from being written at the same time.
	for _, sql := range []db.Statement{sqlTakeName, sqlTurnName} {
		if _, err := tx.Exec(ctx, sql, zone.ID, set.Name, alone); err != nil {
			return ManagedSet{}, Changed{}, nameError(err, set)
		}
	}
	// A successor of a set that is still being deleted takes its place: the server then sees an update.
	if _, err := tx.Exec(ctx, sqlForgetDeletedSet, zone.ID, set.Name, set.Type); err != nil {
		return ManagedSet{}, Changed{}, fmt.Errorf("replace a deleted record set: %w", err)
	}
	id := uuid.New()
	taken := fault.Conflictf("dns_record_set_exists", "%s already has a record set of type %s.", set.Name.Display(), set.Type)
	err := tx.One(ctx, taken, sqlInsertRecordSet, id, zone.ID, set.Name, set.Type, int64(set.TTL), set.Values, owner, alone, adopt, SetLifecycle.Initial)
	if err != nil {
		return ManagedSet{}, Changed{}, nameError(err, set)
	}
	made, err := RecordSetByID(ctx, tx.Reader, id)
	return made, Changed{After: made.facts()}, err
}

// nameError tells a name that another kind of record has from other errors.
func nameError(err error, set RecordSet) error {
	switch {
	case db.SQLState(err) != foreignKeyViolation:
		return fmt.Errorf("write record set %s %s: %w", set.Name, set.Type, err)
	case set.Type == CNAME:
		return fault.Conflictf("dns_name_taken", "%s already has other records. A CNAME record cannot stand beside them.", set.Name.Display())
	}
	return fault.Conflictf("dns_name_taken", "%s already has a CNAME record. No other record can stand beside it.", set.Name.Display())
}

// Content is what can change of a record set.
type Content struct {
	TTL    int // seconds
	Values []string
}

// ChangeRecordSet replaces TTL and values. Only its owner may do so. version is that of the record set that the change was
// made for; 0 for any.
func ChangeRecordSet(ctx context.Context, tx *db.Tx, by SetOwner, id uuid.UUID, version int64, content Content) (ManagedSet, Changed, error) {
	before, err := holdOwn(ctx, tx, by, id, version)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	draft := Draft{Name: string(before.Name), Type: string(before.Type), TTL: content.TTL, Values: content.Values}
	set, problems := draft.Check(before.ZoneName)
	if problems != nil {
		return ManagedSet{}, Changed{}, problems.invalid()
	}
	return changeRecordSet(ctx, tx, before, set, before.Adopt)
}

func changeRecordSet(ctx context.Context, tx *db.Tx, before ManagedSet, set RecordSet, adopt Adoption) (ManagedSet, Changed, error) {
	state, err := SetLifecycle.Next(before.State, SetChanged)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	err = tx.One(ctx, movedMeanwhile("dns_record_set"), sqlChangeRecordSet, before.ID, before.State, state, int64(set.TTL), set.Values, adopt)
	if err != nil {
		return ManagedSet{}, Changed{}, fmt.Errorf("change a record set: %w", err)
	}
	after, err := RecordSetByID(ctx, tx.Reader, before.ID)
	return after, Changed{before.facts(), after.facts()}, err
}

// holdOwn locks a record set, and refuses one that somebody else owns.
func holdOwn(ctx context.Context, tx *db.Tx, by SetOwner, id uuid.UUID, version int64) (ManagedSet, error) {
	set, err := holdRecordSet(ctx, tx, id)
	if err != nil {
		return ManagedSet{}, err
	}
	if err := checkVersion("record set", set.Version, version); err != nil {
		return ManagedSet{}, err
	}
	if set.Owner != by {
		return ManagedSet{}, fault.Conflictf("dns_record_set_owned", "The record set belongs to %s and changes with it.", set.Owner)
	}
	return set, nil
}

// DeleteRecordSet takes a record set out of the intent. Where the zone's mode deletes, its row stays until the server no
// longer holds it; else the row is gone at once, and the record stays on the server.
func DeleteRecordSet(ctx context.Context, tx *db.Tx, by SetOwner, id uuid.UUID, version int64) (ManagedSet, Changed, error) {
	before, err := holdOwn(ctx, tx, by, id, version)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	zone, err := ZoneByID(ctx, tx.Reader, before.ZoneID)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	changed := Changed{Before: before.facts()}
	if zone.Mode != Sync {
		return before, changed, wrap("forget a record set", tx.One(ctx, movedMeanwhile("dns_record_set"), sqlForgetRecordSet, id, before.State))
	}
	state, err := SetLifecycle.Next(before.State, SetDeleted)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	err = tx.One(ctx, movedMeanwhile("dns_record_set"), sqlDeletingRecordSet, id, before.State, state)
	if err != nil {
		return ManagedSet{}, Changed{}, fmt.Errorf("delete a record set: %w", err)
	}
	after, err := RecordSetByID(ctx, tx.Reader, id)
	changed.After = map[string]any{"state": state}
	return after, changed, err
}

func wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, err)
}

// AdoptRecord lets the next synchronization take over what the server holds at a name and type. If the intent has no record
// set there, it gets one with the values of the server.
func AdoptRecord(ctx context.Context, tx *db.Tx, zoneID uuid.UUID, name Name, kind Type, how Adoption) (ManagedSet, Changed, error) {
	zone, err := keepZone(ctx, tx, zoneID)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	if how != AdoptUnowned && how != AdoptForeign {
		return ManagedSet{}, Changed{}, Problems{{"adopt", fmt.Sprintf("Use one of: %s, %s.", AdoptUnowned, AdoptForeign)}}.invalid()
	}
	set, err := recordSetAt(ctx, tx.Reader, zone.ID, name, kind)
	if err == nil {
		if set, err = holdRecordSet(ctx, tx, set.ID); err != nil {
			return ManagedSet{}, Changed{}, err
		}
		return changeRecordSet(ctx, tx, set, set.RecordSet(), how)
	}
	if !errors.Is(err, fault.ErrNotFound) {
		return ManagedSet{}, Changed{}, err
	}
	found, err := foreignAt(ctx, tx.Reader, zone.ID, name, kind)
	if err != nil {
		return ManagedSet{}, Changed{}, err
	}
	draft := Draft{Name: string(found.Name), Type: string(found.Type), TTL: int(max(MinTTL, min(found.TTL, MaxTTL))), Values: found.Contents}
	content, problems := draft.Check(zone.Name)
	if problems != nil {
		return ManagedSet{}, Changed{}, fault.Conflictf("dns_not_adoptable", "This record cannot be managed here: %s", problems.Error())
	}
	return insertRecordSet(ctx, tx, zone, OwnedByUser, content, how)
}
