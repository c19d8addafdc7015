// Package releasework owns the policy that advances deliveries of releases.
package releasework

import (
	"context"
	"time"

	"kloigos/backend/internal/area/release"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/rollout"
)

// Deliveries is the policy that advances deliveries of releases.
const Deliveries = "release_deliveries"

// Config is what the policy needs.
type Config struct {
	DB    *db.DB
	Proof release.Proof
}

// Policy makes the next step of each delivery that has not ended.
func Policy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: Deliveries, Noun: release.DeliveryNoun,
		Why:      "whoever replaces programs must see which machine is next, and be stopped when something becomes wrong",
		Interval: 10 * time.Second, Timeout: time.Minute, Triggers: []string{release.DeliveryNoun}, Observes: true,
		Objects: reconcile.List(config.DB, release.OpenDeliveries),
		Run: reconcile.Look(config.DB, release.DeliveryByID, func(ctx context.Context, item reconcile.Item, d release.Delivery) (reconcile.Outcome, error) {
			return rollout.Outcome(release.Advance(ctx, config.DB, d, config.Proof, Deliveries, item.Observe))
		}),
	}
}
