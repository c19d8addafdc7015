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
	// notifyInterval is how often conditions are looked at.
	notifyInterval = 15 * time.Second
	// givenUpPause is for how long a message waits that no attempt delivered.
	givenUpPause = time.Hour
)

// notifyPolicy tells channels of conditions. It compares what is false now with what a channel was told, so nothing is
// lost when a backend dies, and what is over before its time is not told at all.
func notifyPolicy(config Config) reconcile.Policy {
	s := newSteps(config)
	return reconcile.Policy{
		Name: "channel_notify", Noun: watch.ChannelNoun,
		Why:      "people learn that something is wrong where they are, and not only where they look",
		Interval: notifyInterval, Jitter: 5 * time.Second, Timeout: time.Minute, Triggers: []string{watch.ChannelNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, watch.ChannelIDs),
		Run: reconcile.Look(config.DB, watch.ChannelByID, func(ctx context.Context, item reconcile.Item, c watch.Channel) (reconcile.Outcome, error) {
			if !c.Enabled || item.Observe {
				return reconcile.Outcome{}, nil
			}
			return s.notify(ctx, c, watch.GroupWait)
		}),
	}
}

func (s steps) notify(ctx context.Context, c watch.Channel, wait time.Duration) (out reconcile.Outcome, err error) {
	problems, over, err := watch.Untold(ctx, s.DB.Reader, c, wait, watch.Repeat)
	if err != nil {
		return out, err
	}
	var resolved []watch.Trouble
	for _, t := range over {
		if c.Wants(t.Noun, t.Type) {
			resolved = append(resolved, t)
		}
	}
	if len(problems)+len(resolved) == 0 {
		if len(over) == 0 {
			return out, nil
		}
		return out, s.DB.InTx(ctx, func(tx *db.Tx) error { return watch.RecordTold(ctx, tx, c.ID, nil, over) })
	}
	message := c.Notice(problems, resolved, time.Now())
	made, err := watch.Attempts(ctx, s.DB.Reader, message.ID)
	if err != nil {
		return out, fmt.Errorf("read the attempts: %w", err)
	}
	if rest := s.rest(made, time.Now()); rest > 0 {
		out.Again = rest
		return out, nil
	}
	r, err := s.deliver(ctx, s.DB, c, message, len(made)+1, func(ctx context.Context, tx *db.Tx, r result) error {
		if r.text != "" {
			return nil
		}
		return watch.RecordTold(ctx, tx, c.ID, problems, over)
	})
	if err != nil || r.text != "" {
		return out, err // the delivery is recorded, and makes this due again
	}
	out.Changed = int64(len(problems) + len(resolved))
	return out, nil
}

// rest is how long the next attempt of a message has to wait after those that were made.
func (s steps) rest(made []watch.Delivery, now time.Time) time.Duration {
	if len(made) == 0 {
		return 0
	}
	pause, last := givenUpPause, made[len(made)-1]
	if last.Retry && len(made) <= len(s.Pauses) {
		pause = s.Pauses[len(made)-1]
	}
	return last.At.Add(pause).Sub(now)
}
