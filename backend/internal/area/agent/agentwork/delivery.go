package agentwork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/rollout"
)

// UpdateDeliveries is the policy that advances deliveries.
const UpdateDeliveries = "update_deliveries"

// deliveries makes the next step of each delivery that has not ended.
func deliveries(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: UpdateDeliveries, Noun: agent.DeliveryNoun,
		Why:      "a delivery must go on with nobody logged in, and stop by itself when the version is bad",
		Interval: 5 * time.Second, Timeout: time.Minute, Triggers: []string{agent.DeliveryNoun}, Observes: true,
		Objects: reconcile.List(config.DB, agent.OpenDeliveries),
		Run: reconcile.Look(config.DB, agent.DeliveryByID, func(ctx context.Context, item reconcile.Item, d agent.Delivery) (reconcile.Outcome, error) {
			return rollout.Outcome(agent.Advance(ctx, config.DB, d, agent.Proof{Soak: config.Soak, Probe: config.Probe}, UpdateDeliveries, item.Observe))
		}),
	}
}
