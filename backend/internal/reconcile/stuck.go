package reconcile

import (
	"context"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
)

// atMostStuck bounds one run.
const atMostStuck = 100

// EndStuck ends what is in flight and has no job any more.
func EndStuck(intents *intent.Intents) Policy {
	const name = "stuck"
	return Policy{
		Name: name, Why: "what is on its way and has no job any more would be so for ever; it becomes what the failure of its job would have made it, and a person can go on from there",
		Interval: 5 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context, _ *store.DB) (n int64, err error) {
			for range atMostStuck {
				ended, err := intents.EndStuck(ctx, domain.Actor{Kind: domain.ActorPolicy, Name: name})
				if err != nil || !ended {
					return n, err
				}
				n++
			}
			return n, nil
		},
	}
}
