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

	"github.com/prometheus/client_golang/prometheus"

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

// Retention is how long what people may still want to read is kept; 0: for
// ever.
type Retention struct {
	Logs   time.Duration // of jobs, from their end
	Events time.Duration
}

// Policies is every policy that needs nothing but the database.
func Policies(keep Retention) []Policy {
	all := []Policy{expiredTokens, oldLogins, expiredIdempotencyKeys, oldPlans, clockWentBack}
	if keep.Logs > 0 {
		all = append(all, oldJobLogs(keep.Logs))
	}
	if keep.Events > 0 {
		all = append(all, oldEvents(keep.Events))
	}
	return all
}

// NotReconciled lists, with the reason, what no policy looks at on purpose.
var NotReconciled = map[string]string{
	"events":            "an audit trail is only ever added to, unless an operator sets how long it is kept",
	"jobs":              "what was done stays known after its log is gone; a row is small",
	"playbook versions": "a version never changes once it is stored; only what ansible-lint says of it is added",
	"uids":              "a UID stays given until it is given again, after a wipe",
}

// metrics is what the policies of one backend count.
type metrics struct {
	runs    *prometheus.CounterVec
	changed *prometheus.CounterVec
}

func newMetrics(r *prometheus.Registry) *metrics {
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_policy_runs_total", Help: "Runs of the reconciler's policies: ok or failed.",
		}, []string{"policy", "result"}),
		changed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_policy_changes_total", Help: "Things that the reconciler's policies changed or deleted.",
		}, []string{"policy"}),
	}
	r.MustRegister(m.runs, m.changed)
	return m
}

// Run runs every policy until ctx is done, and counts in the registry.
func Run(ctx context.Context, db *store.DB, policies []Policy, log *slog.Logger, registry *prometheus.Registry) {
	m := newMetrics(registry)
	for _, p := range policies { // or the first failure, or change, is no increase
		m.runs.WithLabelValues(p.Name, "failed")
		m.runs.WithLabelValues(p.Name, "ok")
		m.changed.WithLabelValues(p.Name)
	}
	var all sync.WaitGroup
	for _, p := range policies {
		all.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case <-time.After(p.Interval + rand.N(p.Jitter)):
				}
				m.once(ctx, db, p, log)
			}
		})
	}
	all.Wait()
}

func (m *metrics) once(ctx context.Context, db *store.DB, p Policy, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, p.Timeout)
	defer cancel()
	changed, err := p.Run(ctx, db)
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.runs.WithLabelValues(p.Name, result).Inc()
	m.changed.WithLabelValues(p.Name).Add(float64(changed))
	switch {
	case err != nil && ctx.Err() == nil:
		log.Error("policy failed", "policy", p.Name, "error", err)
	case changed > 0:
		log.Info("policy made changes", "policy", p.Name, "changed", changed)
	}
}
