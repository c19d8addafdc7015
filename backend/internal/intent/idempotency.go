package intent

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/store"
)

type idempotencyKey struct{}

// WithIdempotency makes the intent that is called with this context claim a
// key in its own transaction. A request that was committed before is then
// store.ErrDuplicateRequest.
func WithIdempotency(ctx context.Context, i store.Idempotency) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, i)
}

// Idempotency returns the key that the context carries, if there is one.
func Idempotency(ctx context.Context) (store.Idempotency, bool) {
	i, ok := ctx.Value(idempotencyKey{}).(store.Idempotency)
	return i, ok
}

// claimKey is the first statement of every intent's transaction.
func claimKey(ctx context.Context, tx *store.Tx) error {
	if i, ok := Idempotency(ctx); ok {
		return tx.ClaimIdempotencyKey(ctx, i)
	}
	return nil
}

// recordMade notes with the key, if there is one, what the transaction made or
// changed. uuid.Nil stands for none.
func recordMade(ctx context.Context, tx *store.Tx, kind string, object, job uuid.UUID) error {
	if i, ok := Idempotency(ctx); ok {
		return tx.RecordIdempotent(ctx, i, kind, object, job)
	}
	return nil
}
