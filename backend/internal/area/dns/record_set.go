package dns

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/lifecycle"
)

// SetState says how a record set stands to the name server of its zone.
type SetState string

// States of a record set.
const (
	SetPending  SetState = "pending"
	SetLive     SetState = "live"
	SetFailed   SetState = "failed"
	SetDeleting SetState = "deleting"
)

// What happens to a record set.
const (
	SetChanged lifecycle.Event = "changed"    // its intent, or an adoption
	SetApplied lifecycle.Event = "applied"    // the server holds it
	SetOpen    lifecycle.Event = "left_open"  // the server does not hold it yet: the mode or the brake keeps it back, or a retry may help
	SetRefused lifecycle.Event = "refused"    // it cannot be brought about before a person acts
	SetDeleted lifecycle.Event = "deleted"    // nobody wants it any more
	SetKept    lifecycle.Event = "not_undone" // it could not be taken off the server
)

// SetLifecycle is the life of a record set. Its row is gone when the server no longer holds it.
var SetLifecycle = lifecycle.Lifecycle[SetState]{
	Noun: "dns_record_set", Initial: SetPending,
	States: []lifecycle.StateInfo[SetState]{
		{State: SetPending, Means: "the name server does not hold it yet"},
		{State: SetLive, Means: "the name server holds it"},
		{State: SetFailed, Means: "it cannot be brought to the name server before somebody acts", Failed: true},
		{State: SetDeleting, Means: "the next synchronization takes it off the name server"},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[SetState]{
		{From: []SetState{SetPending, SetLive, SetFailed}, On: SetChanged, To: SetPending},
		{From: []SetState{SetPending, SetLive, SetFailed}, On: SetApplied, To: SetLive},
		{From: []SetState{SetPending, SetLive, SetFailed}, On: SetOpen, To: SetPending},
		{From: []SetState{SetPending, SetLive, SetFailed}, On: SetRefused, To: SetFailed},
		{From: []SetState{SetPending, SetLive, SetFailed}, On: SetDeleted, To: SetDeleting},
		{From: []SetState{SetDeleting}, On: SetKept, To: SetDeleting},
	}),
}

// SetOwner says who may change a record set: a user, or the allocation or cluster that it was made for.
type SetOwner string

// OwnedByUser are record sets that users wrote.
const OwnedByUser SetOwner = "user"

// OwnedByObject are the record sets of an object that zones name, such as an allocation.
func OwnedByObject(noun string, id uuid.UUID) SetOwner { return SetOwner(noun + ":" + id.String()) }

// ManagedSet is one row of dns_record_sets.
type ManagedSet struct {
	ID           uuid.UUID  `db:"id"`
	WorkspaceID  uuid.UUID  `db:"workspace_id"`
	ZoneID       uuid.UUID  `db:"zone_id"`
	ZoneName     Name       `db:"zone_name"`
	Name         Name       `db:"name"`
	Type         Type       `db:"type"`
	TTL          int64      `db:"ttl"` // seconds
	Contents     []string   `db:"contents"`
	Owner        SetOwner   `db:"owner"`
	Adopt        Adoption   `db:"adopt"`
	State        SetState   `db:"state"`
	StateMessage string     `db:"state_message"`
	Outcome      Outcome    `db:"outcome"`
	Revision     int64      `db:"revision"`
	LiveRevision int64      `db:"live_revision"`
	LiveTTL      *int64     `db:"live_ttl"`   // seconds
	SettlesAt    *time.Time `db:"settles_at"` // until then, resolvers may tell what was there before
	Checked      *Check     `db:"checked"`    // nil: not since it changed
	CheckedAt    *time.Time `db:"checked_at"`
	ZoneGrant    *uuid.UUID `db:"zone_grant_id"` // by which it is in a zone of another workspace; nil: in one of its own
	GrantEnded   bool       `db:"grant_ended"`   // that grant is revoked
	Version      int64      `db:"version"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    time.Time  `db:"updated_at"`
}

// RecordSet is what the server is to hold.
func (m ManagedSet) RecordSet() RecordSet {
	return RecordSet{Name: m.Name, Type: m.Type, TTL: uint32(m.TTL), Values: m.Contents}
}

// Desired is the record set for a difference.
func (m ManagedSet) Desired() Desired {
	return Desired{RecordSet: m.RecordSet(), ID: m.ID.String(), Applied: m.LiveRevision > 0, Adopt: m.Adopt}
}

// facts are what an event tells of a record set.
func (m ManagedSet) facts() map[string]any {
	return map[string]any{
		"zone": m.ZoneName.Display(), "name": m.Name.Display(), "type": m.Type, "ttl": m.TTL, "values": m.Contents,
		"owner": m.Owner, "state": m.State,
	}
}

// String names the record set in a log.
func (m ManagedSet) String() string { return fmt.Sprintf("%s %s", m.Name.Display(), m.Type) }
