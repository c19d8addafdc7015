package agentwork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/agent"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
)

// UpdateDeliveries is the policy that advances deliveries.
const UpdateDeliveries = "update_deliveries"

// lookAgain is how soon a delivery is looked at after a step.
const lookAgain = time.Second

// deliveries makes the next step of each delivery that has not ended.
func deliveries(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: UpdateDeliveries, Noun: agent.DeliveryNoun,
		Why:      "a delivery must go on with nobody logged in, and stop by itself when the version is bad",
		Interval: 5 * time.Second, Timeout: time.Minute, Triggers: []string{agent.DeliveryNoun}, Observes: true,
		Objects: func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
			return agent.OpenDeliveries(ctx, config.DB.Reader, after, limit)
		},
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			d, err := agent.DeliveryByID(ctx, config.DB.Reader, item.ObjectID)
			if errors.Is(err, fault.ErrNotFound) {
				return reconcile.Outcome{Gone: true}, nil
			}
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("load delivery %s: %w", item.ObjectID, err)
			}
			r, changed, err := agent.Advance(ctx, config.DB, d, agent.Proof{Soak: config.Soak, Probe: config.Probe}, UpdateDeliveries, item.Observe)
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("advance delivery %s: %w", d.ID, err)
			}
			if r.State.Ended() {
				return reconcile.Outcome{Changed: int64(changed), Gone: true}, nil
			}
			out := reconcile.Outcome{Changed: int64(changed), Conditions: []reconcile.Condition{r.Progresses()}}
			if changed > 0 {
				out.Again = lookAgain
			}
			return out, nil
		},
	}
}
