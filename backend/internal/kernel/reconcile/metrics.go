package reconcile

import "github.com/prometheus/client_golang/prometheus"

// metrics is what one reconciler counts.
type metrics struct {
	runs    *prometheus.CounterVec
	changed *prometheus.CounterVec
	lag     *prometheus.HistogramVec
}

func newMetrics(r *prometheus.Registry, policies []Policy) *metrics {
	m := &metrics{
		runs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_policy_runs_total", Help: "Runs of the reconciler's policies: ok or failed.",
		}, []string{"policy", "result"}),
		changed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_policy_changes_total", Help: "Things that the reconciler's policies changed or deleted.",
		}, []string{"policy"}),
		lag: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kloigos_policy_lag_seconds", Help: "How late items of policies are: claim is from due to claimed, run from claimed to its end.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 10, 60, 300},
		}, []string{"policy", "stage"}),
	}
	for _, p := range policies { // or the first failure, or change, is no increase
		m.runs.WithLabelValues(p.Name, "failed")
		m.runs.WithLabelValues(p.Name, "ok")
		m.changed.WithLabelValues(p.Name)
		m.lag.WithLabelValues(p.Name, "claim")
		m.lag.WithLabelValues(p.Name, "run")
	}
	r.MustRegister(m.runs, m.changed, m.lag)
	return m
}
