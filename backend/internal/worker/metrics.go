package worker

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/domain"
)

// metrics is what the worker of one backend counts. Playbooks have fixed names
// and ends are those of package ansible, so that nobody can make new series.
type metrics struct{ plays *prometheus.HistogramVec }

func newMetrics(r *prometheus.Registry) *metrics {
	m := &metrics{plays: prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "kloigos_play_seconds", Help: "How long plays took, by the job's kind, its playbook, and the end: ok, a failure's code, or error (Ansible could not be run).",
		Buckets: []float64{.5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800},
	}, []string{"kind", "playbook", "end"})}
	r.MustRegister(m.plays)
	return m
}

func (m *metrics) played(kind domain.JobKind, playbook string, out ansible.Outcome, err error, took time.Duration) {
	end := "ok"
	switch {
	case err != nil:
		end = "error"
	case out.Failure != nil:
		end = string(out.Failure.Code)
	}
	m.plays.WithLabelValues(string(kind), playbook, end).Observe(took.Seconds())
}
