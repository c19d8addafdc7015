package store

import (
	"context"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
)

// Audit is one audit record to be written.
type Audit = audit.Entry

// AddEvent writes an audit record in the transaction of what it tells of.
func (tx *Tx) AddEvent(ctx context.Context, who domain.Actor, a Audit) error {
	return audit.Append(ctx, tx.Tx, who, a)
}

// orNull is the id as an argument: NULL for uuid.Nil.
var orNull = db.OrNull
