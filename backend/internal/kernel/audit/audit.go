// Package audit owns the audit trail: who did what to which object, from where,
// what it was before and what after. An event of a write stands in the transaction
// of that write. It knows no noun and no action.
package audit

import "github.com/google/uuid"

// ActorKind says what kind of actor did something.
type ActorKind string

// The kinds of actors.
const (
	Account ActorKind = "account" // a person, or a token of theirs
	Backend ActorKind = "backend" // a worker that ended a job
	Policy  ActorKind = "policy"  // a reconciliation policy
	Init    ActorKind = "init"    // the first start
)

// Actor is who asks, and from where. It goes into the audit event of every
// write.
type Actor struct {
	Kind      ActorKind
	ID        uuid.UUID // of the account; nil for others
	Name      string
	Address   string // of the client, "" inside the product
	RequestID string
}

// Entry is one audit record to be written.
type Entry struct {
	Workspace uuid.UUID // uuid.Nil: in none
	// Organization and Project are those of the workspace, unless they are given.
	Organization, Project uuid.UUID
	Action                string // 'host.register', 'allocation.create', ...
	ObjectKind            string
	ObjectID              uuid.UUID
	ObjectName            string
	JobID                 uuid.UUID      // uuid.Nil if there is none
	Before                map[string]any // the fields that changed; no secrets
	After                 map[string]any
}
