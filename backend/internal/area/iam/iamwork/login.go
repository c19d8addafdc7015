package iamwork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// expiredRows is how many rows one transaction takes away.
const expiredRows = 500

// ExpiredLogins takes away logins that nobody ended with a code.
func ExpiredLogins(d *db.DB) reconcile.Policy {
	return reconcile.Policy{
		Name: "expired_logins", Why: "a login that waited for a code and has expired is of no use to anyone; it is refused long before",
		Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			var n int64
			err = d.InTx(ctx, func(tx *db.Tx) (err error) {
				n, err = iam.DropExpiredLogins(ctx, tx, expiredRows)
				return err
			})
			out.Changed = n
			if n == expiredRows {
				out.Again = time.Second
			}
			return out, err
		},
	}
}
