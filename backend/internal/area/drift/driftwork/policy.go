// Package driftwork owns the policies of drift: it judges hosts by what their agents see, and asks for repairs.
//
// It refuses to change a host: a repair is a job that exists already.
package driftwork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/drift"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
)

// Drift is the name of the policy.
const Drift = "drift"

// AsPromised is the condition of hosts and units on which nothing drifted.
const AsPromised = "as_promised"

// Config is what the policies need.
type Config struct {
	DB *db.DB
	// Repair asks for the job that made a host, or a unit if there is one.
	Repair func(ctx context.Context, by audit.Actor, host, unit, allocation uuid.UUID) (job uuid.UUID, err error)
	// Check asks for a plan of what that job would change: of a host, or of the unit of an allocation if there is one.
	Check func(ctx context.Context, by audit.Actor, host, allocation uuid.UUID) (plan uuid.UUID, err error)
}

const (
	keepEnded     = 90 * 24 * time.Hour
	expiredAtOnce = 1000
	soon          = 10 * time.Second
)

// Policies of the area.
func Policies(config Config) []reconcile.Policy {
	return []reconcile.Policy{
		{
			Name: Drift, Noun: drift.HostNoun,
			Why:      "a host that is no longer as promised must be seen, and put right where that is wanted",
			Interval: 5 * time.Minute, Jitter: time.Minute, Timeout: 30 * time.Second, Triggers: []string{drift.HostNoun}, Observes: true,
			Objects: reconcile.List(config.DB, drift.HostIDs),
			Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
				return run(ctx, config, item)
			},
		},
		{
			Name: "old_drifts", Why: "nobody looks for a drift that ended months ago",
			Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: time.Minute,
			Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
				err = config.DB.InTx(ctx, func(tx *db.Tx) (err error) {
					out.Changed, err = drift.Expire(ctx, tx, keepEnded, expiredAtOnce)
					return err
				})
				if out.Changed == expiredAtOnce {
					out.Again = time.Minute
				}
				return out, err
			},
		},
		crossCheck(config),
	}
}

func run(ctx context.Context, config Config, item reconcile.Item) (reconcile.Outcome, error) {
	h, err := drift.HostByID(ctx, config.DB.Reader, item.ObjectID)
	if errors.Is(err, fault.ErrNotFound) || err == nil && h.Gone {
		if err == nil && !item.Observe {
			_, err = drift.Record(ctx, config.DB, Drift, h, nil)
		} else if err != nil {
			err = nil
		}
		return reconcile.Outcome{Gone: true}, err
	}
	if err != nil {
		return reconcile.Outcome{}, fmt.Errorf("load host %s: %w", item.ObjectID, err)
	}
	seen, age, ok, err := drift.SeenOn(ctx, config.DB.Reader, h.ID)
	switch {
	case err != nil:
		return reconcile.Outcome{}, err
	case !ok:
		return blind("no_agent", "No agent speaks for the host, so nobody sees whether it is as promised."), nil
	case age > drift.SilentAfter:
		return blind("silent", "The agent of the host is silent, so nobody sees whether it is as promised."), nil
	case seen.Hash == "":
		return blind("not_told", "The agent of the host does not tell what it sees there."), nil
	case h.Busy, !seen.Current():
		return reconcile.Outcome{Again: soon}, nil
	}
	units, err := drift.Units(ctx, config.DB.Reader, h.ID)
	if err != nil {
		return reconcile.Outcome{}, err
	}
	findings := drift.Verdict(h, units, seen)
	out := reconcile.Outcome{Conditions: conditions(h, units, findings)}
	if item.Observe {
		return out, nil
	}
	if out.Changed, err = drift.Record(ctx, config.DB, Drift, h, findings); err != nil {
		return out, fmt.Errorf("record the drift of host %s: %w", h.ID, err)
	}
	begun, err := repair(ctx, config, h)
	if err != nil {
		return out, fmt.Errorf("repair host %s: %w", h.ID, err)
	}
	if out.Changed += begun; begun > 0 || len(findings) > 0 {
		out.Again = 3 * soon
	}
	return out, nil
}

// blind is a host of which nothing is known.
func blind(reason, message string) reconcile.Outcome {
	return reconcile.Outcome{Conditions: []reconcile.Condition{{
		Type: AsPromised, Status: reconcile.Unknown, Reason: reason, Message: message, Fault: reconcile.FaultDependency, RetryHelps: true, Threshold: 1,
	}}}
}

func conditions(h drift.Host, units []drift.Unit, findings []drift.Finding) []reconcile.Condition {
	by := map[uuid.UUID][]drift.Finding{}
	for _, f := range findings {
		by[f.Unit] = append(by[f.Unit], f)
	}
	all := []reconcile.Condition{condition(drift.HostNoun, h.ID, by[uuid.Nil])}
	for _, u := range units {
		if u.Settled {
			all = append(all, condition(drift.UnitNoun, u.ID, by[u.ID]))
		}
	}
	return all
}

func condition(noun string, id uuid.UUID, findings []drift.Finding) reconcile.Condition {
	c := reconcile.Condition{Type: AsPromised, Status: reconcile.True, Reason: "as_promised", Noun: noun, ObjectID: id, Threshold: 1}
	if len(findings) > 0 {
		c.Status, c.Reason, c.Message, c.Fault = reconcile.False, "drifted", drift.InWords(findings), reconcile.FaultDependency
	}
	return c
}

// repair asks for the repairs that are due, as many as may run at once.
func repair(ctx context.Context, config Config, h drift.Host) (begun int64, err error) {
	due, err := drift.Plan(ctx, config.DB, Drift, h, time.Now())
	if err != nil || len(due) == 0 {
		return 0, err
	}
	room, err := drift.Room(ctx, config.DB.Reader)
	if err != nil {
		return 0, err
	}
	by := audit.Actor{Kind: audit.Policy, Name: Drift}
	for _, d := range due[:min(int64(len(due)), room)] {
		job, err := config.Repair(ctx, by, d.Host, d.Unit, d.Allocation)
		var conflict *fault.Conflict
		if errors.As(err, &conflict) { // its state does not take one now
			continue
		}
		if err != nil {
			return begun, err
		}
		err = config.DB.InTx(ctx, func(tx *db.Tx) error { return drift.Repaired(ctx, tx, by, d.Drifts, job) })
		if err != nil {
			return begun, err
		}
		begun++
	}
	return begun, nil
}
