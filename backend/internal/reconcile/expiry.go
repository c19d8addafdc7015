package reconcile

import (
	"context"
	"time"

	"kloigos/backend/internal/store"
)

var expiredTokens = Policy{
	Name: "expired_tokens", Why: "sessions and tokens that have expired are of no use to anyone; they are refused long before",
	Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	Run: inBatches((*store.Tx).DeleteExpiredTokens),
}

var oldLogins = Policy{
	Name: "old_logins", Why: "logins that failed count for an hour",
	Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	Run: inBatches((*store.Tx).DeleteOldLogins),
}

var expiredIdempotencyKeys = Policy{
	Name: "expired_idempotency_keys", Why: "a repeated request is recognised for a day",
	Interval: 30 * time.Minute, Jitter: 5 * time.Minute, Timeout: time.Minute,
	Run: inBatches((*store.Tx).DeleteOldIdempotencyKeys),
}

var oldPlans = Policy{
	Name: "old_plans", Why: "a plan that was never applied is of no use once it has expired; those that were applied stay with their jobs",
	Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute,
	Run: inBatches((*store.Tx).DeleteOldPlans),
}

// inBatches removes what is of no use any more, in bounded transactions.
func inBatches(remove func(*store.Tx, context.Context) (n int64, more bool, err error)) func(context.Context, *store.DB) (int64, error) {
	return func(ctx context.Context, db *store.DB) (int64, error) {
		return batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return remove(tx, ctx) })
	}
}
