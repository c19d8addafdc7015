package reconcile

import (
	"context"
	"time"

	"kloigos/backend/internal/store"
)

// clockWentBack bounds what a database's clock that is set back costs to some
// minutes, by however much it was.
var clockWentBack = Policy{
	Name: "clock_went_back", Why: "when the database's clock is set back, what was queued or leased before would wait until the clock is there again",
	Interval: time.Minute, Jitter: 10 * time.Second, Timeout: 30 * time.Second,
	Run: func(ctx context.Context, db *store.DB) (n int64, err error) {
		err = db.InTx(ctx, func(tx *store.Tx) error {
			n, err = tx.SetAheadRight(ctx)
			return err
		})
		return n, err
	},
}
