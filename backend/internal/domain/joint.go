package domain

// JobKind names a kind of job. Kinds are permanent: rows in old databases
// carry them.
type JobKind string

// The kinds of jobs.
const (
	KindHostProbe        JobKind = "host_probe"
	KindHostsProbe       JobKind = "hosts_probe"
	KindHostMeasure      JobKind = "host_measure"
	KindHostInitialize   JobKind = "host_initialize"
	KindHostRelayout     JobKind = "host_relayout"
	KindHostDecommission JobKind = "host_decommission"
	KindUnitAllocate     JobKind = "unit_allocate"
	KindUnitDeallocate   JobKind = "unit_deallocate"
	KindAllocationKeys   JobKind = "allocation_keys"
	// KindAllocationNetwork moves a unit in use.
	KindAllocationNetwork JobKind = "allocation_network"
	KindPlan              JobKind = "plan"
)

// Joint is one row of the joint table.
type Joint struct {
	Kind     JobKind
	Means    string   // shown where a person meets a job of this kind
	Playbook string   // "" of a plan: that of the kind it is a plan of
	Steps    []string // in order; each is idempotent
	ReadOnly bool     // changes nothing on the host and takes no lock
	Several  bool     // is about several hosts, which one Ansible process works on
	Checks   bool     // changes nothing on the host, but holds it while it looks
	Unfences bool     // takes the host's fence away, so that a further attempt may find none that checks it
	Start    Effect   // when it is asked for, and when it is retried
	Success  Effect
	Failure  Effect // failed for good, or cancelled
	Waits    Effect // ended well, but a person has to confirm something
	// Withdrawn is in place of Failure where the job was cancelled before anything
	// of what it is for had begun; empty where that leaves the same.
	Withdrawn Effect
	// GiveUp is the kind of job that cleans up after a failed one; empty where
	// the failure leaves nothing behind.
	GiveUp JobKind
}

// JointTable says for each kind of job what its start, success and failure
// mean for host, unit, allocation and address together.
var JointTable = []Joint{
	{
		Kind: KindHostProbe, Playbook: "host_probe", Steps: []string{"host_key", "probe"}, ReadOnly: true,
		Means:   "reads the facts of a host; changes nothing on the host",
		Start:   Effect{{OfHost, ProbeRequested}},
		Success: Effect{{OfHost, ProbeSucceeded}},
		Failure: Effect{{OfHost, ProbeFailed}},
		Waits:   Effect{{OfHost, HostKeyUnknown}},
	},
	// It is asked for only of hosts whose state a probe leaves as it is, and each
	// of them is told of by itself.
	{
		Kind: KindHostsProbe, Playbook: "host_probe", Steps: []string{"probe"}, ReadOnly: true, Several: true,
		Means: "reads the facts of several hosts in parallel; changes nothing on them",
	},
	{
		Kind: KindHostMeasure, Playbook: "host_measure", Steps: []string{"measure"}, ReadOnly: true,
		Means: "measures the resource usage of a host's tenants; changes nothing on the host",
	},
	{
		Kind: KindHostInitialize, Playbook: "host_initialize", Steps: []string{"bootstrap", "initialize"},
		Means:   "installs packages, creates the volumes of units and confines the system to its own CPUs",
		Start:   Effect{{OfHost, InitializeRequested}, {OfUnit, PrepareRequested}},
		Success: Effect{{OfHost, InitializeSucceeded}, {OfUnit, PrepareSucceeded}},
		Failure: Effect{{OfHost, InitializeFailed}, {OfUnit, PrepareFailed}},
		GiveUp:  KindHostDecommission,
	},
	// Which units a layout replaces is settled once, when it is asked for: they
	// are then removing. A retry only makes the new ones, and to give up removes
	// those of the new ones that could not be made.
	{
		Kind: KindHostRelayout, Playbook: "host_initialize", Steps: []string{"bootstrap", "relayout"},
		Means:   "changes the layout of the free part of a host; units in use stay as they are",
		Start:   Effect{{OfHost, InitializeRequested}, {OfUnit, PrepareRequested}},
		Success: Effect{{OfHost, InitializeSucceeded}, {OfUnit, PrepareSucceeded}, {OfReplaced, ReplaceSucceeded}},
		Failure: Effect{{OfHost, InitializeFailed}, {OfUnit, PrepareFailed}, {OfReplaced, ReplaceFailed}},
		GiveUp:  KindHostRelayout,
	},
	{
		Kind: KindHostDecommission, Playbook: "host_decommission", Steps: []string{"decommission"}, Unfences: true,
		Means:   "removes everything of Kloigos from a host",
		Start:   Effect{{OfHost, DecommissionRequested}, {OfUnit, RemoveRequested}},
		Success: Effect{{OfHost, DecommissionSucceeded}, {OfUnit, RemoveSucceeded}},
		Failure: Effect{{OfHost, DecommissionFailed}, {OfUnit, RemoveFailed}},
	},
	{
		Kind: KindUnitAllocate, Playbook: "unit_allocate", Steps: []string{"allocate"},
		Means:   "sets up a unit for its tenant: user, limits, address, SSH keys",
		Start:   Effect{{OfUnit, AllocateRequested}, {OfAllocation, AllocateRequested}, {OfAddress, AllocateRequested}},
		Success: Effect{{OfUnit, AllocateSucceeded}, {OfAllocation, AllocateSucceeded}, {OfAddress, AllocateSucceeded}},
		Failure: Effect{{OfUnit, AllocateFailed}, {OfAllocation, AllocateFailed}, {OfAddress, AllocateFailed}},
		GiveUp:  KindUnitDeallocate,
		// Nothing was set up, so nothing has to be cleaned and no person to decide.
		Withdrawn: Effect{{OfUnit, AllocateWithdrawn}, {OfAllocation, AllocateWithdrawn}, {OfAddress, AllocateWithdrawn}},
	},
	{
		Kind: KindUnitDeallocate, Playbook: "unit_deallocate", Steps: []string{"deallocate"},
		Means:     "ends all processes in a unit, removes its tenant and wipes its volume",
		Start:     Effect{{OfUnit, DeallocateRequested}, {OfAllocation, DeallocateRequested}, {OfAddress, DeallocateRequested}},
		Success:   Effect{{OfUnit, DeallocateSucceeded}, {OfAllocation, DeallocateSucceeded}, {OfAddress, DeallocateSucceeded}},
		Failure:   Effect{{OfUnit, DeallocateFailed}, {OfAllocation, DeallocateFailed}, {OfAddress, DeallocateFailed}},
		Withdrawn: Effect{{OfUnit, DeallocateWithdrawn}, {OfAllocation, DeallocateWithdrawn}, {OfAddress, DeallocateWithdrawn}},
	},
	{
		Kind: KindAllocationKeys, Playbook: "unit_allocate", Steps: []string{"allocate"},
		Means: "replaces the SSH keys that may log in to a unit",
	},
	// What the unit's network is stays as it was until the job has ended well.
	{
		Kind: KindAllocationNetwork, Playbook: "unit_allocate", Steps: []string{"allocate"},
		Means: "moves a unit in use to a network of its own; ends all sessions and services of its tenant once",
	},
	{
		Kind: KindPlan, Steps: []string{"check"}, Checks: true,
		Means:   "checks what an action would change on a host; changes nothing on it",
		Start:   Effect{{OfPlan, CheckRequested}},
		Success: Effect{{OfPlan, CheckSucceeded}},
		Failure: Effect{{OfPlan, CheckFailed}},
	},
}

// Changes tells whether jobs of this kind change the host.
func (j Joint) Changes() bool { return !j.ReadOnly && !j.Checks }

// JointOf returns the row of a kind.
func JointOf(k JobKind) (Joint, bool) {
	for _, j := range JointTable {
		if j.Kind == k {
			return j, true
		}
	}
	return Joint{}, false
}
