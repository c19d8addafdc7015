package scope

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// Find returns the object of a workspace that text names, by its id or by its name, with a reference to it;
// fault.ErrNotFound if there is none. Both statements take the workspace as $1, and the id or the name as $2.
func Find[T any](ctx context.Context, q db.Reader, byID, byName db.Statement, workspace uuid.UUID, text string, id func(T) uuid.UUID) (T, Ref[T], error) {
	if _, err := uuid.Parse(text); err == nil {
		return FindByID(ctx, q, byID, workspace, text, id)
	}
	return found(ctx, q, byName, workspace, text, id)
}

// FindByID is Find for a noun without names.
func FindByID[T any](ctx context.Context, q db.Reader, byID db.Statement, workspace uuid.UUID, text string, id func(T) uuid.UUID) (T, Ref[T], error) {
	parsed, err := uuid.Parse(text)
	if err != nil {
		var none T
		return none, Ref[T]{}, fault.ErrNotFound
	}
	return found(ctx, q, byID, workspace, parsed, id)
}

func found[T any](ctx context.Context, q db.Reader, sql db.Statement, workspace uuid.UUID, value any, id func(T) uuid.UUID) (T, Ref[T], error) {
	object, err := db.First[T](ctx, q, fault.ErrNotFound, sql, workspace, value)
	if err != nil {
		return object, Ref[T]{}, err
	}
	return object, Found[T](id(object), workspace), nil
}
