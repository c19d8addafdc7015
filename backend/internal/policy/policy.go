// Package policy owns the policies of the nouns that are no areas of their own yet:
// expiry, linting of playbooks. Each reads everything afresh and acts
// through intents. How policies are run is the business of kernel/reconcile.
package policy

import (
	"context"
	"time"

	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

// Retention is how long what people may still want to read is kept; 0: for
// ever.
type Retention struct {
	Logs   time.Duration // of jobs, from their end
	Events time.Duration
}

// Policies is every policy that needs nothing but the database.
func Policies(db *store.DB, keep Retention) []reconcile.Policy {
	all := []reconcile.Policy{expiredTokens(db), oldLogins(db), oldRequestLevels(db), expiredIdempotencyKeys(db), oldPlans(db), lapsedPlans(db), clockWentBack(db)}
	if keep.Logs > 0 {
		all = append(all, oldJobLogs(db, keep.Logs))
	}
	if keep.Events > 0 {
		all = append(all, oldEvents(db, keep.Events))
	}
	return all
}

// NotReconciled lists, with the reason, what no policy looks at: nouns, and parts of them. A test of app compares it with the nouns
// of the API.
func NotReconciled() map[string]string {
	return map[string]string{
		"address":           "jobs give it and take it back; whether its unit carries it is seen by drift",
		"condition":         "it is what policies write",
		"event":             "an audit trail is only ever added to, unless an operator sets how long it is kept",
		"job":               "its worker keeps its deadline, and another one takes it over; what was done stays known, and a row is small",
		"policy":            "policies are code; policy_lag says of each whether it runs in time",
		"queue":             "a person pauses it, and only a person ends that",
		"system":            "it is read when it is shown",
		"playbook versions": "a version never changes once it is stored; only what ansible-lint says of it is added",
		"uids":              "a UID stays given until it is given again, after a wipe",
	}
}

// moreSoon is when a run that has left something is followed by the next one.
const moreSoon = time.Second

// changing is the outcome of a run that changed so many things.
func changing(n int64, err error) (reconcile.Outcome, error) {
	return reconcile.Outcome{Changed: n}, err
}

// removal is a policy that removes in bounded transactions what is of no use.
func removal(p reconcile.Policy, db *store.DB, remove func(*store.Tx, context.Context) (n int64, more bool, err error)) reconcile.Policy {
	p.Run = func(ctx context.Context, _ reconcile.Item) (reconcile.Outcome, error) {
		return batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return remove(tx, ctx) })
	}
	return p
}
