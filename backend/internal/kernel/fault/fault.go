// Package fault owns the typed errors that every layer may return: not found,
// invalid, conflict. One place of the API maps them to problems. It knows no noun.
package fault

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound is what every read and every intent returns for an object that
// does not exist or that the caller may not know of: both take the same path.
var ErrNotFound = errors.New("not found")

// FieldError says what is wrong with one field of a request.
type FieldError struct {
	Field   string // JSON path in the request body, e.g. "ssh_keys[0]"
	Problem string // a sentence for the person who sent it
}

// Invalid reports all the bad fields of a request together.
type Invalid struct{ Fields []FieldError }

func (e *Invalid) Error() string {
	parts := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		parts[i] = f.Field + ": " + f.Problem
	}
	return "invalid: " + strings.Join(parts, "; ")
}

// Add notes one more bad field.
func (e *Invalid) Add(field, format string, args ...any) {
	e.Fields = append(e.Fields, FieldError{Field: field, Problem: fmt.Sprintf(format, args...)})
}

// Check notes err, if there is one, as the problem of field.
func (e *Invalid) Check(field string, err error) {
	if err != nil {
		e.Add(field, "%s", err.Error())
	}
}

// OrNil returns the error if any field was bad.
func (e *Invalid) OrNil() error {
	if len(e.Fields) == 0 {
		return nil
	}
	return e
}

// Conflict says that the object is not in a state in which the request makes
// sense. Code is stable and part of the API.
type Conflict struct {
	Code   string
	Detail string
}

func (e *Conflict) Error() string { return e.Code + ": " + e.Detail }

// Conflictf makes a Conflict.
func Conflictf(code, format string, args ...any) error {
	return &Conflict{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// CheckVersion refuses a change of an object that is at another version than the change was made for; want 0 is any. The noun
// stands in the sentence: "zone", "event stream".
func CheckVersion(noun string, have, want int64) error {
	if want != 0 && want != have {
		return Conflictf("version_mismatch", "The %s is at version %d, not %d: another request changed it. Reload it.", noun, have, want)
	}
	return nil
}
