// Package playbookwork owns the policy that advances deliveries of playbooks.
package playbookwork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/playbook"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/rollout"
)

// Deliveries is the policy that advances deliveries of playbooks.
const Deliveries = "playbook_deliveries"

// Config is what the policy needs.
type Config struct {
	DB    *db.DB
	Proof playbook.Proof
}

// Policy makes the next step of each delivery that has not ended.
func Policy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: Deliveries, Noun: playbook.DeliveryNoun,
		Why:      "a new version of a playbook must reach hosts with nobody logged in, and stop by itself when jobs fail with it",
		Interval: 10 * time.Second, Timeout: time.Minute, Triggers: []string{playbook.DeliveryNoun}, Observes: true,
		Objects: reconcile.List(config.DB, playbook.OpenDeliveries),
		Run: reconcile.Look(config.DB, playbook.DeliveryByID, func(ctx context.Context, item reconcile.Item, d playbook.Delivery) (reconcile.Outcome, error) {
			return rollout.Outcome(playbook.Advance(ctx, config.DB, d, config.Proof, Deliveries, item.Observe))
		}),
	}
}
