package agent

import (
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
)

// Nouns, as events, policies and problems name them.
const (
	Noun     = "agent"
	HostNoun = "host"
)

// State says whether an agent is listened to.
type State string

// States of an agent.
const (
	Enrolled    State = "enrolled"
	Replaced    State = "replaced"
	Quarantined State = "quarantined"
	Revoked     State = "revoked"
)

// What happens to an agent.
const (
	AnotherEnrolled lifecycle.Event = "another_enrolled"
	CopyFound       lifecycle.Event = "copy_found"
	PersonDoubted   lifecycle.Event = "quarantine"
	PersonReleased  lifecycle.Event = "release"
	PersonRevoked   lifecycle.Event = "revoke"
)

// Lifecycle is the life of an agent. It is enrolled when its row is made.
var Lifecycle = lifecycle.Lifecycle[State]{
	Noun: Noun, Initial: Enrolled,
	States: []lifecycle.StateInfo[State]{
		{State: Enrolled, Means: "its heartbeats count for its host"},
		{State: Replaced, Means: "the host enrolled another key; if this one is used again, the machine was copied"},
		{State: Quarantined, Means: "its key or its machine was seen twice; nothing of it counts until a person decides", Failed: true},
		{State: Revoked, Means: "its key is refused for good"},
	},
	Transitions: lifecycle.Table([]lifecycle.Move[State]{
		{From: []State{Enrolled}, On: AnotherEnrolled, To: Replaced},
		{From: []State{Enrolled, Replaced}, On: CopyFound, To: Quarantined},
		{From: []State{Enrolled}, On: PersonDoubted, To: Quarantined},
		{From: []State{Quarantined}, On: PersonReleased, To: Enrolled},
		{From: []State{Enrolled, Replaced, Quarantined}, On: PersonRevoked, To: Revoked},
	}),
}

// Liveness says when the last heartbeat came.
type Liveness string

// Liveness of an agent.
const (
	OnTime   Liveness = "on_time"
	Late     Liveness = "late"
	Silent   Liveness = "silent"
	NoBeat   Liveness = "none" // not enrolled
	Interval          = 10 * time.Second
	lateFrom          = 20 * time.Second
	// SilentAfter is how long after its last heartbeat a host is unreachable.
	SilentAfter = 60 * time.Second
)

// Agent is one row of agents, with what is known of it beside.
type Agent struct {
	ID           uuid.UUID  `db:"id"`
	WorkspaceID  uuid.UUID  `db:"workspace_id"`
	HostID       uuid.UUID  `db:"host_id"`
	HostName     string     `db:"host_name"`
	Incarnation  uuid.UUID  `db:"incarnation"`
	PublicKey    []byte     `db:"public_key"`
	MachineID    string     `db:"machine_id"`
	State        State      `db:"state"`
	StateMessage string     `db:"state_message"`
	Version      int64      `db:"version"`
	CreatedAt    time.Time  `db:"created_at"`
	UpdatedAt    time.Time  `db:"updated_at"`
	ExpiresAt    *time.Time `db:"expires_at"`
	ReceivedAt   *time.Time `db:"received_at"`
	AgeMS        *int64     `db:"age_ms"` // since the last heartbeat, by the database's clock
	AgentVersion *string    `db:"agent_version"`
	BootID       *string    `db:"boot_id"`
	SkewMS       *int64     `db:"skew_ms"`
	Report       *Report    `db:"report"`
	Causes       Causes     `db:"causes"`
	ReportedAt   *time.Time `db:"reported_at"`
}

// Liveness of the agent when it was read.
func (a Agent) Liveness() Liveness {
	if a.AgeMS == nil {
		return NoBeat
	}
	switch age := time.Duration(*a.AgeMS) * time.Millisecond; {
	case age >= SilentAfter:
		return Silent
	case age >= lateFrom:
		return Late
	}
	return OnTime
}

func (a Agent) can(on lifecycle.Event) error {
	if _, err := Lifecycle.Next(a.State, on); err != nil {
		return fault.Conflictf("agent_state", "The agent is %s.", a.State)
	}
	return nil
}

// CanRevoke tells why the agent cannot be revoked; nil if it can.
func (a Agent) CanRevoke() error { return a.can(PersonRevoked) }

// CanQuarantine tells why the agent cannot be quarantined; nil if it can.
func (a Agent) CanQuarantine() error { return a.can(PersonDoubted) }

// CanRelease tells why the agent cannot be released; nil if it can.
func (a Agent) CanRelease() error { return a.can(PersonReleased) }

func (a Agent) facts() map[string]any {
	return map[string]any{"host": a.HostName, "state": a.State, "machine_id": a.MachineID, "message": a.StateMessage}
}
