package reconcile

import (
	"context"
	"time"

	"kloigos/backend/internal/store"
)

var expiredTokens = Policy{
	Name: "expired_tokens", Why: "sessions and tokens that have expired are of no use to anyone; they are refused long before",
	Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	Run: func(ctx context.Context, db *store.DB) (n int64, err error) {
		err = db.InTx(ctx, func(tx *store.Tx) error {
			n, err = tx.DeleteExpiredTokens(ctx)
			return err
		})
		return n, err
	},
}

var oldLogins = Policy{
	Name: "old_logins", Why: "logins that failed count for an hour",
	Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	Run: func(ctx context.Context, db *store.DB) (n int64, err error) {
		err = db.InTx(ctx, func(tx *store.Tx) error {
			n, err = tx.DeleteOldLogins(ctx)
			return err
		})
		return n, err
	},
}

var expiredIdempotencyKeys = Policy{
	Name: "expired_idempotency_keys", Why: "a repeated request is recognised for a day",
	Interval: 30 * time.Minute, Jitter: 5 * time.Minute, Timeout: time.Minute,
	Run: func(ctx context.Context, db *store.DB) (n int64, err error) {
		err = db.InTx(ctx, func(tx *store.Tx) error {
			n, err = tx.DeleteOldIdempotencyKeys(ctx)
			return err
		})
		return n, err
	},
}

var oldPlans = Policy{
	Name: "old_plans", Why: "a plan that was never applied is of no use once it has expired; those that were applied stay with their jobs",
	Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute,
	Run: func(ctx context.Context, db *store.DB) (n int64, err error) {
		err = db.InTx(ctx, func(tx *store.Tx) error {
			n, err = tx.DeleteOldPlans(ctx)
			return err
		})
		return n, err
	},
}
