package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/internal/bundle/judge"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

const (
	problemType    = "application/problem+json"
	maxTold        = 100 // bad fields in one problem
	internalDetail = "Something went wrong inside. The instance of this problem stands in the backend's log."
)

func problem(status int, code, detail string) *api.Problem {
	return &api.Problem{Type: "urn:kloigos:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

func invalid(fields ...api.FieldProblem) *api.Problem {
	p := problem(http.StatusUnprocessableEntity, "invalid", "The request has bad fields.")
	p.Errors = fields
	return p
}

func badField(field, message string) *api.Problem {
	return invalid(api.FieldProblem{Field: field, Message: message})
}

// joinProblems makes one problem of several bad fields; nil if there is none.
func joinProblems(errs ...error) error {
	var fields []api.FieldProblem
	for _, err := range errs {
		var p *api.Problem
		if errors.As(err, &p) {
			fields = append(fields, p.Errors...)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return invalid(fields...)
}

func withHeader(err error, name, value string) error {
	return huma.ErrorWithHeaders(err, http.Header{name: {value}})
}

// asProblem is the one place where errors become answers. What it does not
// know is an opaque 500; the text of such an error goes to the log only.
func (s *Server) asProblem(ctx context.Context, err error) error {
	var (
		known    *api.Problem
		bad      *domain.Invalid
		conflict *domain.Conflict
		full     *intent.NoCapacity
		stale    *intent.PlanStale
		blocked  *intent.LoginBlocked
		p        *api.Problem
		header   string // Retry-After, in seconds
	)
	switch {
	case errors.As(err, &known):
		known.Instance = requestOf(ctx).id
		return err
	case errors.As(err, &bad):
		p = invalid()
		for _, f := range bad.Fields {
			p.Errors = append(p.Errors, api.FieldProblem{Field: f.Field, Message: f.Problem})
		}
		p.Errors = oneEach(p.Errors)
	case errors.As(err, &full):
		p = problem(http.StatusConflict, "no_capacity", "No unit fits what you ask for.")
		p.Placement = presentWhyNot(full.Why)
	case errors.As(err, &stale):
		p = problem(http.StatusConflict, domain.ErrCodePlanStale, strings.Join(stale.Why, " "))
		p.Moved = stale.Moved
	case errors.As(err, &conflict) && conflict.Code == "version_mismatch":
		p = problem(http.StatusPreconditionFailed, conflict.Code, sentence(conflict.Detail))
	case errors.As(err, &conflict):
		p = problem(http.StatusConflict, conflict.Code, sentence(conflict.Detail))
	case errors.Is(err, domain.ErrNotFound):
		p = problem(http.StatusNotFound, "not_found", "There is no such object, or you may not see it.")
	case errors.Is(err, scope.ErrSecondFactor):
		p = secondFactorRequired()
	case errors.Is(err, intent.ErrSessionRequired):
		p = sessionRequired("Only a session makes API tokens: log in with your password.")
	case errors.Is(err, intent.ErrBadLogin):
		p = problem(http.StatusUnauthorized, "bad_login", "There is no account with this name and password.")
	case errors.As(err, &blocked):
		seconds := int(math.Ceil(blocked.For.Seconds()))
		p = problem(http.StatusTooManyRequests, "login_blocked", fmt.Sprintf("Too many logins failed under this name; try again in %d s.", seconds))
		header = strconv.Itoa(seconds)
	case errors.Is(err, intent.ErrTooManyLogins):
		p, header = problem(http.StatusTooManyRequests, "too_many_logins", "Too many logins are waiting; try again in a moment."), "2"
	case errors.Is(err, store.ErrCommitUnknown):
		p, header = problem(http.StatusServiceUnavailable, "commit_unknown",
			"The database did not say whether it took the change. Ask again with the same Idempotency-Key: it is done once."), "2"
	case errors.Is(err, judge.ErrUnavailable):
		p = problem(http.StatusServiceUnavailable, "no_judge",
			"This backend cannot check playbooks: Ansible or bubblewrap is not installed here, or does not run. Install them as the documentation says, or ask a backend that has them.")
		header = "60"
	case errors.Is(err, judge.ErrTooSlow):
		p = problem(http.StatusServiceUnavailable, "judge_too_slow",
			"The templates of this playbook could not be judged in time. Make them smaller, or try again in a moment.")
		header = "5"
	case errors.Is(err, context.DeadlineExceeded), store.Unavailable(err):
		p, header = problem(http.StatusServiceUnavailable, "unavailable", "The database does not answer; try again in a moment."), "5"
	default:
		p = problem(http.StatusInternalServerError, "internal", internalDetail)
	}
	p.Instance = requestOf(ctx).id
	if p.Status >= http.StatusInternalServerError {
		s.log.Error("request failed", "request_id", p.Instance, "route", requestOf(ctx).route, "error", err)
	}
	if header != "" {
		return withHeader(p, "Retry-After", header)
	}
	return p
}

func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.TrimSuffix(s[1:], ".") + "."
}

func presentWhyNot(w domain.WhyNot) *api.WhyNot {
	out := &api.WhyNot{Units: w.Units, Ruled: []api.RuledOut{}, Nearest: w.Nearest}
	for _, r := range w.RuledOut {
		out.Ruled = append(out.Ruled, api.RuledOut{Filter: r.Filter, Units: r.Units, Why: r.Why})
	}
	return out
}

// answer ends a request in a middleware.
func (s *Server) answer(c huma.Context, err error) {
	var p *api.Problem
	if !errors.As(err, &p) {
		err = s.asProblem(c.Context(), err)
		_ = errors.As(err, &p) // it always is one
	}
	p.Instance = requestOf(c.Context()).id
	var h huma.HeadersError
	if errors.As(err, &h) {
		for name, values := range h.GetHeaders() {
			for _, v := range values {
				c.SetHeader(name, v)
			}
		}
	}
	c.SetHeader("Content-Type", problemType)
	c.SetStatus(p.Status)
	_, _ = c.BodyWriter().Write(encode(p))
}

func encode(p *api.Problem) []byte {
	b, err := json.Marshal(p)
	if err != nil { // a problem is strings and numbers
		return []byte(`{"code":"internal","status":500}`)
	}
	return b
}

// fromFiber translates what Fiber and fasthttp refuse.
func fromFiber(err error) *api.Problem {
	var p *api.Problem
	if errors.As(err, &p) {
		return p
	}
	status := http.StatusInternalServerError
	var f *fiber.Error
	if errors.As(err, &f) {
		status = f.Code
	}
	switch status {
	case http.StatusNotFound:
		return problem(status, "no_route", "There is nothing at this path.")
	case http.StatusMethodNotAllowed:
		return problem(status, "method_not_allowed", "This path does not take this method.")
	case http.StatusRequestEntityTooLarge:
		return problem(status, "too_large", "The body is larger than 1 MiB, or than 8 KiB without a valid token.")
	case http.StatusRequestHeaderFieldsTooLarge:
		return problem(status, "headers_too_large", "The header is larger than 16 KiB.")
	case http.StatusRequestTimeout:
		return problem(status, "too_slow", "The request did not arrive in time.")
	}
	if status >= http.StatusInternalServerError {
		return problem(http.StatusInternalServerError, "internal", internalDetail)
	}
	return problem(http.StatusBadRequest, "bad_request", "This is not a request that can be read.")
}

var humaErrors sync.Once

// useProblems makes huma, whose constructor for errors is a variable of its
// package, answer with our problems.
func useProblems() {
	humaErrors.Do(func() {
		huma.ValidateStrictCasing = true // "Name" is not "name"
		huma.NewError = fromHuma
		huma.NewErrorWithContext = func(c huma.Context, status int, message string, errs ...error) huma.StatusError {
			p := fromHuma(status, message, errs...)
			if known, ok := p.(*api.Problem); ok {
				if known.Code == "invalid" {
					known.Errors = complete(c.Context(), known.Errors)
				}
				known.Instance = requestOf(c.Context()).id
			}
			return p
		}
	})
}

func fromHuma(status int, message string, errs ...error) huma.StatusError {
	switch status {
	case http.StatusUnprocessableEntity, http.StatusBadRequest:
		p := invalid()
		for i, err := range errs {
			if i == maxTold {
				p.Errors = append(p.Errors, api.FieldProblem{Message: fmt.Sprintf("and %d more", len(errs)-i)})
				break
			}
			p.Errors = append(p.Errors, fieldOf(err))
		}
		if len(errs) == 0 {
			p.Errors = append(p.Errors, api.FieldProblem{Message: message})
		}
		return p
	case http.StatusNotAcceptable:
		return problem(status, "not_acceptable", "The answer is application/json only.")
	case http.StatusInternalServerError:
		return problem(status, "internal", internalDetail)
	default:
		return problem(status, strings.ReplaceAll(strings.ToLower(http.StatusText(status)), " ", "_"), message)
	}
}

var required = regexp.MustCompile(`^expected required property (\S+) to be present$`)

// fieldOf turns huma's words on one field into ours. The value that was sent
// is left out: it may be a secret.
func fieldOf(err error) api.FieldProblem {
	var d *huma.ErrorDetail
	if !errors.As(err, &d) {
		return api.FieldProblem{Message: "can't be read"}
	}
	field := d.Location
	for _, place := range []string{"body", "query", "path", "header"} {
		if field == place {
			field = ""
			break
		}
		if rest, ok := strings.CutPrefix(field, place+"."); ok {
			field = rest
			break
		}
	}
	if m := required.FindStringSubmatch(d.Message); m != nil {
		if field != "" {
			field += "."
		}
		return api.FieldProblem{Field: field + m[1], Message: "is required"}
	}
	switch {
	case d.Message == "unexpected property":
		return api.FieldProblem{Field: field, Message: "is no field of this request"}
	case strings.HasPrefix(d.Message, "json:"):
		return api.FieldProblem{Field: field, Message: "does not have the shape that is expected"} // the text names Go types
	}
	for _, w := range words {
		if rest, ok := strings.CutPrefix(d.Message, w[0]); ok {
			return api.FieldProblem{Field: field, Message: w[1] + rest}
		}
	}
	return api.FieldProblem{Field: field, Message: d.Message}
}

// words puts the beginnings of huma's messages in ours; the first that fits.
var words = [][2]string{
	{"expected value to be one of", "must be one of"},
	{"expected string to", "must"},
	{"expected string", "must be a string"},
	{"expected number", "must be a number"},
	{"expected integer", "must be a whole number"},
	{"invalid integer", "must be a whole number"},
	{"expected boolean", "must be true or false"},
	{"invalid boolean", "must be true or false"},
	{"expected array length", "must have a number of entries"},
	{"expected array", "must be an array"},
	{"expected object", "must be an object"},
	{"expected length", "must have a length"},
}
