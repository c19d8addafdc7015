package dns

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// told records a change of a record set: for its policies, as an event, and for a repetition of the request.
func (m ManagedSet) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	tx.Touch(ZoneNoun, m.ZoneID) // its synchronization is for the zone's policy
	return tx.Changed(ctx, audit.Entry{
		Workspace: m.WorkspaceID, Action: RecordSetNoun + "." + action, ObjectKind: RecordSetNoun, ObjectID: m.ID, ObjectName: m.String(),
		Before: before, After: after,
	})
}

// CreateRecordSet adds a record set to a zone, in the workspace that the zone was found in. Where another workspace has the zone,
// a grant of the zone has to let it in. The next synchronization brings it to the name server.
func CreateRecordSet(ctx context.Context, tx *intent.Tx, ref scope.Ref[Zone], owner SetOwner, draft Draft) (ManagedSet, error) {
	zone, err := keepZone(ctx, tx.Tx, ref.ID())
	if err != nil {
		return ManagedSet{}, err
	}
	set, problems := draft.Check(zone.Name)
	if problems != nil {
		return ManagedSet{}, problems.invalid()
	}
	if !Delegated(zone.Settings("").Patterns, set.Name) {
		return ManagedSet{}, Problems{{"name", "The key of the zone may not change this name. See the patterns of the zone."}}.invalid()
	}
	place, err := placeIn(ctx, tx.Tx, ref.Workspace(), zone, set)
	if err != nil {
		return ManagedSet{}, err
	}
	return insertRecordSet(ctx, tx, zone, place, owner, set, AdoptNone, "create")
}

func insertRecordSet(ctx context.Context, tx *intent.Tx, zone Zone, in setPlace, owner SetOwner, set RecordSet, adopt Adoption, action string) (ManagedSet, error) {
	if err := takeName(ctx, tx.Tx, zone.ID, set); err != nil {
		return ManagedSet{}, err
	}
	// A successor of a set that is still being deleted takes its place: the server then sees an update.
	if _, err := tx.Exec(ctx, sqlForgetDeletedSet, zone.ID, set.Name, set.Type); err != nil {
		return ManagedSet{}, fmt.Errorf("replace a deleted record set: %w", err)
	}
	id := uuid.New()
	taken := fault.Conflictf("dns_record_set_exists", "%s already has a record set of type %s.", set.Name.Display(), set.Type)
	err := tx.One(ctx, taken, sqlInsertRecordSet, id, zone.ID, set.Name, set.Type, int64(set.TTL), set.Values, owner, set.Alone(), adopt, SetLifecycle.Initial,
		in.workspace, in.grant)
	if err != nil {
		return ManagedSet{}, nameError(err, set)
	}
	made, err := RecordSetByID(ctx, tx.Reader, id)
	if err != nil {
		return ManagedSet{}, err
	}
	return made, made.told(ctx, tx, action, nil, made.facts())
}

// Content is what can change of a record set.
type Content struct {
	TTL    int // seconds
	Values []string
}

// ChangeRecordSet replaces TTL and values. Only its owner may do so. version is that of the record set that the change was
// made for; 0 for any.
func ChangeRecordSet(ctx context.Context, tx *intent.Tx, by SetOwner, ref scope.Ref[ManagedSet], version int64, change func(*Content)) (ManagedSet, error) {
	before, err := holdRecordSet(ctx, tx.Tx, ref.ID())
	if err != nil {
		return ManagedSet{}, err
	}
	if err := errors.Join(fault.CheckVersion("record set", before.Version, version), before.CanChange(by)); err != nil {
		return ManagedSet{}, err
	}
	content := Content{TTL: int(before.TTL), Values: before.Contents}
	change(&content)
	draft := Draft{Name: string(before.Name), Type: string(before.Type), TTL: content.TTL, Values: content.Values}
	set, problems := draft.Check(before.ZoneName)
	if problems != nil {
		return ManagedSet{}, problems.invalid()
	}
	return changeRecordSet(ctx, tx, before, set, before.Adopt, "change")
}

func changeRecordSet(ctx context.Context, tx *intent.Tx, before ManagedSet, set RecordSet, adopt Adoption, action string) (ManagedSet, error) {
	state, err := SetLifecycle.Next(before.State, SetChanged)
	if err != nil {
		return ManagedSet{}, err
	}
	err = tx.One(ctx, movedMeanwhile(RecordSetNoun), sqlChangeRecordSet, before.ID, before.State, state, int64(set.TTL), set.Values, adopt)
	if err != nil {
		return ManagedSet{}, fmt.Errorf("change a record set: %w", err)
	}
	after, err := RecordSetByID(ctx, tx.Reader, before.ID)
	if err != nil {
		return ManagedSet{}, err
	}
	return after, after.told(ctx, tx, action, before.facts(), after.facts())
}

// CanChange tells why somebody cannot change the record set; nil if they can.
func (m ManagedSet) CanChange(by SetOwner) error {
	if err := m.CanDelete(by); err != nil || !m.GrantEnded {
		return err
	}
	return ErrGrantEnded
}

// CanDelete tells why somebody cannot delete the record set; nil if they can.
func (m ManagedSet) CanDelete(by SetOwner) error {
	switch {
	case m.Owner != by:
		return fault.Conflictf("dns_record_set_owned", "The record set belongs to %s and changes with it.", m.Owner)
	case m.State == SetDeleting:
		return fault.Conflictf("dns_record_set_state", "The record set is being deleted.")
	}
	return nil
}

// DeleteRecordSet takes a record set out of the intent. Where the zone's mode deletes, its row stays until the server no
// longer holds it; else the row is gone at once, and the record stays on the server.
func DeleteRecordSet(ctx context.Context, tx *intent.Tx, by SetOwner, ref scope.Ref[ManagedSet], version int64) (ManagedSet, error) {
	before, err := holdRecordSet(ctx, tx.Tx, ref.ID())
	if err != nil {
		return ManagedSet{}, err
	}
	if err := errors.Join(fault.CheckVersion("record set", before.Version, version), before.CanDelete(by)); err != nil {
		return ManagedSet{}, err
	}
	zone, err := ZoneByID(ctx, tx.Reader, before.ZoneID)
	if err != nil {
		return ManagedSet{}, err
	}
	state, err := SetLifecycle.Next(before.State, SetDeleted)
	if err != nil {
		return ManagedSet{}, err
	}
	if zone.Mode == Sync {
		err = tx.One(ctx, movedMeanwhile(RecordSetNoun), sqlDeletingRecordSet, before.ID, before.State, state)
	} else {
		err = tx.One(ctx, movedMeanwhile(RecordSetNoun), sqlForgetRecordSet, before.ID, before.State)
	}
	if err != nil {
		return ManagedSet{}, fmt.Errorf("delete a record set: %w", err)
	}
	return before, before.told(ctx, tx, "delete", before.facts(), nil)
}
