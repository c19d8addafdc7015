package queue

import (
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// metrics is what the queue of one backend counts. Kinds come from the joint
// table and codes from the domain, so that nobody outside can make new series.
type metrics struct {
	claims     *prometheus.CounterVec
	takeovers  *prometheus.CounterVec
	ends       *prometheus.CounterVec
	took       *prometheus.HistogramVec
	stops      prometheus.Histogram
	misses     *prometheus.CounterVec
	logRows    prometheus.Counter
	logsLost   prometheus.Counter
	heldBack   prometheus.Counter
	claimFails prometheus.Counter
	running    prometheus.Gauge
	slots      prometheus.Gauge
}

// Why a lease was missed.
const (
	missedUnrenewed = "unrenewed" // the database could not be asked in time
	missedTaken     = "taken"     // it was another worker's already
)

func newMetrics(r *prometheus.Registry, slots int) *metrics {
	m := &metrics{
		claims: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_job_claims_total", Help: "Attempts of queued jobs that this backend began.",
		}, []string{"kind"}),
		takeovers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_job_takeovers_total", Help: "Jobs that this backend took over because their worker let the lease run out.",
		}, []string{"kind"}),
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_job_attempts_ended_total",
			Help: "Ends of attempts: succeeded, failed, cancelled, retry (tried again later), handed_over (goes on elsewhere), put_back (its host was just taken by another job), lost (another worker has it), unwritten (the end could not be written). code is why.",
		}, []string{"kind", "end", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kloigos_job_attempt_seconds", Help: "How long attempts took.",
			Buckets: []float64{.05, .25, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800},
		}, []string{"kind", "end"}),
		stops: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kloigos_job_stop_seconds", Help: "From the moment in which a worker saw that a person stopped its job until the work had ended.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 60},
		}),
		misses: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_job_lease_misses_total", Help: "Leases that were given up: unrenewed, because the database could not be asked in time, or taken by another worker already.",
		}, []string{"why"}),
		logRows: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kloigos_job_log_rows_total", Help: "Entries written into the logs of jobs.",
		}),
		logsLost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kloigos_job_logs_lost_total", Help: "Attempts whose log could not be written any more.",
		}),
		heldBack: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kloigos_job_claims_held_back_total", Help: "Looks at the queue for fewer jobs than there were free slots, because memory was short.",
		}),
		claimFails: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "kloigos_job_claim_failures_total", Help: "Looks at the queue that the database did not answer.",
		}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "kloigos_jobs_running", Help: "Jobs that run on this backend now."}),
		slots:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "kloigos_job_slots", Help: "Jobs that may run on this backend at once (KLOIGOS_WORKERS)."}),
	}
	r.MustRegister(m.claims, m.takeovers, m.ends, m.took, m.stops, m.misses, m.logRows, m.logsLost, m.heldBack, m.claimFails, m.running, m.slots)
	m.slots.Set(float64(slots))
	m.begin()
	return m
}

// begin makes the series that somebody may wait for: of one that appears with
// its first event, that event is no increase.
func (m *metrics) begin() {
	m.misses.WithLabelValues(missedUnrenewed)
	m.misses.WithLabelValues(missedTaken)
	for _, j := range domain.JointTable {
		kind := string(j.Kind)
		m.claims.WithLabelValues(kind)
		m.takeovers.WithLabelValues(kind)
		for _, code := range domain.JobErrorCodes() {
			m.ends.WithLabelValues(kind, Failed.label(), code)
		}
		for _, end := range []End{Succeeded, Cancelled, HandOver, PutBack} {
			code := ""
			if end == Cancelled {
				code = domain.ErrCodeCancelled
			}
			m.ends.WithLabelValues(kind, end.label(), code)
		}
		for _, code := range []string{domain.ErrCodeUnreachable, domain.ErrCodeFenceUnchecked, domain.ErrCodeKilled} {
			m.ends.WithLabelValues(kind, Retry.label(), code)
		}
	}
}

func (m *metrics) claimed(c store.Claim) {
	counter := m.claims
	if c.Takeover {
		counter = m.takeovers
	}
	counter.WithLabelValues(string(c.Kind)).Inc()
}

func (m *metrics) ended(kind domain.JobKind, end string, why *domain.JobError, took time.Duration) {
	m.ends.WithLabelValues(string(kind), end, codeOf(why)).Inc()
	m.took.WithLabelValues(string(kind), end).Observe(took.Seconds())
}

// codeOf is a code that the domain explains, "other", or "" for none.
func codeOf(why *domain.JobError) string {
	switch {
	case why == nil:
		return ""
	case domain.NextStep(why.Code) == "":
		return "other"
	default:
		return why.Code
	}
}

// label is the end as a label's value.
func (e End) label() string { return strings.ReplaceAll(e.String(), " ", "_") }
