package policy

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/reconcile"
)

// atMostStuck bounds what one run ends.
const atMostStuck = 100

// EndStuck ends what is in flight and has no job any more.
func EndStuck(intents *intent.Intents) reconcile.Policy {
	const name = "stuck"
	return reconcile.Policy{
		Name: name, Why: "what is on its way and has no job any more would be so for ever; it becomes what the failure of its job would have made it, and a person can go on from there",
		Interval: 5 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (reconcile.Outcome, error) {
			return changing(endStuck(ctx, intents, domain.Actor{Kind: domain.ActorPolicy, Name: name}))
		},
	}
}

// endStuck goes past what can't be ended: it must not hold up what is behind it.
func endStuck(ctx context.Context, intents *intent.Intents, who domain.Actor) (ended int64, first error) {
	var past []uuid.UUID
	for ended < atMostStuck {
		found, err := intents.EndStuck(ctx, who, past)
		switch {
		case err == nil && found == uuid.Nil:
			return ended, first
		case err == nil:
			ended++
			continue
		case first == nil:
			first = err
		}
		if found == uuid.Nil {
			return ended, first
		}
		past = append(past, found)
	}
	return ended, first
}
