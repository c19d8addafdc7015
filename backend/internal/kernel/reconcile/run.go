package reconcile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// succeeds is the type of the condition that a policy has of itself.
const succeeds = "succeeds"

// result is a run that ended.
type result struct {
	key
	claimed
	noun        string
	outcome     string // as it is stored; "" for one that is given back
	changed     int64
	failures    int
	shown       string // of an error, to people
	wait        time.Duration
	gone        bool
	atRest      bool
	interrupted bool // given back: whoever claims it next does it
	lost        bool // another reconciler has it
	conditions  []observed
	claimedAt   time.Time
}

// run runs one item, in the time that its policy gives it.
func (r *Reconciler) run(ctx context.Context, one *running) result {
	p := one.policy
	e := result{key: one.key, claimed: one.claimed, noun: p.Noun, claimedAt: one.claimedAt}
	timed, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	item := Item{ObjectID: one.key.ObjectID, Observe: one.Observe, Failures: one.Failures, Token: one.Token}
	out, err := r.guarded(timed, p, item)
	switch {
	case errors.Is(context.Cause(ctx), errLost):
		e.lost = true
		return e
	case ctx.Err() != nil && err != nil: // this process stops
		e.interrupted = true
		return e
	}
	e.changed, e.gone, e.atRest = out.Changed, out.Gone && err == nil, out.AtRest && err == nil
	noun, object, kind := p.Noun, one.key.ObjectID, p.Name
	if object == uuid.Nil { // of the policy itself, or the listing of its objects
		noun, object, kind = PolicyNoun, PolicyID(p.Name), succeeds
	}
	for _, c := range out.Conditions {
		if c.Noun == "" {
			c.Noun, c.ObjectID = noun, object
		}
		e.conditions = append(e.conditions, observed{Condition: c, policy: p.Name})
	}
	said := Condition{Type: kind, Status: True, Reason: "succeeded", Message: "The last run succeeded.", Noun: noun, ObjectID: object}
	result := "ok"
	if err != nil {
		result, e.outcome, e.failures = "failed", "failed", one.Failures+1
		f := failure(timed, err)
		e.shown, e.wait = f.Message, Backoff(e.failures)
		if !f.RetryHelps {
			e.wait = max(longestBackoff, p.Interval)
		}
		said.Status, said.Reason, said.Message, said.Fault, said.RetryHelps = False, f.Reason, f.Message, f.Fault, f.RetryHelps
	} else {
		e.outcome, e.wait = "ok", p.Interval
		if p.Jitter > 0 {
			e.wait += rand.N(p.Jitter)
		}
		if out.Again > 0 {
			e.wait = min(e.wait, out.Again)
		}
		switch {
		case item.Observe:
			e.outcome = "observed"
		case out.Changed > 0:
			e.outcome = "changed"
		}
	}
	// Of an object only those that have failed say so: the others would double its conditions.
	said.IfThere = err == nil && noun != PolicyNoun
	e.conditions = append(e.conditions, observed{Condition: said, policy: p.Name})
	r.count(timed, p, one.key.ObjectID, result, out.Changed, err)
	return e
}

func (r *Reconciler) count(ctx context.Context, p *Policy, object uuid.UUID, result string, changed int64, err error) {
	r.metrics.runs.WithLabelValues(p.Name, result).Inc()
	r.metrics.changed.WithLabelValues(p.Name).Add(float64(changed))
	attrs := []any{"policy", p.Name}
	if object != uuid.Nil {
		attrs = append(attrs, "object", object)
	}
	switch {
	case err != nil && ctx.Err() == nil:
		r.log.Error("policy failed", append(attrs, "error", err)...)
	case err != nil:
		r.log.Warn("policy ran out of its time", append(attrs, "timeout", p.Timeout)...)
	case changed > 0:
		r.log.Info("policy made changes", append(attrs, "changed", changed)...)
	}
}

// guarded keeps one object that a policy can't cope with from ending each
// reconciler in turn.
func (r *Reconciler) guarded(ctx context.Context, p *Policy, item Item) (out Outcome, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			r.log.Error("policy panicked", "policy", p.Name, "object", item.ObjectID, "panic", broken, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", broken)
		}
	}()
	if p.Noun != "" && item.ObjectID == uuid.Nil {
		return r.survey(ctx, p)
	}
	return p.Run(ctx, item)
}

// failure is what people are told of an error.
func failure(ctx context.Context, err error) *Failure {
	var f *Failure
	switch {
	case errors.As(err, &f):
		return f
	case ctx.Err() != nil:
		return &Failure{Reason: "timeout", Message: "The run took longer than its timeout.", Fault: FaultOurs, RetryHelps: true}
	case db.Unavailable(err):
		return &Failure{Reason: "database_unavailable", Message: "The database was not available.", Fault: FaultDependency, RetryHelps: true}
	}
	return &Failure{Reason: "internal_error", Message: "Internal error. The log of the backend that ran it has the text.", Fault: FaultOurs, RetryHelps: true}
}

// Backoff is how long an item waits after so many failures in a row: 1 s, then
// twice as long each time up to 10 min, and a quarter of that at random on top.
func Backoff(failures int) time.Duration {
	wait := longestBackoff
	if failures < 11 {
		wait = min(wait, firstBackoff<<max(0, failures-1))
	}
	return wait + rand.N(wait/4)
}

// survey brings the items of a policy in line with its objects: whatever was not
// recorded is found here. New items are spread over a third of the interval.
func (r *Reconciler) survey(ctx context.Context, p *Policy) (Outcome, error) {
	const page = 1000
	for after := uuid.Nil; ; {
		ids, err := p.Objects(ctx, after, page)
		if err != nil {
			return Outcome{}, fmt.Errorf("list the objects of %s: %w", p.Name, err)
		}
		last := uuid.Max
		if len(ids) == page {
			last = ids[page-1]
		}
		waits := make([]int64, len(ids))
		for i := range waits {
			waits[i] = spread(p.Interval)
		}
		err = r.db.InTx(ctx, func(tx *db.Tx) error {
			if _, err := tx.Exec(ctx, sqlAddItems, p.Name, ids, waits); err != nil {
				return err
			}
			gone, err := db.Collect[key](ctx, tx.Reader, sqlForgetOthers, p.Name, after, last, append([]uuid.UUID{}, ids...))
			if err != nil || len(gone) == 0 {
				return err
			}
			objects := make([]uuid.UUID, len(gone))
			for i, k := range gone {
				objects[i] = k.ObjectID
			}
			_, err = tx.Exec(ctx, sqlForgetConditions, p.Noun, objects, p.Name)
			return err
		})
		if err != nil {
			return Outcome{}, fmt.Errorf("add the items of %s: %w", p.Name, err)
		}
		if len(ids) < page {
			return Outcome{}, nil
		}
		after = last
	}
}
