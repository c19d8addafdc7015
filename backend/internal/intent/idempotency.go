package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/store"
)

// claimKey is the first statement of every intent's transaction. A request that was
// committed before is then store.ErrDuplicateRequest.
func claimKey(ctx context.Context, tx *store.Tx, call Call) error {
	if call.Key == nil {
		return nil
	}
	return tx.ClaimIdempotencyKey(ctx, *call.Key)
}

// recordMade notes with the key, if there is one, what the transaction made or
// changed. uuid.Nil stands for none.
func recordMade(ctx context.Context, tx *store.Tx, call Call, kind string, object, job uuid.UUID) error {
	if call.Key == nil {
		return nil
	}
	return tx.RecordIdempotent(ctx, *call.Key, kind, object, job)
}
