package drift

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
)

// Nouns, as events, policies and conditions name them.
const (
	Noun     = "drift"
	HostNoun = "host"
	UnitNoun = "unit"
)

// State of a drift.
type State string

// States.
const (
	Open      State = "open"
	Repairing State = "repairing"
	GivenUp   State = "given_up"
	Accepted  State = "accepted"
	Ended     State = "ended"
)

// What happens to a drift.
const (
	RepairBegan    lifecycle.Event = "repair_began"
	RepairEnded    lifecycle.Event = "repair_ended"
	CameBack       lifecycle.Event = "came_back_too_often"
	PersonAccepted lifecycle.Event = "accept"
	AcceptanceOver lifecycle.Event = "acceptance_over"
	AsPromised     lifecycle.Event = "as_promised"
)

// Lifecycle is the life of a drift. It is open when it is found.
var Lifecycle = lifecycle.Lifecycle[State]{
	Noun: Noun, Initial: Open,
	States: []lifecycle.StateInfo[State]{
		{State: Open, Means: "the host is not as promised"},
		{State: Repairing, Means: "a job is putting it right"},
		{State: GivenUp, Means: "it keeps coming back, so it is no longer repaired by itself", Failed: true},
		{State: Accepted, Means: "a person accepted it for some time"},
		{State: Ended, Means: "the host is as promised again"},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[State]{
		{From: []State{Open, GivenUp}, On: RepairBegan, To: Repairing},
		{From: []State{Repairing}, On: RepairEnded, To: Open},
		{From: []State{Open}, On: CameBack, To: GivenUp},
		{From: []State{Open, GivenUp}, On: PersonAccepted, To: Accepted},
		{From: []State{Accepted}, On: AcceptanceOver, To: Open},
		{From: []State{Open, Repairing, GivenUp, Accepted}, On: AsPromised, To: Ended},
	}),
}

const (
	// repairsAnHour is how often one promise of one object is repaired within an hour. What comes back after that is somebody's
	// will, and a person has to look.
	repairsAnHour = 3
	// AtOnce is how many repairs run at the same time.
	AtOnce = 4
)

// Drift is one row of drifts.
type Drift struct {
	ID           uuid.UUID  `db:"id"`
	WorkspaceID  uuid.UUID  `db:"workspace_id"`
	HostID       uuid.UUID  `db:"host_id"`
	HostName     string     `db:"host_name"`
	UnitID       uuid.UUID  `db:"unit_id"` // zeros for the host itself
	AllocationID uuid.UUID  `db:"allocation_id"`
	Name         string     `db:"name"`
	Promise      string     `db:"promise"`
	Promised     string     `db:"promised"`
	Found        string     `db:"found"`
	State        State      `db:"state"`
	StateMessage string     `db:"state_message"`
	JobID        *uuid.UUID `db:"job_id"`
	RepairedAt   *time.Time `db:"repaired_at"`
	Repairs      int64      `db:"repairs"`
	AcceptedBy   string     `db:"accepted_by"`
	AcceptUntil  *time.Time `db:"accept_until"`
	Since        time.Time  `db:"since"`
	EndedAt      *time.Time `db:"ended_at"`
	Version      int64      `db:"version"`
}

// OfHost tells whether it is a promise of the host itself.
func (d Drift) OfHost() bool { return d.UnitID == uuid.Nil }

func (d Drift) can(on lifecycle.Event) error {
	if _, err := Lifecycle.Next(d.State, on); err != nil {
		return fault.Conflictf("drift_state", "The drift is %s.", d.State)
	}
	return nil
}

// CanAccept tells why the drift cannot be accepted; nil if it can.
func (d Drift) CanAccept() error { return d.can(PersonAccepted) }

// CanRepair tells why the drift cannot be repaired; nil if it can.
func (d Drift) CanRepair() error { return d.can(RepairBegan) }

func (d Drift) facts() map[string]any {
	return map[string]any{"host": d.HostName, "promise": d.Promise, "promised": d.Promised, "found": d.Found}
}

// RepairsHost tells whether the job of the host puts it right, and not that of the unit: that one mounts no volume.
func (d Drift) RepairsHost() bool {
	return d.OfHost() || d.Promise == "mount" && !strings.HasPrefix(d.Found, "options=")
}
