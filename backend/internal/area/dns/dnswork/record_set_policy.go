package dnswork

import (
	"context"
	"time"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/reconcile"
)

// Intervals of the record set's policy.
const (
	recordSetInterval = 6 * time.Hour
	arrivalPause      = 30 * time.Second
	// arrivalTime is how long secondary servers may take before that is a fault of theirs.
	arrivalTime = 10 * time.Minute
)

// RecordSetPolicy watches live record sets arrive at all name servers of their zone, and at a resolver once the time of the
// old answer is over.
func RecordSetPolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: "dns_record_set", Noun: dns.RecordSetNoun,
		Why:      "a record is of use when every name server tells it; secondaries can stay behind, and resolvers keep what was there before for its time",
		Interval: recordSetInterval, Jitter: time.Hour, Timeout: time.Minute, Triggers: []string{dns.RecordSetNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, dns.RecordSetIDs),
		Run: reconcile.Look(config.DB, dns.RecordSetByID, func(ctx context.Context, _ reconcile.Item, set dns.ManagedSet) (reconcile.Outcome, error) {
			if set.State != dns.SetLive {
				return reconcile.Outcome{}, nil // there is nothing to watch before
			}
			check, err := steps{config}.check(ctx, config.DB, set)
			if err != nil {
				return reconcile.Outcome{}, policyError(err)
			}
			return arrived(set, check, time.Now()), nil
		}),
	}
}

// arrived judges what servers told at a time.
func arrived(set dns.ManagedSet, check dns.Check, now time.Time) reconcile.Outcome {
	c := reconcile.Condition{Type: "propagated", Status: reconcile.True, Reason: "everywhere"}
	var out reconcile.Outcome
	settles := now
	if set.SettlesAt != nil {
		settles = *set.SettlesAt
	}
	switch {
	case check.Arrived():
	case check.Everywhere && now.Before(settles):
		c.Status, c.Reason, c.Message = reconcile.Progressing, "resolvers_keep_old", check.Missing()
		out.Again = settles.Sub(now) + arrivalPause
	case check.Everywhere:
		c.Status, c.Reason, c.Message, c.Fault, c.RetryHelps = reconcile.False, "resolver_differs", check.Missing(), reconcile.FaultDependency, true
	case now.Sub(set.UpdatedAt) < arrivalTime:
		c.Status, c.Reason, c.Message = reconcile.Progressing, "on_its_way", check.Missing()
		out.Again = arrivalPause
	default:
		c.Status, c.Reason, c.Message, c.Fault, c.RetryHelps = reconcile.False, "server_differs", check.Missing(), reconcile.FaultProvider, true
	}
	out.Conditions = []reconcile.Condition{c}
	return out
}
