package reconcile

import (
	"slices"
	"time"

	"github.com/google/uuid"
)

// Status is whether a condition holds.
type Status string

// Statuses. A check that begins to fail is progressing first, and false once it has
// failed as often as its threshold says.
const (
	True        Status = "true"
	False       Status = "false"
	Progressing Status = "progressing"
	Unknown     Status = "unknown" // nothing could be observed
)

// Fault says who can do something about it.
type Fault string

// Faults.
const (
	NoFault         Fault = ""
	FaultUser       Fault = "user"       // whoever asked for it
	FaultCapacity   Fault = "capacity"   // there is no room
	FaultProvider   Fault = "provider"   // an outside service
	FaultDependency Fault = "dependency" // something that it stands on
	FaultOurs       Fault = "ours"       // Kloigos
)

// Condition is one property of an object, as a run found it. It is true where all
// is well.
type Condition struct {
	Type       string // permanent, such as resolves or on_time
	Status     Status
	Reason     string // one word for programs
	Message    string // a sentence for people
	Fault      Fault
	RetryHelps bool
	Threshold  int  // failures in a row after which it is false; 0: 3
	IfThere    bool // written only over one that is there: what is well is not said of each object

	// Noun and ObjectID name another object than the item's; empty: the item's.
	Noun     string
	ObjectID uuid.UUID
}

const (
	defaultThreshold = 3
	keptResults      = 21
	keptChanges      = 10
	// Flapping begins and ends at these shares of changes, weighted so that the
	// newest count half as much again as the oldest.
	flappingFrom = 0.5
	flappingTo   = 0.25
)

// Found is a condition as it is stored.
type Found struct {
	Noun       string    `db:"noun"`
	ObjectID   uuid.UUID `db:"object_id"`
	Type       string    `db:"type"`
	Status     Status    `db:"status"`
	Reason     string    `db:"reason"`
	Message    string    `db:"message"`
	Fault      Fault     `db:"fault"`
	RetryHelps bool      `db:"retry_helps"`
	Failing    int       `db:"failing"` // observations in a row that were not true
	Results    string    `db:"results"` // the last 21, newest last
	Flapping   bool      `db:"flapping"`
	Since      time.Time `db:"since"`
	ObservedAt time.Time `db:"observed_at"`
	Policy     string    `db:"policy"`
	History    []Change  `db:"history"` // what it was before, newest first
}

// Change is what a condition once was, and since when.
type Change struct {
	Status  Status    `json:"status"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Since   time.Time `json:"since"`
}

// observe is what is known of a condition after one more observation; before is
// empty for the first.
func (before Found) observe(c Condition, policy string, at time.Time) Found {
	now := before
	now.Type, now.Reason, now.Message, now.Fault, now.RetryHelps = c.Type, c.Reason, c.Message, c.Fault, c.RetryHelps
	now.Policy, now.ObservedAt = policy, at
	threshold := c.Threshold
	if threshold == 0 {
		threshold = defaultThreshold
	}
	result := "u"
	now.Status = c.Status
	switch c.Status {
	case True:
		result, now.Failing, now.Fault = "t", 0, NoFault
	case False:
		result = "f"
		if now.Failing++; now.Failing < threshold && before.Status != False {
			now.Status = Progressing
		}
	}
	now.Results = before.Results + result
	now.Results = now.Results[max(0, len(now.Results)-keptResults):]
	share := changes(now.Results)
	now.Flapping = share >= flappingFrom || before.Flapping && share > flappingTo
	if now.Status != before.Status {
		now.Since = at
		if before.Status != "" {
			was := Change{before.Status, before.Reason, before.Message, before.Since}
			now.History = append([]Change{was}, before.History...)
			now.History = slices.Clone(now.History[:min(len(now.History), keptChanges)])
		}
	}
	return now
}

// changes is the weighted share of observations that differ from the one before.
// What could not be observed is left out.
func changes(results string) float64 {
	last, sum := byte(0), 0.0
	for i := range len(results) {
		r := results[i]
		if r == 'u' {
			continue
		}
		if last != 0 && r != last {
			place := float64(keptResults-len(results)+i) / (keptResults - 1) // 0 is the oldest
			sum += 0.8 + 0.4*place
		}
		last = r
	}
	return sum / (keptResults - 1)
}
