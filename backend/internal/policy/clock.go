package policy

import (
	"context"
	"time"

	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// clockWentBack bounds what a database's clock that is set back costs to some
// minutes, by however much it was. The scheduler does the same for its own items.
func clockWentBack(db *store.DB) reconcile.Policy {
	return reconcile.Policy{
		Name: "clock_went_back", Why: "when the database's clock is set back, what was queued or leased before would wait until the clock is there again",
		Interval: time.Minute, Jitter: 10 * time.Second, Timeout: 30 * time.Second,
		Run: func(ctx context.Context, _ reconcile.Item) (reconcile.Outcome, error) {
			var n int64
			err := db.InTx(ctx, func(tx *store.Tx) (err error) {
				n, err = tx.SetAheadRight(ctx)
				return err
			})
			return changing(n, err)
		},
	}
}
