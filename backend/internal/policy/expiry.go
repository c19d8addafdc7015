package policy

import (
	"context"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

func expiredTokens(db *store.DB) reconcile.Policy {
	return removal(reconcile.Policy{
		Name: "expired_tokens", Why: "sessions and tokens that have expired are of no use to anyone; they are refused long before",
		Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	}, db, (*store.Tx).DeleteExpiredTokens)
}

func oldLogins(db *store.DB) reconcile.Policy {
	return removal(reconcile.Policy{
		Name: "old_logins", Why: "logins that failed count for an hour",
		Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	}, db, (*store.Tx).DeleteOldLogins)
}

func oldRequestLevels(db *store.DB) reconcile.Policy {
	return removal(reconcile.Policy{
		Name: "old_request_levels", Why: "backends count requests together; who has asked little for an hour counts from nothing",
		Interval: 10 * time.Minute, Jitter: time.Minute, Timeout: time.Minute,
	}, db, (*store.Tx).ForgetRequests)
}

func expiredIdempotencyKeys(db *store.DB) reconcile.Policy {
	return removal(reconcile.Policy{
		Name: "expired_idempotency_keys", Why: "a repeated request is recognised for a day",
		Interval: 30 * time.Minute, Jitter: 5 * time.Minute, Timeout: time.Minute,
	}, db, (*store.Tx).DeleteOldIdempotencyKeys)
}

func lapsedPlans(db *store.DB) reconcile.Policy {
	const name = "lapsed_plans"
	return removal(reconcile.Policy{
		Name: name, Why: "a plan that nobody approved in time is told once; it is refused from the moment on",
		Interval: time.Minute, Jitter: 10 * time.Second, Timeout: time.Minute,
	}, db, func(tx *store.Tx, ctx context.Context) (int64, bool, error) {
		return tx.TellLapsedPlans(ctx, domain.Actor{Kind: domain.ActorPolicy, Name: name})
	})
}

func oldPlans(db *store.DB) reconcile.Policy {
	return removal(reconcile.Policy{
		Name: "old_plans", Why: "a plan that was never applied is of no use once it has expired; those that were applied stay with their jobs",
		Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute,
	}, db, (*store.Tx).DeleteOldPlans)
}
