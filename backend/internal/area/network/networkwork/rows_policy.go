// Package networkwork owns what policies do about networks.
package networkwork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// atOnce is how many addresses one transaction gives their network.
const atOnce = 500

// RowsPolicy gives a row to each network that addresses and hosts name, and addresses their network.
func RowsPolicy(d *db.DB) reconcile.Policy {
	return reconcile.Policy{
		Name: "network_rows", Why: "a backend of the last release writes addresses and hosts that name a network, and gives it no row",
		Interval: 5 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			for {
				var wrote int64
				err := d.InTx(ctx, func(tx *db.Tx) (err error) {
					wrote, err = network.AddMissing(ctx, tx, atOnce)
					return err
				})
				if out.Changed += wrote; err != nil || wrote == 0 {
					return out, err
				}
			}
		},
	}
}
