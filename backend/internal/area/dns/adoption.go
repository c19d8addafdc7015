package dns

import (
	"context"
	"errors"
	"fmt"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// CanAdopt tells why there is nothing to adopt; nil if the server holds what the record set wants to be.
func (m ManagedSet) CanAdopt() error {
	if m.ZoneGrant != nil {
		return fault.Conflictf("dns_zone_shared", "The zone belongs to another workspace. Whoever has the zone decides what happens to the record on its name server.")
	}
	switch m.Outcome {
	case AdoptionNeeded, OwnerLost, OwnerForeign, OwnerUnread:
		return nil
	}
	return fault.Conflictf("dns_nothing_to_adopt", "The last synchronization met nobody else's record here.")
}

// AdoptRecord lets the next synchronization take over what the server holds at a name and type. If the intent has no record
// set there, it gets one with the values of the server.
func AdoptRecord(ctx context.Context, tx *intent.Tx, ref scope.Ref[Zone], name Name, kind Type, how Adoption) (ManagedSet, error) {
	zone, err := keepZone(ctx, tx.Tx, ref.ID())
	if err != nil {
		return ManagedSet{}, err
	}
	if how != AdoptUnowned && how != AdoptForeign {
		return ManagedSet{}, Problems{{"adopt", fmt.Sprintf("Use one of: %s, %s.", AdoptUnowned, AdoptForeign)}}.invalid()
	}
	set, err := recordSetAt(ctx, tx.Reader, zone.ID, name, kind)
	if err == nil && set.WorkspaceID != zone.WorkspaceID {
		return ManagedSet{}, fault.Conflictf("dns_zone_shared", "A workspace that the zone is granted to has this record set. It is adopted when that one is deleted.")
	}
	if err == nil {
		if set, err = holdRecordSet(ctx, tx.Tx, set.ID); err != nil {
			return ManagedSet{}, err
		}
		return changeRecordSet(ctx, tx, set, set.RecordSet(), how, "adopt")
	}
	if !errors.Is(err, fault.ErrNotFound) {
		return ManagedSet{}, err
	}
	found, err := foreignAt(ctx, tx.Reader, zone.ID, name, kind)
	if err != nil {
		return ManagedSet{}, err
	}
	draft := Draft{Name: string(found.Name), Type: string(found.Type), TTL: int(max(MinTTL, min(found.TTL, MaxTTL))), Values: found.Contents}
	content, problems := draft.Check(zone.Name)
	if problems != nil {
		return ManagedSet{}, fault.Conflictf("dns_not_adoptable", "This record cannot be managed here: %s", problems.Error())
	}
	return insertRecordSet(ctx, tx, zone, setPlace{workspace: zone.WorkspaceID}, OwnedByUser, content, how, "adopt")
}
