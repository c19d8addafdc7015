package domain

import (
	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
)

// ActorKind says what kind of actor did something.
type ActorKind = audit.ActorKind

// The kinds of actors.
const (
	ActorAccount = audit.Account // a person, or a token of theirs
	ActorBackend = audit.Backend // a worker that ended a job
	ActorPolicy  = audit.Policy  // a reconciliation policy
	ActorInit    = audit.Init    // the first start
)

// Actor is who asks, and from where.
type Actor = audit.Actor

// DefaultWorkspace, DefaultProject and DefaultOrganization exist from the
// start, so that a single team never has to think of scopes.
var (
	DefaultOrganization = uuid.MustParse("00000000-0000-4000-8000-000000000001")
	DefaultProject      = uuid.MustParse("00000000-0000-4000-8000-000000000002")
	DefaultWorkspace    = uuid.MustParse("00000000-0000-4000-8000-000000000003")
)

// Operation is something that can, or can't now, be done with an object.
type Operation struct {
	Name     string
	Allowed  bool
	Prevents string // what prevents it, a sentence
}

// WhyNot explains a placement that failed.
type WhyNot struct {
	Units    int // that the caller may use at all
	RuledOut []RuledOut
	Nearest  string // the nearest change to the request that would fit now
}

// RuledOut is what one filter of a placement ruled out of those that were left.
type RuledOut struct {
	Filter, Why string
	Units       int
}
