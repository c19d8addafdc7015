package domain

import "time"

// PlanState is where a plan is in its life.
type PlanState string

// The states of a plan.
const (
	PlanChecking PlanState = "checking"
	PlanReady    PlanState = "ready"
	PlanFailed   PlanState = "failed"
	PlanApplied  PlanState = "applied"
)

// What happens to plans.
const (
	CheckRequested Event = "check_requested"
	CheckSucceeded Event = "check_succeeded"
	CheckFailed    Event = "check_failed"
	ApplyRequested Event = "apply_requested"
)

// PlanLifecycle is the life of a plan. That a plan is expired or that what it
// was made of has moved is no state of its: the clock and other objects say it.
var PlanLifecycle = Lifecycle[PlanState]{
	Noun: "plan", Initial: PlanChecking,
	States: []StateInfo[PlanState]{
		{State: PlanChecking, Means: "its check is queued or running", Deadline: 30 * time.Minute},
		{State: PlanReady, Means: "checked; it shows what the action would change"},
		{State: PlanFailed, Means: "the check failed; retry the job, or create another plan", Failed: true},
		{State: PlanApplied, Means: "applied", Final: true},
	},
	Transitions: []Transition[PlanState]{
		{PlanChecking, CheckRequested, PlanChecking},
		{PlanFailed, CheckRequested, PlanChecking},
		{PlanChecking, CheckSucceeded, PlanReady},
		{PlanChecking, CheckFailed, PlanFailed},
		{PlanReady, ApplyRequested, PlanApplied},
	},
}

// PlanLifetime is how long a plan can be applied after its check. What a
// person does on the host itself moves nothing that Kloigos compares, so it is
// short.
const PlanLifetime = time.Hour

// What a plan stands on: each can move after its check.
const (
	MovedPlaybook  = "playbook"
	MovedVariables = "variables"
	MovedState     = "observed_state"
)

// The actions that a plan can be made of, by their operations in the API.
const (
	ActionInitialize   = "initialize-host"
	ActionRefence      = "refence-host"
	ActionRelayout     = "relayout-host"
	ActionDecommission = "decommission-host"
	ActionAllocate     = "create-allocation"
	ActionReplaceKeys  = "replace-allocation-keys"
	ActionMoveNetwork  = "move-allocation-network"
	ActionDeallocate   = "deallocate"
	// A scope is deleted with all that is in it.
	ActionCascadeOrganization = "cascade-organization"
	ActionCascadeProject      = "cascade-project"
	ActionCascadeWorkspace    = "cascade-workspace"
	// ActionCrossCheck is no operation: a policy looks whether a host or a unit is as promised. Nobody applies it.
	ActionCrossCheck = "cross-check"
)

// What happens to a thing, in a plan.
const (
	ActionCreate = "create"
	ActionChange = "change"
	ActionRemove = "remove"
	// ActionFollows is a change that could not be checked, since what it depends
	// on is not there yet.
	ActionFollows = "follows"
	// ActionStops is what a run would stop at.
	ActionStops = "stops"
)

// PlanChange is one thing that a play would change. All text but Action came
// from a host.
type PlanChange struct {
	Play   string `json:"play"` // file of the playbook: "bootstrap.yml"
	Role   string `json:"role,omitempty"`
	Task   string `json:"task"`
	Kind   string `json:"kind"` // "file", "user", "volume", "service", ...
	Name   string `json:"name"`
	Action string `json:"action"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
	Note   string `json:"note,omitempty"` // what else is to be known of it
}

// PlanCounts counts the changes of a plan by what happens.
type PlanCounts struct {
	Create  int `json:"create"`
	Change  int `json:"change"`
	Remove  int `json:"remove"`
	Follows int `json:"follows"`
	Stops   int `json:"stops"`
}

// Limits of what one plan keeps.
const (
	MaxPlanChanges = 2000
	MaxPlanBytes   = 1 << 20 // all texts together
	MaxPlanText    = 32 << 10
)

// PlanResult is what the check of a plan told.
type PlanResult struct {
	Changes []PlanChange `json:"changes"`
	Counts  PlanCounts   `json:"counts"`
	Tasks   int          `json:"tasks"`    // that were looked at
	LeftOut int          `json:"left_out"` // changes beyond the limits; they are counted
	Cut     bool         `json:"cut"`      // a text beyond the limits was cut or left out

	bytes int
	seen  map[PlanChange]bool // what is there or gone, by kind, name and action
}

// Add takes a change in, within the limits. What several tasks would make, or
// take away, is one change.
func (r *PlanResult) Add(c PlanChange) {
	if c.Action == ActionCreate || c.Action == ActionRemove {
		key := PlanChange{Kind: c.Kind, Name: c.Name, Action: c.Action}
		if r.seen[key] {
			return
		}
		if r.seen == nil {
			r.seen = map[PlanChange]bool{}
		}
		r.seen[key] = true
	}
	switch c.Action {
	case ActionCreate:
		r.Counts.Create++
	case ActionRemove:
		r.Counts.Remove++
	case ActionFollows:
		r.Counts.Follows++
	case ActionStops:
		r.Counts.Stops++
	default:
		c.Action = ActionChange
		r.Counts.Change++
	}
	if len(r.Changes) >= MaxPlanChanges {
		r.LeftOut++
		return
	}
	for _, text := range []*string{&c.Before, &c.After} {
		if r.bytes += len(*text); r.bytes > MaxPlanBytes || len(*text) > MaxPlanText {
			*text, r.Cut = "", true
			c.Note = joined(c.Note, "too long to be shown")
		}
	}
	r.bytes += len(c.Play) + len(c.Role) + len(c.Task) + len(c.Kind) + len(c.Name) + len(c.Note)
	if r.bytes > 2*MaxPlanBytes {
		r.LeftOut++
		return
	}
	r.Changes = append(r.Changes, c)
}

// NothingChanges tells whether the action would leave the host as it is.
func (c PlanCounts) NothingChanges() bool { return c == PlanCounts{} }

func joined(a, b string) string {
	switch a {
	case "":
		return b
	case b:
		return a
	}
	return a + "; " + b
}
