package httpapi

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what the API counts. Routes are operation ids, so that no client
// can make new series.
type metrics struct {
	requests *prometheus.CounterVec
	took     *prometheus.HistogramVec
	logins   *prometheus.CounterVec
	viewers  prometheus.Gauge
	limited  *prometheus.CounterVec
	decided  prometheus.Histogram
}

func newMetrics(r *prometheus.Registry) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_http_requests_total", Help: "Requests answered.",
		}, []string{"route", "status"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "kloigos_http_request_seconds", Help: "Time until the answer was ready, streams until they began.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_logins_total", Help: "Logins, by whether the password was right.",
		}, []string{"ok"}),
		limited: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kloigos_http_limited_total", Help: "Requests refused for their number, by what is limited: account, key, address.",
		}, []string{"by"}),
		decided: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "kloigos_authorization_seconds", Help: "Time until it is decided whether the bearer of a request may do what it asks for.",
			Buckets: []float64{.00002, .00005, .0001, .0002, .0003, .0005, .001, .002, .005, .01, .05, .25, 1},
		}),
		viewers: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "kloigos_log_viewers", Help: "Viewers who follow a job now.",
		}),
	}
	most := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "kloigos_log_viewers_max", Help: "Viewers that this backend takes at once.",
	})
	most.Set(maxViewers)
	r.MustRegister(m.requests, m.took, m.logins, m.viewers, m.limited, m.decided, most)
	m.logins.WithLabelValues("true") // there before the first one, or that is no increase
	m.logins.WithLabelValues("false")
	for _, by := range []string{"account", "key", "address"} {
		m.limited.WithLabelValues(by)
	}
	return m
}

func (m *metrics) answered(route string, status int, took time.Duration) {
	if route == "" {
		route = "other"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.took.WithLabelValues(route).Observe(took.Seconds())
}

func (m *metrics) login(ok bool) { m.logins.WithLabelValues(strconv.FormatBool(ok)).Inc() }
