package testkit

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Scrape reads a registry as a monitoring system would: values by their series,
// as in `name{label="value"}`, with labels in their order by name.
func Scrape(t testing.TB, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	answer := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	return Series(t, answer.Body.String())
}

// Series reads the text that a scrape answered.
func Series(t testing.TB, text string) map[string]float64 {
	t.Helper()
	series := map[string]float64{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		at := strings.LastIndexByte(line, ' ')
		v, err := strconv.ParseFloat(line[at+1:], 64)
		if err != nil {
			t.Fatalf("a series that can't be read: %q", line)
		}
		series[line[:at]] = v
	}
	return series
}
