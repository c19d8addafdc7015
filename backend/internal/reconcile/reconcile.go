// Package reconcile owns the steady state: a registry of policies, each of
// which looks at one kind of thing on an interval and puts right what is not
// as it should be. A policy takes no hint and reads everything afresh, so that
// running it twice, or on several backends at once, does no harm.
package reconcile

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"kloigos/backend/internal/store"
)

// Policy is one reconciliation routine.
type Policy struct {
	Name     string
	Why      string // shown where a person meets the policy
	Interval time.Duration
	Jitter   time.Duration // at random on top of the interval
	Timeout  time.Duration
	// Run looks and puts right; it returns how many things it changed.
	Run func(context.Context, *store.DB) (int64, error)
}

// Policies is every policy.
func Policies() []Policy { return []Policy{expiredTokens, oldLogins, expiredIdempotencyKeys, oldPlans} }

// NotReconciled lists, with the reason, what no policy looks at on purpose.
var NotReconciled = map[string]string{
	"events":            "an audit trail is only ever added to",
	"playbook versions": "a version never changes once it is stored; only what ansible-lint says of it is added",
	"uids":              "a UID that was given once stays given",
}

// Run runs every policy until ctx is done.
func Run(ctx context.Context, db *store.DB, policies []Policy, log *slog.Logger) {
	var all sync.WaitGroup
	for _, p := range policies {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(p.Interval + rand.N(p.Jitter)):
				}
				once(ctx, db, p, log)
			}
		})
	}
	all.Wait()
}

func once(ctx context.Context, db *store.DB, p Policy, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	changed, err := p.Run(ctx, db)
	switch {
	case err != nil && ctx.Err() == nil:
		log.Error("policy failed", "policy", p.Name, "error", err)
	case changed > 0:
		log.Info("policy acted", "policy", p.Name, "changed", changed)
	}
}
