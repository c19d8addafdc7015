package httpapi

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/api"
)

const (
	// scrapeTimeout is what a scrape waits for the database at most, once for
	// who asks and once for what is told; Prometheus waits for 10 s.
	scrapeTimeout = 2 * time.Second
	// scrapedBefore is for how long one who was let in to the metrics is let in
	// again while the database does not answer, which alone knows tokens: it is
	// then that a monitoring system must be told.
	scrapedBefore = 24 * time.Hour
)

// scrapers are the tokens, by their hashes, that were let in to the metrics, and
// when.
type scrapers struct {
	mu   sync.Mutex
	seen map[string]time.Time
}

func (s *scrapers) note(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]time.Time{}
	}
	maps.DeleteFunc(s.seen, func(_ string, at time.Time) bool { return time.Since(at) > scrapedBefore })
	s.seen[hash] = time.Now()
}

func (s *scrapers) forget(hash string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.seen, hash)
}

func (s *scrapers) known(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.seen[hash]
	return ok && time.Since(at) <= scrapedBefore
}

// scraper lets a monitoring system through.
func (s healthHandlers) scraper(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), scrapeTimeout)
	defer cancel()
	authorization := c.Get(fiber.HeaderAuthorization)
	hash := string(bearerHash(authorization))
	err := s.admit(ctx, "installation.system:read", authorization)
	var p *api.Problem
	switch {
	case err == nil:
		s.scrapers.note(hash)
	case !errors.As(err, &p) || p.Status != http.StatusServiceUnavailable:
		s.scrapers.forget(hash)
	case s.scrapers.known(hash):
		err = nil
	}
	return s.letIn(c, err)
}

var readyDesc = prometheus.NewDesc("kloigos_ready",
	"1 if a check of /readyz holds. Without its database this backend can't know the others, and tells of that one alone.", []string{"check"}, nil)

// Describe implements prometheus.Collector.
func (r *ready) Describe(c chan<- *prometheus.Desc) { c <- readyDesc }

// Collect implements prometheus.Collector: whoever scrapes is told what /readyz
// tells a load balancer.
func (r *ready) Collect(c chan<- prometheus.Metric) {
	found := r.look(context.Background())
	if found[databaseCheck] != nil {
		c <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, 0, databaseCheck)
		return
	}
	for check, why := range found {
		holds := 1.0
		if why != nil {
			holds = 0
		}
		c <- prometheus.MustNewConstMetric(readyDesc, prometheus.GaugeValue, holds, check)
	}
}
