package db

import (
	"context"

	"github.com/google/uuid"
)

// IDList is a statement that lists ids of rows, ascending: "SELECT id FROM table" + IDsBehind.
type IDList Statement

// IDsBehind lists the rows of a table behind an id, $1, and at most $2 of them.
const IDsBehind = " WHERE id > $1 ORDER BY id LIMIT $2"

// Read lists at most limit ids behind one of them.
func (l IDList) Read(ctx context.Context, q Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return IDs(ctx, q, "list ids of rows", Statement(l), after, limit)
}
