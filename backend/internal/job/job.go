// Package job owns one arguments type for each kind of work, so that an intent
// can enqueue work without knowing how it is done. Arguments hold ids only:
// the worker loads everything afresh when it starts.
package job

import (
	"maps"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
)

// Args is what a job of one kind is given.
type Args interface {
	Kind() domain.JobKind
	Subject() Subject
}

// OfSeveral is the arguments of a job that is about several hosts.
type OfSeveral interface {
	Args
	Hosts() []uuid.UUID
}

// MostHosts is how many hosts one job may be about: what several hosts cost in
// memory and in the time of one play is bounded by it.
const MostHosts = 50

// Subject names the objects that a job is about, by their part in it. An address is known by its allocation.
type Subject map[domain.Part]uuid.UUID

// HostProbe reads a host's facts.
type HostProbe struct {
	HostID uuid.UUID `json:"host_id"`
}

// HostsProbe reads the facts of several hosts.
type HostsProbe struct {
	HostIDs []uuid.UUID `json:"host_ids"`
}

// HostMeasure measures what the tenants of a host use.
type HostMeasure struct {
	HostID  uuid.UUID `json:"host_id"`
	Samples int       `json:"samples"` // one after the other
}

// HostInitialize prepares a host and the volumes of its units.
type HostInitialize struct {
	HostID uuid.UUID `json:"host_id"`
	// Refence replaces another incarnation in the host's fence; an audited
	// operator's action.
	Refence bool `json:"refence,omitempty"`
}

// HostRelayout lays the free part of a host out anew.
type HostRelayout struct {
	HostID uuid.UUID `json:"host_id"`
}

// HostDecommission removes everything of Kloigos from a host.
type HostDecommission struct {
	HostID uuid.UUID `json:"host_id"`
}

// UnitAllocate sets a unit up for its tenant.
type UnitAllocate struct {
	HostID       uuid.UUID `json:"host_id"`
	UnitID       uuid.UUID `json:"unit_id"`
	AllocationID uuid.UUID `json:"allocation_id"`
}

// UnitDeallocate removes the tenant of a unit and wipes it.
type UnitDeallocate struct {
	HostID       uuid.UUID `json:"host_id"`
	UnitID       uuid.UUID `json:"unit_id"`
	AllocationID uuid.UUID `json:"allocation_id"`
}

// AllocationKeys brings the SSH keys of an allocation to its unit.
type AllocationKeys struct {
	HostID       uuid.UUID `json:"host_id"`
	UnitID       uuid.UUID `json:"unit_id"`
	AllocationID uuid.UUID `json:"allocation_id"`
}

// AllocationNetwork moves the unit of an allocation to a network of its own.
type AllocationNetwork struct {
	HostID       uuid.UUID `json:"host_id"`
	UnitID       uuid.UUID `json:"unit_id"`
	AllocationID uuid.UUID `json:"allocation_id"`
}

// Plan checks what an action would change.
type Plan struct {
	PlanID       uuid.UUID `json:"plan_id"`
	HostID       uuid.UUID `json:"host_id"`
	UnitID       uuid.UUID `json:"unit_id,omitzero"`
	AllocationID uuid.UUID `json:"allocation_id,omitzero"` // of one that is there already
}

// Kind implements Args.
func (HostProbe) Kind() domain.JobKind { return domain.KindHostProbe }

// Kind implements Args.
func (HostsProbe) Kind() domain.JobKind { return domain.KindHostsProbe }

// Kind implements Args.
func (HostMeasure) Kind() domain.JobKind { return domain.KindHostMeasure }

// Kind implements Args.
func (HostInitialize) Kind() domain.JobKind { return domain.KindHostInitialize }

// Kind implements Args.
func (HostRelayout) Kind() domain.JobKind { return domain.KindHostRelayout }

// Kind implements Args.
func (HostDecommission) Kind() domain.JobKind { return domain.KindHostDecommission }

// Kind implements Args.
func (UnitAllocate) Kind() domain.JobKind { return domain.KindUnitAllocate }

// Kind implements Args.
func (UnitDeallocate) Kind() domain.JobKind { return domain.KindUnitDeallocate }

// Kind implements Args.
func (AllocationKeys) Kind() domain.JobKind { return domain.KindAllocationKeys }

// Kind implements Args.
func (AllocationNetwork) Kind() domain.JobKind { return domain.KindAllocationNetwork }

// Kind implements Args.
func (Plan) Kind() domain.JobKind { return domain.KindPlan }

// Subject implements Args.
func (a HostProbe) Subject() Subject { return Subject{domain.OfHost: a.HostID} }

// Subject implements Args: it is about no one host.
func (a HostsProbe) Subject() Subject { return Subject{} }

// Hosts implements OfSeveral.
func (a HostsProbe) Hosts() []uuid.UUID { return a.HostIDs }

// Subject implements Args.
func (a HostMeasure) Subject() Subject { return Subject{domain.OfHost: a.HostID} }

// Subject implements Args.
func (a HostInitialize) Subject() Subject { return Subject{domain.OfHost: a.HostID} }

// Subject implements Args.
func (a HostRelayout) Subject() Subject { return Subject{domain.OfHost: a.HostID} }

// Subject implements Args.
func (a HostDecommission) Subject() Subject { return Subject{domain.OfHost: a.HostID} }

// Subject implements Args.
func (a UnitAllocate) Subject() Subject {
	return Subject{domain.OfHost: a.HostID, domain.OfUnit: a.UnitID, domain.OfAllocation: a.AllocationID}
}

// Subject implements Args.
func (a UnitDeallocate) Subject() Subject {
	return Subject{domain.OfHost: a.HostID, domain.OfUnit: a.UnitID, domain.OfAllocation: a.AllocationID}
}

// Subject implements Args.
func (a AllocationKeys) Subject() Subject {
	return Subject{domain.OfHost: a.HostID, domain.OfUnit: a.UnitID, domain.OfAllocation: a.AllocationID}
}

// Subject implements Args.
func (a AllocationNetwork) Subject() Subject {
	return Subject{domain.OfHost: a.HostID, domain.OfUnit: a.UnitID, domain.OfAllocation: a.AllocationID}
}

// Subject implements Args.
func (a Plan) Subject() Subject {
	s := Subject{domain.OfHost: a.HostID, domain.OfUnit: a.UnitID, domain.OfAllocation: a.AllocationID, domain.OfPlan: a.PlanID}
	maps.DeleteFunc(s, func(_ domain.Part, id uuid.UUID) bool { return id == uuid.Nil })
	return s
}

// Policy is how a kind of job is run: how often it is tried by itself, how
// long it may take from its enqueueing, and which goes first (higher).
type Policy struct {
	MaxAttempts int
	Deadline    time.Duration
	Priority    int
	// Play bounds a play where that of all is too long: what changes nothing may be
	// ended at any time, goes first, and would keep everybody else waiting on a host
	// that hangs. 0: it is not.
	Play time.Duration
}

// PolicyOf returns how jobs of a kind are run.
func PolicyOf(k domain.JobKind) Policy {
	switch k {
	case domain.KindHostProbe:
		return Policy{MaxAttempts: 3, Deadline: 10 * time.Minute, Priority: 20, Play: 5 * time.Minute}
	case domain.KindHostsProbe: // those that do not answer at all are found before the play
		return Policy{MaxAttempts: 3, Deadline: 20 * time.Minute, Priority: 15, Play: 10 * time.Minute}
	case domain.KindHostMeasure: // a person looks on, and is told soon that the host does not answer
		return Policy{MaxAttempts: 2, Deadline: 10 * time.Minute, Priority: 15, Play: 10 * time.Minute}
	case domain.KindPlan: // a person waits for it
		return Policy{MaxAttempts: 5, Deadline: 30 * time.Minute, Priority: 15}
	case domain.KindHostInitialize, domain.KindHostRelayout, domain.KindHostDecommission:
		return Policy{MaxAttempts: 50, Deadline: 2 * time.Hour, Priority: 0}
	default:
		return Policy{MaxAttempts: 50, Deadline: time.Hour, Priority: 10}
	}
}
