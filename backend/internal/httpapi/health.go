package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"runtime/debug"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kloigos/backend/internal/kernel/recent"
)

const (
	// readyTimeout is what the checks may take, and readyAnswer what one waits for
	// them who asks: a load balancer cuts off a server that keeps it waiting.
	readyTimeout, readyAnswer = 3 * time.Second, 500 * time.Millisecond
	// readyFor is how long what was found is answered for while the next look is
	// under way. A database that is slow is slow for all backends: if all said no,
	// it would be as if it were away.
	readyFor = 5 * time.Second
)

// readiness is the answer of /readyz.
type readiness struct {
	Ready  bool            `json:"ready"`
	Checks map[string]bool `json:"checks"`
}

// healthHandlers tell how this backend is.
type healthHandlers struct{ admission }

// register makes what a load balancer and a monitoring system ask. These
// are not part of the API's contract, and lie outside of its prefix.
func (s healthHandlers) register() {
	s.app.Get("/healthz", func(c *fiber.Ctx) error { return c.SendString("ok\n") })
	s.app.Get("/readyz", s.readyz)
	serve := adaptor.HTTPHandler(promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{}))
	s.app.Get("/metrics", s.scraper, serve)
}

func (s healthHandlers) readyz(c *fiber.Ctx) error {
	out := readiness{Ready: !s.isClosing(), Checks: map[string]bool{"serving": !s.isClosing()}}
	for check, err := range s.ready.look(c.UserContext()) {
		out.Checks[check] = err == nil
		if err != nil {
			s.log.Warn("not ready", "check", check, "error", err)
			out.Ready = false
		}
	}
	switch {
	case s.isClosing():
		// HAProxy's word for "give me nothing new" (http-check disable-on-404): a
		// server that is taken for dead has its requests cut, this one answers
		// those that it has.
		c.Status(http.StatusNotFound)
	case !out.Ready:
		c.Status(http.StatusServiceUnavailable)
	}
	return c.JSON(out)
}

// databaseCheck is the name of the check that all others need.
const databaseCheck = "database"

// checks tells of each thing that must hold before this backend takes requests
// why it does not; nil where it does.
func checks(ctx context.Context, s *Server) map[string]error {
	found := map[string]error{databaseCheck: s.cfg.Health.Ping(ctx)}
	for _, check := range s.cfg.Ready {
		found[check.Name] = check.run(ctx)
	}
	return found
}

// run is Run; a panic says no, and ends nothing.
func (c Check) run(ctx context.Context) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return c.Run(ctx)
}

// ready is how the checks stand, for all who ask: they cost no more however
// often anyone does.
type ready struct {
	looks recent.Reads[struct{}, map[string]error]
	mu    sync.Mutex
	last  map[string]error
	at    time.Time // of the last look's end
}

func newReady(s *Server) *ready {
	r := &ready{}
	r.looks = recent.Reads[struct{}, map[string]error]{
		For: readyAnswer, Within: readyTimeout,
		Read: func(ctx context.Context, _ struct{}) (map[string]error, error) {
			found := checks(ctx, s)
			if last := r.recall(); last != nil && ctx.Err() != nil {
				return last, nil // this look came to nothing
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			r.last, r.at = found, time.Now()
			return found, nil
		},
	}
	return r
}

// recall is what was found last; nil if that is too old to be answered.
func (r *ready) recall() map[string]error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if time.Since(r.at) > readyFor {
		return nil
	}
	return r.last
}

// look tells what was found a moment ago, or, where a look takes long, the last
// time; without either it waits for the look.
func (r *ready) look(ctx context.Context) map[string]error {
	last := r.recall()
	if last != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, readyAnswer)
		defer cancel()
	}
	found, late := r.looks.Get(ctx, struct{}{})
	switch {
	case late == nil:
		return found
	case last == nil:
		return map[string]error{databaseCheck: late}
	default:
		return last
	}
}
