package httpapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"kloigos/backend/api"
)

const readyTimeout = 3 * time.Second

// readiness is the answer of /readyz.
type readiness struct {
	Ready  bool            `json:"ready"`
	Checks map[string]bool `json:"checks"`
}

// registerHealth makes what a load balancer and a monitoring system ask. These
// are not part of the API's contract, and lie outside of its prefix.
func (s *Server) registerHealth() {
	s.app.Get("/healthz", func(c *fiber.Ctx) error { return c.SendString("ok\n") })
	s.app.Get("/readyz", s.readyz)
	serve := adaptor.HTTPHandler(promhttp.HandlerFor(s.cfg.Metrics, promhttp.HandlerOpts{}))
	s.app.Get("/metrics", s.scraper, serve)
}

func (s *Server) readyz(c *fiber.Ctx) error {
	ctx, cancel := context.WithTimeout(c.UserContext(), readyTimeout)
	defer cancel()
	out := readiness{Ready: !s.isClosing(), Checks: map[string]bool{"serving": !s.isClosing()}}
	for check, err := range s.checks(ctx) {
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
func (s *Server) checks(ctx context.Context) map[string]error {
	found := map[string]error{databaseCheck: s.db.Ping(ctx)}
	for _, check := range s.cfg.Ready {
		found[check.Name] = check.Run(ctx)
	}
	return found
}

// only lets a request through whose bearer has a permission; for what lies
// outside of the table of routes.
func (s *Server) only(permission string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		return s.letIn(c, s.admit(c.UserContext(), permission, c.Get(fiber.HeaderAuthorization)))
	}
}

// letIn goes on with a request, or says why not.
func (s *Server) letIn(c *fiber.Ctx, err error) error {
	if err == nil {
		return c.Next()
	}
	var p *api.Problem
	if !errors.As(err, &p) {
		return err
	}
	if p.Status == http.StatusUnauthorized {
		c.Set(fiber.HeaderWWWAuthenticate, `Bearer realm="kloigos"`)
	}
	return s.write(c, requestOf(c.UserContext()).id, p)
}
