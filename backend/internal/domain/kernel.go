package domain

import (
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/lifecycle"
)

// The kernel's words for lifecycles and refusals, under the names that the
// nouns of this package use.
type (
	// Event is what happens to an object.
	Event = lifecycle.Event
	// StateInfo explains one state of a lifecycle.
	StateInfo[S ~string] = lifecycle.StateInfo[S]
	// Transition is one row of a lifecycle's table.
	Transition[S ~string] = lifecycle.Transition[S]
	// Lifecycle is the whole life of one noun.
	Lifecycle[S ~string] = lifecycle.Lifecycle[S]
	// FieldError says what is wrong with one field of a request.
	FieldError = fault.FieldError
	// Invalid reports all the bad fields of a request together.
	Invalid = fault.Invalid
	// Conflict says that the state of an object does not allow the request.
	Conflict = fault.Conflict
)

// ErrNotFound is what every read and every intent returns for an object that
// does not exist or that the caller may not know of.
var ErrNotFound = fault.ErrNotFound

// Conflictf makes a Conflict.
func Conflictf(code, format string, args ...any) error { return fault.Conflictf(code, format, args...) }
