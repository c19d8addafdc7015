package watchwork

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/area/watch"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

const (
	// keepDeliveries is for how long deliveries, and runs of remedies, can be looked at.
	keepDeliveries = 30 * 24 * time.Hour
	expiredAtOnce  = 1000
	expiryBatches  = 100
)

// Deliverable is the condition of a channel whose last message arrived.
const Deliverable = "deliverable"

// Policies of the area.
func Policies(config Config) []reconcile.Policy {
	return []reconcile.Policy{
		deliverablePolicy(config), notifyPolicy(config), remedyPolicy(config),
		expiryPolicy(config, "old_channel_deliveries", "nobody looks for a delivery of last month, and each notification adds some", watch.ExpireDeliveries),
		expiryPolicy(config, "old_remedy_runs", "nobody looks for what a remedy did last month, and each job adds a row", watch.ExpireRuns),
	}
}

// deliverablePolicy judges a channel by its last deliveries. It sends nothing.
func deliverablePolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: "channel", Noun: watch.ChannelNoun,
		Why:      "a channel that no longer delivers is silent when something goes wrong",
		Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: 10 * time.Second, Triggers: []string{watch.ChannelNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, watch.ChannelIDs),
		Run: reconcile.Look(config.DB, watch.ChannelByID, func(ctx context.Context, _ reconcile.Item, c watch.Channel) (reconcile.Outcome, error) {
			last, err := watch.LastDeliveries(ctx, config.DB.Reader, c.ID)
			if err != nil {
				return reconcile.Outcome{}, fmt.Errorf("read the deliveries of channel %s: %w", c.ID, err)
			}
			return reconcile.Outcome{Conditions: []reconcile.Condition{deliverable(c, last)}}, nil
		}),
	}
}

// deliverable judges the last deliveries, newest first. Those from before a change of the channel say nothing of it.
func deliverable(c watch.Channel, last []watch.Delivery) reconcile.Condition {
	made := reconcile.Condition{Type: Deliverable, Status: reconcile.True, Reason: "delivered", Threshold: 1}
	switch {
	case len(last) == 0 || last[0].At.Before(c.UpdatedAt):
		made.Status, made.Reason, made.Message = reconcile.Unknown, "not_tried", "Nothing was sent since the channel has these settings. Test it."
	case last[0].Outcome == watch.Delivered:
		made.Message = "The last message arrived."
	case last[0].Retry && int(last[0].Attempt) < 3:
		made.Status, made.Reason, made.Message = reconcile.Progressing, "retrying", last[0].Error
	default:
		made.Status, made.Reason, made.Message = reconcile.False, "not_delivered", last[0].Error
		made.Fault, made.RetryHelps = reconcile.Fault(last[0].Fault), last[0].Retry
	}
	return made
}

func expiryPolicy(config Config, name, why string, expire func(ctx context.Context, tx *db.Tx, keep time.Duration, limit int) (int64, error)) reconcile.Policy {
	return reconcile.Policy{
		Name: name, Why: why,
		Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			for range expiryBatches {
				var n int64
				err := config.DB.InTx(ctx, func(tx *db.Tx) (err error) {
					n, err = expire(ctx, tx, keepDeliveries, expiredAtOnce)
					return err
				})
				if err != nil {
					return out, err
				}
				if out.Changed += n; n < expiredAtOnce {
					return out, nil
				}
			}
			out.Again = time.Minute
			return out, nil
		},
	}
}
