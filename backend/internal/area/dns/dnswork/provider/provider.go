// Package provider is the seam between DNS zones and whatever serves them: three calls and the errors that they end in.
//
// It refuses to decide. What to change is a plan of package dns; when to retry is the job's.
package provider

import (
	"context"
	"errors"

	"kloigos/backend/internal/area/dns"
)

// Provider reads and changes one zone. Its errors are *Error.
type Provider interface {
	// Serial returns the zone's serial (RFC 1035, section 3.3.13). It is cheap: a policy asks it before it transfers.
	Serial(ctx context.Context) (uint32, error)
	// Transfer returns the whole zone.
	Transfer(ctx context.Context) (Snapshot, error)
	// Apply makes one change, a record set with its ownership record, in one update. It changes nothing unless the server
	// holds exactly Before and OwnerBefore. If it already holds After and OwnerAfter, it succeeds, so Apply can be repeated
	// after a crash. TTLs are not compared.
	Apply(ctx context.Context, change dns.Change) (Applied, error)
}

// Snapshot is a zone at one serial.
type Snapshot struct {
	Serial uint32
	// NegativeTTL in seconds is how long resolvers remember that a name does not exist (RFC 2308, section 5).
	NegativeTTL uint32
	Sets        []dns.Stored // sorted by name and type
	// Outside counts the records that the server sent although their names are not in the zone. They are dropped.
	Outside int
}

// Applied says how a change came about.
type Applied struct {
	// Already is true if the server held the desired state before this call: an earlier call did it.
	Already bool
}

// Reason names what went wrong. The texts are permanent: they go into conditions.
type Reason string

const (
	WrongKey         Reason = "wrong_key"         // the server does not know the key, or its secret is another
	ClockSkew        Reason = "clock_skew"        // the clocks differ by more than the server allows
	TransferRefused  Reason = "transfer_refused"  // the server's access list has no transfers for the key
	UpdateRefused    Reason = "update_refused"    // the server's access list has no updates for the key
	QueryRefused     Reason = "query_refused"     // the server answers no queries from here
	AddressRefused   Reason = "address_refused"   // the zone does not allow a server at this address
	Changed          Reason = "changed"           // the server no longer holds what the change was made for
	NotAuthoritative Reason = "not_authoritative" // the server does not serve the zone
	Unreachable      Reason = "unreachable"       // nothing was sent
	Interrupted      Reason = "interrupted"       // the connection ended, or time ran out; a change may have happened
	ServerFailed     Reason = "server_failed"     // the server answered that it failed
	TooLarge         Reason = "too_large"         // the zone or the change exceeds a limit
	BadAnswer        Reason = "bad_answer"        // the answer is malformed, unsigned or about something else
	Invalid          Reason = "invalid"           // the change or the configuration cannot be sent
)

// Fault says who can mend an error.
type Fault string

const (
	User       Fault = "user"       // the zone's settings or credentials
	Operator   Fault = "provider"   // whoever operates the name server
	Dependency Fault = "dependency" // the network or the server's health
	Ours       Fault = "ours"
)

// Error is why a call failed.
type Error struct {
	Reason Reason
	Fault  Fault
	// Retry reports whether the same call may succeed later. After Changed, a new difference is needed first.
	Retry bool
	// Text is made of plain sentences for a user. It holds nothing secret.
	Text string
	// Err is the cause, for logs. It may be nil.
	Err error
}

func (e *Error) Error() string {
	if e.Err != nil {
		return e.Text + " (" + e.Err.Error() + ")"
	}
	return e.Text
}

func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of a provider's error, or "".
func ReasonOf(err error) Reason {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Reason
	}
	return ""
}

// Heals reports whether the same call may succeed later without anybody doing anything.
func (r Reason) Heals() bool {
	switch r {
	case ClockSkew, Changed, Unreachable, Interrupted, ServerFailed, BadAnswer:
		return true
	}
	return false
}

// Fault says who can mend the reason, where the error itself is no longer at hand.
func (r Reason) Fault() Fault {
	switch r {
	case TransferRefused, UpdateRefused, QueryRefused, ServerFailed, BadAnswer:
		return Operator
	case ClockSkew, Unreachable, Interrupted:
		return Dependency
	}
	return User
}
