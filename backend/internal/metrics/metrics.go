// Package metrics owns what a backend tells a monitoring system beside what its
// parts count themselves: the state of the queue, which is asked of the
// database when somebody scrapes, and of the connection to it. It changes
// nothing.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"kloigos/backend/internal/store"
)

// NewRegistry makes the registry of a process: its memory, its CPU time, its
// files, and its version.
func NewRegistry(version string) *prometheus.Registry {
	r := prometheus.NewRegistry()
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kloigos_build_info", Help: "1, with the version of this backend.", ConstLabels: prometheus.Labels{"version": version},
	})
	build.Set(1)
	r.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// Watch counts what becomes of transactions and shows how the pools of
// connections, by what they are for, and the queue stand. Called once, before
// they are used by more than one goroutine.
func Watch(r *prometheus.Registry, requests, jobs *store.DB) {
	retries := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kloigos_database_retries_total", Help: "Transactions that were begun again because they met others (40001, 40P01).",
	})
	unknown := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "kloigos_database_unknown_commits_total", Help: "COMMITs whose answer was lost; what they did is settled by idempotency keys and leases.",
	})
	all := pools{"requests": requests, "jobs": jobs}
	for _, db := range all {
		db.OnRetry(retries.Inc)
		db.OnCommitUnknown(unknown.Inc)
	}
	r.MustRegister(retries, unknown, all, newQueue(requests))
}

var (
	connections = prometheus.NewDesc("kloigos_database_connections", "Connections of the pool for requests and of the one for jobs: used, idle, and the most there may be.", []string{"pool", "state"}, nil)
	waits       = prometheus.NewDesc("kloigos_database_connection_waits_total", "How often a connection of a pool had to be waited for.", []string{"pool"}, nil)
)

type pools map[string]*store.DB

// Describe implements prometheus.Collector.
func (p pools) Describe(c chan<- *prometheus.Desc) { c <- connections; c <- waits }

// Collect implements prometheus.Collector.
func (p pools) Collect(c chan<- prometheus.Metric) {
	for pool, db := range p {
		s := db.Connections()
		for state, n := range map[string]int32{"used": s.Used, "idle": s.Idle, "max": s.Max} {
			c <- prometheus.MustNewConstMetric(connections, prometheus.GaugeValue, float64(n), pool, state)
		}
		c <- prometheus.MustNewConstMetric(waits, prometheus.CounterValue, float64(s.Waits), pool)
	}
}

// Memory shows what jobs can still take here.
func Memory(r *prometheus.Registry, available func() (int64, error)) {
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "kloigos_memory_available_bytes", Help: "Memory that jobs can still take here: of the machine, or of this backend's cgroup where that has less.",
	}, func() float64 {
		n, _ := available()
		return float64(n)
	}))
}
