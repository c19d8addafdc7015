package dnswork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// Intervals of the zone's policy.
const (
	zoneInterval = 10 * time.Minute
	// serialPause is how long after a synchronization the serial is not asked for: another program may change the zone all
	// the time.
	serialPause = time.Minute
)

const zonePolicyName = "dns_zone"

// ZonePolicy asks for a synchronization when the intent or the serial of a zone changed, and once more after a failure that
// may heal.
func ZonePolicy(config Config) reconcile.Policy {
	return reconcile.Policy{
		Name: zonePolicyName, Noun: dns.ZoneNoun,
		Why:      "record sets change here, and anybody with a key may change the zone on its name server; what differs is brought in line",
		Interval: zoneInterval, Jitter: time.Minute, Timeout: time.Minute, Triggers: []string{dns.ZoneNoun}, Observes: true,
		Objects: reconcile.Rows(config.DB, dns.ZoneIDs),
		Run: reconcile.Look(config.DB, dns.ZoneByID, func(ctx context.Context, item reconcile.Item, zone dns.Zone) (reconcile.Outcome, error) {
			return zoneRun{config, zone, item.Observe}.run(ctx)
		}),
	}
}

type zoneRun struct {
	Config
	zone    dns.Zone
	observe bool
}

func (r zoneRun) run(ctx context.Context) (reconcile.Outcome, error) {
	if r.zone.State == dns.ZoneSyncing {
		return reconcile.Outcome{}, nil // its end makes this due again
	}
	out := reconcile.Outcome{Conditions: []reconcile.Condition{synced(r.zone)}}
	if r.zone.State == dns.ZoneFailed {
		return r.again(ctx, out)
	}
	changed, err := dns.ZoneChanged(ctx, r.DB.Reader, r.zone.ID)
	if err != nil {
		return out, fmt.Errorf("look for changes of zone %s: %w", r.zone.ID, err)
	}
	if changed {
		return r.sync(ctx, out)
	}
	if r.zone.State == dns.ZoneHeld || r.zone.SyncedAt == nil || r.zone.Serial == nil {
		return out, nil
	}
	if rest := serialPause - time.Since(*r.zone.SyncedAt); rest > 0 {
		out.Again = rest
		return out, nil
	}
	key, err := r.zone.OpenKey(r.Keys)
	if err != nil {
		return out, err
	}
	server, err := Open(r.zone, key)
	if err != nil {
		return out, policyError(err)
	}
	serial, err := server.Serial(ctx)
	if err != nil {
		return out, policyError(err)
	}
	if int64(serial) != *r.zone.Serial {
		return r.sync(ctx, out)
	}
	return out, nil
}

// again tries once more after a failure that may heal, an interval later: the job has tried often enough by then. A person
// who mends another failure changes the zone or synchronizes it.
func (r zoneRun) again(ctx context.Context, out reconcile.Outcome) (reconcile.Outcome, error) {
	if !out.Conditions[0].RetryHelps {
		return out, nil
	}
	if rest := zoneInterval - time.Since(r.zone.UpdatedAt); rest > 0 {
		out.Again = rest
		return out, nil
	}
	return r.sync(ctx, out)
}

func (r zoneRun) sync(ctx context.Context, out reconcile.Outcome) (reconcile.Outcome, error) {
	if r.observe {
		return out, nil
	}
	err := r.DB.InTx(ctx, func(tx *db.Tx) error { return dns.SyncDue(ctx, tx, r.Kinds, zonePolicyName, r.zone.ID) })
	if err != nil {
		return out, fmt.Errorf("ask for a synchronization of zone %s: %w", r.zone.ID, err)
	}
	out.Changed = 1
	return out, nil
}

// synced is how a zone stands to its name server.
func synced(zone dns.Zone) reconcile.Condition {
	c := reconcile.Condition{Type: "synced", Status: reconcile.True, Reason: string(zone.State), Message: zone.StateMessage, Threshold: 1}
	switch zone.State {
	case dns.ZoneHeld:
		c.Status, c.Reason, c.Fault = reconcile.False, "brake", reconcile.FaultUser
	case dns.ZoneFailed:
		reason := provider.Reason(zone.Reason)
		c.Status, c.Reason, c.RetryHelps, c.Fault = reconcile.False, zone.Reason, reason.Heals(), reconcile.Fault(reason.Fault())
	case dns.ZonePending:
		c.Status = reconcile.Progressing
	}
	return c
}

// policyError is an error of a provider as one of a policy.
func policyError(err error) error {
	var failure *provider.Error
	if !errors.As(err, &failure) {
		return err
	}
	return &reconcile.Failure{Reason: string(failure.Reason), Message: failure.Text, Fault: reconcile.Fault(failure.Fault), RetryHelps: failure.Retry, Err: failure.Err}
}
