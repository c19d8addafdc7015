// Package releasework owns the policy that advances deliveries of releases.
package releasework

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/release"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
)

// Deliveries is the policy that advances deliveries of releases.
const Deliveries = "release_deliveries"

// lookAgain is how soon a delivery is looked at after a step.
const lookAgain = time.Second

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
		Objects: func(ctx context.Context, after uuid.UUID, limit int) ([]uuid.UUID, error) {
			return release.OpenDeliveries(ctx, config.DB.Reader, after, limit)
		},
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			d, err := release.DeliveryByID(ctx, config.DB.Reader, item.ObjectID)
			if errors.Is(err, fault.ErrNotFound) {
				return reconcile.Outcome{Gone: true}, nil
			}
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("load delivery %s: %w", item.ObjectID, err)
			}
			r, changed, err := release.Advance(ctx, config.DB, d, config.Proof, Deliveries, item.Observe)
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
