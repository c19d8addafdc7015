package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"kloigos/backend/internal/intent"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/store"
)

// request is what is known of the request that is being answered.
type request struct {
	id        string
	client    string // address of the client
	route     string // operation id; "" where none matched
	bearer    *store.Bearer
	hash      []byte             // of the bearer's token
	access    scope.Access       // what the bearer may do, and where
	at        scope.Located      // the workspace that it is about; zeros where it is about none
	workspace string             // how the request names it; "" where it does not
	key       *store.Idempotency // that the client gave; nil: none
	creates   bool               // it adds something
	faults    []api.FieldProblem // that strict found; the rest is looked at before they are told
	// meaning finds bad fields among those whose shape is good; nil where the
	// shape is all there is.
	meaning func(faults []api.FieldProblem) []api.FieldProblem
	quiet   bool   // its success is worth no line in the log
	decoded func() // lets the next large body be decoded; nil: it is a small one
}

type requestKey struct{}

func requestOf(ctx context.Context) *request {
	if r, ok := ctx.Value(requestKey{}).(*request); ok {
		return r
	}
	return &request{}
}

// actor is who asks, for the audit trail.
func actor(ctx context.Context) domain.Actor {
	r := requestOf(ctx)
	who := domain.Actor{Kind: domain.ActorAccount, Address: r.client, RequestID: r.id}
	if r.bearer != nil {
		who.ID, who.Name = r.bearer.AccountID, r.bearer.Account
	}
	return who
}

// transport is what stands around all requests.
type transport struct{ *Server }

// guard stands before Fiber: what Fiber or the router would answer in text, or
// trip over, is refused here as a problem.
func (s transport) guard(next fasthttp.RequestHandler) fasthttp.RequestHandler {
	known := map[string]bool{http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true, http.MethodOptions: true}
	return func(c *fasthttp.RequestCtx) {
		twice := givenTwice(c.Request.Header.RawHeaders())
		switch {
		case ambiguous(c.Request.Header.RawHeaders()):
			refuse(c, problem(http.StatusBadRequest, "bad_request", "It can't be told where this request ends."))
			c.SetConnectionClose() // what follows is of nobody knows whom
		case twice != "":
			refuse(c, problem(http.StatusBadRequest, "bad_request", "The header "+twice+" is given more than once."))
		case !known[string(c.Method())]:
			refuse(c, problem(http.StatusMethodNotAllowed, "method_not_allowed", "This method means nothing here."))
		case !goodURL(string(c.RequestURI())):
			refuse(c, problem(http.StatusBadRequest, "bad_url", "The URL can't be read."))
		default:
			next(c)
		}
	}
}

// ambiguous tells whether two servers in a row may disagree on where a request
// ends, so that one takes for a request of its own what the other takes for the
// end of a body (RFC 9112, 6.3 and 11.2): a length beside chunks or a second
// time, a line that goes on with the next, a line end of another kind.
func ambiguous(headers []byte) bool {
	framing := 0
	for line := range bytes.SplitSeq(headers, []byte("\n")) {
		if len(line) == 0 {
			continue
		}
		if line[0] == ' ' || line[0] == '\t' || line[len(line)-1] != '\r' || bytes.IndexByte(line, '\r') != len(line)-1 {
			return true
		}
		name, _, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) || bytes.EqualFold(name, []byte("Transfer-Encoding")) {
			framing++
		}
	}
	return framing > 1
}

// singleHeaders have one value. Of two, a proxy in front may judge one while
// the other one counts here.
var singleHeaders = []string{"Host", "Authorization", keyHeader, "If-Match", "Content-Type", "Content-Encoding", "Last-Event-ID"}

// givenTwice names one of them that is given more than once; "" if none is.
func givenTwice(headers []byte) string {
	seen := map[string]bool{}
	for line := range bytes.SplitSeq(headers, []byte("\n")) {
		name, _, _ := bytes.Cut(line, []byte(":"))
		for _, header := range singleHeaders {
			if !strings.EqualFold(string(name), header) {
				continue
			}
			if seen[header] {
				return header
			}
			seen[header] = true
		}
	}
	return ""
}

func goodURL(raw string) bool {
	u, err := url.ParseRequestURI(raw)
	if err != nil {
		return false
	}
	_, err = url.ParseQuery(u.RawQuery)
	return err == nil
}

func refuse(c *fasthttp.RequestCtx, p *api.Problem) {
	p.Instance = uuid.NewString()
	c.Response.Reset()
	c.SetStatusCode(p.Status)
	c.SetContentType(problemType)
	c.SetBody(encode(p))
}

// enter is around every request: who asks from where, under which id, how it
// ended, and that a panic ends nothing but this one request.
func (s transport) enter(c *fiber.Ctx) (err error) {
	began := time.Now()
	r := &request{id: uuid.NewString(), client: s.clientAddress(c)}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), requestKey{}, r), requestTimeout)
	defer cancel()
	c.SetUserContext(ctx)
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("panic", "request_id", r.id, "method", c.Method(), "path", c.Path(), "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
			c.Response().Reset()
			err = s.write(c, r.id, problem(http.StatusInternalServerError, "internal", internalDetail))
		}
		s.finish(c, r, began)
	}()
	if err := c.Next(); err != nil {
		return s.write(c, r.id, fromFiber(err))
	}
	return nil
}

func (s transport) finish(c *fiber.Ctx, r *request, began time.Time) {
	h := &c.Response().Header
	h.Set("X-Request-Id", r.id)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	if len(h.Peek("Cache-Control")) == 0 {
		h.Set("Cache-Control", "no-store")
	}
	took, status := time.Since(began), c.Response().StatusCode()
	s.metrics.answered(r.route, status, took)
	level, account := slog.LevelInfo, ""
	if status >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	if r.quiet && status < http.StatusMultipleChoices {
		level = slog.LevelDebug
	}
	if r.bearer != nil {
		account = r.bearer.Account
	}
	// The query stays out: it is the client's text, and of no use here.
	s.log.Log(c.UserContext(), level, "request", "request_id", r.id, "method", c.Method(), "path", c.Path(), "route", r.route, "status", status,
		"duration_ms", took.Milliseconds(), "client", r.client, "account", account)
}

// broken answers what never became a request: a header or body over its limit,
// one that came too slowly, one that is not HTTP.
func (s transport) broken(c *fiber.Ctx, err error) error {
	id := uuid.NewString()
	p := fromFiber(err)
	s.log.Info("request refused", "request_id", id, "status", p.Status, "client", c.Context().RemoteAddr().String())
	return s.write(c, id, p)
}

func (s *Server) write(c *fiber.Ctx, id string, p *api.Problem) error {
	p.Instance = id
	c.Status(p.Status)
	c.Set(fiber.HeaderContentType, problemType)
	return c.Send(encode(p))
}

// callOf is who asks, in which scope and under which key.
func callOf(ctx context.Context) intent.Call { return intent.Call{Call: CallOf(ctx)} }
