package domain

import (
	"fmt"
	"time"
)

// UnitState is where a compute unit is in its life.
type UnitState string

// The states of a compute unit.
const (
	UnitPreparing          UnitState = "preparing"
	UnitPreparationFailed  UnitState = "preparation_failed"
	UnitFree               UnitState = "free"
	UnitAllocating         UnitState = "allocating"
	UnitAllocated          UnitState = "allocated"
	UnitAllocationFailed   UnitState = "allocation_failed"
	UnitDeallocating       UnitState = "deallocating"
	UnitDeallocationFailed UnitState = "deallocation_failed"
	UnitUnavailable        UnitState = "unavailable"
	UnitRemoving           UnitState = "removing"
	UnitRemoved            UnitState = "removed"
)

// What happens to units, and with them to allocations and addresses.
const (
	PrepareRequested    Event = "prepare_requested"
	PrepareSucceeded    Event = "prepare_succeeded"
	PrepareFailed       Event = "prepare_failed"
	AllocateRequested   Event = "allocate_requested"
	AllocateSucceeded   Event = "allocate_succeeded"
	AllocateFailed      Event = "allocate_failed"
	AllocateWithdrawn   Event = "allocate_withdrawn"
	DeallocateRequested Event = "deallocate_requested"
	DeallocateSucceeded Event = "deallocate_succeeded"
	DeallocateFailed    Event = "deallocate_failed"
	DeallocateWithdrawn Event = "deallocate_withdrawn"
	RemoveRequested     Event = "remove_requested"
	RemoveSucceeded     Event = "remove_succeeded"
	RemoveFailed        Event = "remove_failed"
	ReplaceRequested    Event = "replace_requested"
	ReplaceSucceeded    Event = "replace_succeeded"
	ReplaceFailed       Event = "replace_failed"
	LayoutWithdrawn     Event = "layout_withdrawn"
	Closed              Event = "closed"
	Opened              Event = "opened"
)

const hourForAUnit = time.Hour

// UnitLifecycle is the life of a compute unit.
var UnitLifecycle = Lifecycle[UnitState]{
	Noun: "unit", Initial: UnitPreparing,
	States: []StateInfo[UnitState]{
		{State: UnitPreparing, Means: "part of the layout; created when the host is initialized or its layout changes"},
		{State: UnitPreparationFailed, Means: "its volume could not be created; initialize the host again, or change the layout", Failed: true},
		{State: UnitFree, Means: "clean and available"},
		{State: UnitAllocating, Means: "Kloigos is setting it up for its tenant", Deadline: hourForAUnit},
		{State: UnitAllocated, Means: "in use by an allocation"},
		{State: UnitAllocationFailed, Means: "setup failed; retry the job, or give up and clean", Failed: true},
		{State: UnitDeallocating, Means: "Kloigos is wiping it", Deadline: hourForAUnit},
		{State: UnitDeallocationFailed, Means: "the wipe failed, so no one else gets it; deallocate again", Failed: true},
		{State: UnitUnavailable, Means: "closed by an operator, or its removal failed"},
		{State: UnitRemoving, Means: "Kloigos is removing it from its host", Deadline: minutesForDecommission},
		{State: UnitRemoved, Means: "removed; its name is never used again", Final: true},
	},
	Transitions: []Transition[UnitState]{
		{UnitPreparing, PrepareRequested, UnitPreparing},
		{UnitPreparationFailed, PrepareRequested, UnitPreparing},
		{UnitPreparing, PrepareSucceeded, UnitFree},
		{UnitPreparing, PrepareFailed, UnitPreparationFailed},

		{UnitFree, AllocateRequested, UnitAllocating},
		{UnitAllocationFailed, AllocateRequested, UnitAllocating},
		{UnitAllocating, AllocateSucceeded, UnitAllocated},
		{UnitAllocating, AllocateFailed, UnitAllocationFailed},
		{UnitAllocating, AllocateWithdrawn, UnitFree},

		{UnitAllocated, DeallocateRequested, UnitDeallocating},
		{UnitAllocationFailed, DeallocateRequested, UnitDeallocating},
		{UnitDeallocationFailed, DeallocateRequested, UnitDeallocating},
		{UnitDeallocating, DeallocateSucceeded, UnitFree},
		{UnitDeallocating, DeallocateFailed, UnitDeallocationFailed},
		{UnitDeallocating, DeallocateWithdrawn, UnitAllocated},

		{UnitFree, Closed, UnitUnavailable},
		{UnitUnavailable, Opened, UnitFree},

		{UnitPreparing, RemoveRequested, UnitRemoving},
		{UnitPreparationFailed, RemoveRequested, UnitRemoving},
		{UnitFree, RemoveRequested, UnitRemoving},
		{UnitUnavailable, RemoveRequested, UnitRemoving},
		{UnitRemoving, RemoveSucceeded, UnitRemoved},
		{UnitRemoving, RemoveFailed, UnitUnavailable},

		// A new layout takes the CPUs of those that it replaces at once, so none of
		// them comes back. What a failed run leaves of their volumes belongs to no
		// unit, and the next run on the host removes it.
		{UnitFree, ReplaceRequested, UnitRemoving},
		{UnitPreparationFailed, ReplaceRequested, UnitRemoving},
		{UnitRemoving, ReplaceSucceeded, UnitRemoved},
		{UnitRemoving, ReplaceFailed, UnitRemoved},
		{UnitPreparationFailed, LayoutWithdrawn, UnitRemoving},

		{UnitPreparing, DeclaredLost, UnitRemoved},
		{UnitPreparationFailed, DeclaredLost, UnitRemoved},
		{UnitFree, DeclaredLost, UnitRemoved},
		{UnitAllocating, DeclaredLost, UnitRemoved},
		{UnitAllocated, DeclaredLost, UnitRemoved},
		{UnitAllocationFailed, DeclaredLost, UnitRemoved},
		{UnitDeallocating, DeclaredLost, UnitRemoved},
		{UnitDeallocationFailed, DeclaredLost, UnitRemoved},
		{UnitUnavailable, DeclaredLost, UnitRemoved},
		{UnitRemoving, DeclaredLost, UnitRemoved},
	},
}

// UnitName is the name of a host's nth unit, from 1.
func UnitName(host string, ordinal int) string { return fmt.Sprintf("%s-cu%02d", host, ordinal) }

// VolumeName is the name of its logical volume in the host's volume group.
func VolumeName(ordinal int) string { return fmt.Sprintf("cu%02d", ordinal) }

// MountPoint is where its volume is mounted on the host.
func MountPoint(host string, ordinal int) string {
	return fmt.Sprintf("/mnt/kloigos/%s/cu%02d", host, ordinal)
}
