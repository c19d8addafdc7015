package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
)

// MachineRequest is a request of a program that has no account, such as an agent on a host.
type MachineRequest struct {
	Client        string // address of the client
	Authorization string
	Body          []byte // of strangersBody at most; gone when the handler returns
}

// Machine registers a request that programs without an account make: it is not in the table of routes, since no role has
// anything to do with it, and the handler itself sees who asks. What it returns is sent as JSON, and bytes as they are. The body is read as for any stranger. What succeeds leaves no
// line in the log: it comes from each host every few seconds.
func (s *Server) Machine(id, path string, handler func(ctx context.Context, in MachineRequest) (any, error)) {
	s.app.Post(path, func(c *fiber.Ctx) error {
		ctx := c.UserContext()
		r := requestOf(ctx)
		r.route, r.quiet = id, true
		out, err := handler(ctx, MachineRequest{Client: r.client, Authorization: c.Get(fiber.HeaderAuthorization), Body: c.Body()})
		if err != nil {
			var known *api.Problem
			if !errors.As(s.asProblem(ctx, err), &known) {
				return err
			}
			return s.write(c, r.id, known)
		}
		if raw, ok := out.([]byte); ok {
			c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
			return c.Send(raw)
		}
		body, err := json.Marshal(out)
		if err != nil {
			return err
		}
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Send(body)
	})
}

// Refuse is a problem that a handler of Machine answers with.
func Refuse(status int, code, detail string) error { return problem(status, code, detail) }

// TooMany is the problem of one who asks too often.
func TooMany() error {
	return problem(http.StatusTooManyRequests, "too_many_requests", "Ask less often.")
}
