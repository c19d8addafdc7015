package metrics

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/recent"
	"kloigos/backend/internal/store"
)

const (
	// However many scrape, the database is asked this often by one backend.
	lookEvery = 5 * time.Second
	// A scrape does not wait longer than this for the database.
	lookTimeout = 2 * time.Second
)

var (
	queueKnown   = prometheus.NewDesc("kloigos_queue_known", "1 if the database told how the queue stands; 0, and nothing else of the queue, if not.", nil, nil)
	queueJobs    = prometheus.NewDesc("kloigos_queue_jobs", "Jobs that have not ended, in the whole installation: queued (may be claimed), delayed (queued for a later try), running, cancelling. At most 100,000 queued ones are counted.", []string{"kind", "state"}, nil)
	queueOldest  = prometheus.NewDesc("kloigos_queue_oldest_seconds", "Age of the oldest of them: since it may be claimed, or since its first attempt began.", []string{"kind", "state"}, nil)
	queueOverdue = prometheus.NewDesc("kloigos_queue_overdue_leases", "Jobs whose lease has run out and that nobody took over yet.", nil, nil)
	queuePaused  = prometheus.NewDesc("kloigos_queue_paused", "1 while the queue is paused for maintenance.", nil, nil)
	alive        = prometheus.NewDesc("kloigos_backends_alive", "Backends with this role that were seen within 30 s, in the whole installation.", []string{"role"}, nil)
)

// queue is a collector of what only the database knows.
type queue struct {
	looks recent.Reads[struct{}, picture]
}

// picture is what one look found.
type picture struct {
	backlog []store.Backlog
	paused  bool
	roles   map[string]int
}

func newQueue(db *store.DB) *queue {
	return &queue{recent.Reads[struct{}, picture]{For: lookEvery, Within: lookTimeout, Read: func(ctx context.Context, _ struct{}) (p picture, err error) {
		if p.backlog, err = db.Backlog(ctx); err != nil {
			return p, err
		}
		pause, err := db.QueuePause(ctx)
		if err != nil {
			return p, err
		}
		p.paused = pause != nil
		backends, err := db.Backends(ctx)
		p.roles = rolesOf(backends)
		return p, err
	}}}
}

func rolesOf(backends []store.Backend) map[string]int {
	roles := map[string]int{"api": 0, "worker": 0, "reconciler": 0}
	for _, b := range backends {
		for role := range strings.SplitSeq(b.Roles, ",") {
			if _, known := roles[role]; known && b.Alive {
				roles[role]++
			}
		}
	}
	return roles
}

// Describe implements prometheus.Collector.
func (q *queue) Describe(c chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{queueKnown, queueJobs, queueOldest, queueOverdue, queuePaused, alive} {
		c <- d
	}
}

// Collect implements prometheus.Collector. What can't be known is left out: an
// old number would hide that the database is away.
func (q *queue) Collect(c chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		c <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	p, err := q.looks.Get(context.Background(), struct{}{})
	if err != nil {
		gauge(queueKnown, 0)
		return
	}
	gauge(queueKnown, 1)
	gauge(queuePaused, float(p.paused))
	for role, n := range p.roles {
		gauge(alive, float64(n), role)
	}
	rows, overdue := complete(p.backlog)
	gauge(queueOverdue, float64(overdue))
	for at, b := range rows {
		gauge(queueJobs, float64(b.Jobs), at.kind, at.state)
		gauge(queueOldest, b.OldestSeconds, at.kind, at.state)
	}
}

type place struct{ kind, state string }

// complete has a row for each kind and state, so that none is a gap in a graph.
func complete(backlog []store.Backlog) (rows map[place]store.Backlog, overdue int64) {
	rows = map[place]store.Backlog{}
	for _, j := range domain.JointTable {
		for _, state := range []string{"queued", "delayed", string(domain.JobRunning), string(domain.JobCancelling)} {
			rows[place{string(j.Kind), state}] = store.Backlog{}
		}
	}
	for _, b := range backlog {
		rows[place{b.Kind, b.State}] = b
		overdue += b.Overdue
	}
	return rows, overdue
}

func float(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
