// Package scope owns references to objects that somebody was found to be allowed
// to see. It knows no noun.
package scope

import "github.com/google/uuid"

// Ref names an object of type T that a lookup found in the caller's scope. An
// intent takes a Ref in place of a bare id, so that no caller can leave the check
// out. Its fields are private: only a lookup makes one, by Found.
type Ref[T any] struct {
	id, workspace uuid.UUID
}

// Found is called by the lookups of a noun, in its *_sql.go, and by nobody else; a
// test sees to it.
func Found[T any](id, workspace uuid.UUID) Ref[T] { return Ref[T]{id, workspace} }

// ID is the object's id; uuid.Nil of the zero value, which no object has.
func (r Ref[T]) ID() uuid.UUID { return r.id }

// Workspace is the scope that the object was found in.
func (r Ref[T]) Workspace() uuid.UUID { return r.workspace }

// IsZero tells whether no lookup made it.
func (r Ref[T]) IsZero() bool { return r.id == uuid.Nil }
