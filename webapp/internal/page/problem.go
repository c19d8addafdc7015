package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/ui"
)

// toLogin leads to the login page and, from there, back. A form that was sent is
// kept over the login.
func (a *App) toLogin(c *fiber.Ctx, said string) error {
	if c.Method() == fiber.MethodPost && c.Get("HX-Request") != "true" {
		if kept := keep(c); kept.Path != "" {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(a.Closing), Patience)
			defer cancel()
			return a.Login(&Request{input: input{c}, Ctx: ctx, app: a}, formPage(c), kept)
		}
		return c.Redirect(loginPath(formPage(c), "expired"), fiber.StatusSeeOther)
	}
	next := "/"
	if c.Method() == fiber.MethodGet {
		next = requestURI(c)
	}
	if c.Get("HX-Request") == "true" { // a part was asked for; go back to the whole
		if u, err := url.Parse(c.Get("HX-Current-URL")); err == nil {
			next = u.RequestURI()
		}
		c.Set("HX-Redirect", loginPath(next, said))
		return c.SendStatus(fiber.StatusUnauthorized)
	}
	return c.Redirect(loginPath(next, said), fiber.StatusSeeOther)
}

func loginPath(next, said string) string {
	q := url.Values{}
	if next != "/" {
		q.Set("next", next)
	}
	if said != "" {
		q.Set("because", said)
	}
	if len(q) == 0 {
		return "/login"
	}
	return "/login?" + q.Encode()
}

// Problems returns what an error says of the form that was sent. ok is false
// for errors that are not about the form: those have pages of their own.
func Problems(err error) (p ui.Problems, ok bool) {
	var problem *api.Problem
	if !errors.As(err, &problem) {
		return ui.Problems{}, false
	}
	switch problem.Status {
	case fiber.StatusBadRequest, fiber.StatusUnprocessableEntity:
		p.Title = "Not accepted. Nothing was changed."
	case fiber.StatusConflict:
		p.Title = "Not possible now. Nothing was changed."
	case fiber.StatusPreconditionFailed:
		p.Title = "Someone else changed this first. Nothing was changed."
		problem = &api.Problem{Detail: "Check the current values, then send the form again."}
	default:
		return ui.Problems{}, false
	}
	p.Detail = problem.Detail
	for _, f := range problem.Errors {
		p.Fields = append(p.Fields, ui.FieldProblem{Field: strings.TrimPrefix(f.Field, "body."), Message: f.Message})
	}
	if len(p.Fields) > 0 && problem.Status != fiber.StatusConflict {
		p.Detail = "" // the fields say it
	}
	return p, true
}

// trouble is an error as a person meets it.
type trouble struct {
	status   int
	title    string
	what     string // what happened
	todo     string // what to do
	instance string // of the request, for whoever reads the backend's log
	tone     ui.Tone
	retry    bool
	next     ui.Target // where to do it; the zero value for nowhere
}

// codeSecondFactor is of an organization that asks for a second factor.
const codeSecondFactor = "second_factor_required"

func troubleOf(err error) trouble {
	var p *api.Problem
	var f *fiber.Error
	switch {
	case errors.As(err, &p):
		t := troubleOfStatus(p.Status)
		if p.Code == codeSecondFactor {
			t.title, t.what = "A second factor is needed", "This organization asks for a second factor, and this session was opened without one."
			t.todo = "Set up an authenticator app or a passkey on Your account. If you have one, log out and log in with it. If you log in by an identity provider, it has to ask for one."
			t.next = ui.Target{Href: "/profile", Label: "Your account"}
		}
		if p.Status != fiber.StatusForbidden && p.Status != fiber.StatusNotFound && p.Status != fiber.StatusPreconditionFailed && p.Detail != "" && p.Status < 500 {
			t.what = ui.Sentence(p.Detail)
			var fields []string // of a form that has no place for them
			for _, f := range p.Errors {
				fields = append(fields, ui.Sentence(strings.TrimPrefix(f.Field, "body."))+": "+f.Message+".")
			}
			if len(fields) > 0 {
				t.what = strings.Join(fields, " ")
			}
		}
		if p.Status == fiber.StatusTooManyRequests && p.RetryAfter > 0 {
			t.todo = fmt.Sprintf("Wait %d s, then reload the page. Nothing was changed.", p.RetryAfter)
		}
		t.instance = p.Instance
		return t
	case errors.As(err, &f):
		t := troubleOfStatus(f.Code)
		if f.Code == fiber.StatusForbidden {
			t.what, t.todo = f.Message, "Open the page again and send the form from there."
		}
		return t
	case errors.Is(err, client.ErrUnreachable), errors.Is(err, context.DeadlineExceeded):
		return troubleOfStatus(fiber.StatusBadGateway)
	default:
		return troubleOfStatus(fiber.StatusInternalServerError)
	}
}

func troubleOfStatus(status int) trouble {
	switch status {
	case fiber.StatusForbidden:
		return trouble{status: status, tone: ui.Wait, title: "Not allowed", what: "Your account has no permission for this.", todo: "Ask an owner or admin of the organization for a role that has it."}
	case fiber.StatusNotFound, fiber.StatusGone:
		return trouble{status: status, tone: ui.Gone, title: "Not found", what: "This object does not exist, was removed, or is not visible to you.", todo: "Search for it in its list."}
	case fiber.StatusConflict:
		return trouble{status: status, tone: ui.Wait, title: "Not possible now", what: "The state of the object does not allow this action.", todo: "Nothing was changed. Go back and look at the current state and its actions."}
	case fiber.StatusPreconditionFailed:
		return trouble{status: status, tone: ui.Wait, title: "Changed in the meantime", what: "Someone changed the object after you opened the page.", todo: "Nothing was changed. Go back, reload the page and check whether you still want this."}
	case fiber.StatusBadRequest, fiber.StatusUnprocessableEntity, fiber.StatusMethodNotAllowed, fiber.StatusUnsupportedMediaType, fiber.StatusRequestHeaderFieldsTooLarge:
		return trouble{status: status, tone: ui.Wait, title: "Bad request", what: "Kloigos does not understand this request.", todo: "Nothing was changed. Go back and try again from the page."}
	case fiber.StatusRequestEntityTooLarge:
		return trouble{status: status, tone: ui.Wait, title: "Too large", what: "The request is too large. The limits are 1 MiB for a file and 10,000 form fields; requests without a valid session may be much smaller only.", todo: "Nothing was changed. Go back, log in again if your session has ended, and send less."}
	case fiber.StatusRequestTimeout: // no error of ours: also told to a browser that opened a connection ahead and sent nothing
		return trouble{status: status, tone: ui.Wait, title: "Too slow", what: "The request took too long to arrive.", todo: "Reload the page.", retry: true}
	case fiber.StatusTooManyRequests:
		return trouble{status: status, tone: ui.Wait, title: "Too many requests", what: "The API limits the rate of requests.", todo: "Wait a moment, then reload the page.", retry: true}
	case fiber.StatusBadGateway, fiber.StatusServiceUnavailable, fiber.StatusGatewayTimeout:
		return trouble{status: fiber.StatusBadGateway, tone: ui.Bad, title: "The API can't be reached", what: "The web app is up, but no backend answered in time.", todo: "Try again in a moment. If the problem stays, check that a backend runs, that its /readyz answers 200, and that the database is up. Running jobs are not affected.", retry: true}
	default:
		return trouble{status: fiber.StatusInternalServerError, tone: ui.Bad, title: "Something went wrong", what: "Kloigos had an internal error.", todo: "Try again. If the problem stays, search the logs of the backend and the web app for this request.", retry: true}
	}
}

// fail answers with the page of an error.
func (r *Request) fail(err error) error {
	var p *api.Problem
	if errors.As(err, &p) && p.Status == fiber.StatusUnauthorized && r.who != nil {
		r.app.Sessions.End(r.C)
		return r.app.toLogin(r.C, "expired")
	}
	var as api.Whoami
	if r.who != nil {
		if who, whoErr := r.who(); whoErr == nil {
			as = who
		}
	}
	return r.failAs(err, as)
}

// failBare is fail without asking again who is logged in.
func (r *Request) failBare(err error) error {
	var p *api.Problem
	if errors.As(err, &p) && p.Status == fiber.StatusUnauthorized {
		r.app.Sessions.End(r.C)
		return r.app.toLogin(r.C, "expired")
	}
	return r.failAs(err, api.Whoami{})
}

func (r *Request) failAs(err error, who api.Whoami) error {
	t := troubleOf(err)
	if t.status >= 500 {
		r.app.Log.Error("page failed", "method", r.C.Method(), "path", r.C.Path(), "status", t.status, "error", err.Error())
	}
	if r.Ctx.Err() != nil { // render what is left to say all the same
		r.Ctx = context.WithoutCancel(r.Ctx)
	}
	r.C.Response().ResetBody()
	return r.show(View{Title: t.title, Status: t.status, Body: troublePage(t, r.C.Method() == fiber.MethodGet, r.Here(), r.app.listOf(r.Here()))}, who)
}

// ErrorHandler answers errors that no page handled: unknown paths, refused and
// oversized requests, panics.
func (a *App) ErrorHandler(c *fiber.Ctx, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.Closing), Patience)
	defer cancel()
	r := &Request{input: input{c}, Ctx: ctx, app: a, scope: scopeOf(c)}
	var f *fiber.Error
	isTooLarge := errors.As(err, &f) && f.Code == fiber.StatusRequestEntityTooLarge
	if isTooLarge && len(c.Request().Body()) == 0 { // it was not read, and the connection ends
		discardBody(c.Context().Conn())
	}
	if speaker, ok := a.Speaker(c); ok {
		r.API = speaker
		who, whoErr := r.API.Whoami(ctx)
		if whoErr == nil {
			return r.failAs(err, who)
		}
		// The body of a stranger may be small only, so a long form of a session that has ended is refused unread.
		var p *api.Problem
		if isTooLarge && errors.As(whoErr, &p) && p.Status == fiber.StatusUnauthorized {
			a.Sessions.End(c)
			return c.Redirect(loginPath(formPage(c), "expired"), fiber.StatusSeeOther)
		}
	}
	return r.failAs(err, api.Whoami{})
}

const (
	mostDiscarded = 2 << 20 // bytes; more than a body that the web app takes of anybody
	discardWithin = 5 * time.Second
	quietFor      = 300 * time.Millisecond // nothing comes any more
)

// discardBody reads what a client still sends of a refused body. A connection
// that is closed with unread bytes is reset, and the client may lose the answer.
func discardBody(conn net.Conn) {
	end := time.Now().Add(discardWithin)
	piece := make([]byte, 4<<10)
	for discarded := 0; discarded < mostDiscarded && time.Now().Before(end); {
		if conn.SetReadDeadline(time.Now().Add(quietFor)) != nil {
			return
		}
		n, err := conn.Read(piece)
		if discarded += n; err != nil {
			return
		}
	}
}

// Optional turns the refusal of a part that a page can do without into none:
// the page is drawn without it.
func Optional(err error) error {
	var p *api.Problem
	if errors.As(err, &p) && (p.Status == fiber.StatusForbidden || p.Status == fiber.StatusNotFound) {
		return nil
	}
	return err
}
