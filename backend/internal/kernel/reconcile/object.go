package reconcile

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// List makes the Objects of a policy out of what lists ids, ascending, behind one of them.
func List(d *db.DB, ids func(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error)) func(context.Context, uuid.UUID, int) ([]uuid.UUID, error) {
	return func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
		return ids(ctx, d.Reader, after, limit)
	}
}

// Rows makes the Objects of a policy out of a statement that lists the ids of a table with db.IDsBehind.
func Rows(d *db.DB, ids db.Statement) func(context.Context, uuid.UUID, int) ([]uuid.UUID, error) {
	return func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
		return db.IDs(ctx, d.Reader, "list the objects of a policy", ids, after, limit)
	}
}

// Look makes the Run of a policy: load reads the object of an item afresh, and look says what came of it. If load returns
// fault.ErrNotFound, the object is gone, and its item goes too.
func Look[T any](d *db.DB, load func(context.Context, db.Reader, uuid.UUID) (T, error), look func(context.Context, Item, T) (Outcome, error)) func(context.Context, Item) (Outcome, error) {
	return func(ctx context.Context, item Item) (Outcome, error) {
		object, err := load(ctx, d.Reader, item.ObjectID)
		if errors.Is(err, fault.ErrNotFound) {
			return Outcome{Gone: true}, nil
		}
		if err != nil {
			return Outcome{}, fmt.Errorf("load object %s: %w", item.ObjectID, err)
		}
		return look(ctx, item, object)
	}
}
