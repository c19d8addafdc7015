// Package page owns what all pages share: a request with the API client of its
// session, the shell around the answer, where to go without a session, and how
// an error of the API becomes a page that says what happened and what to do.
//
// It refuses to know any noun.
package page

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/session"
	"kloigos/webapp/internal/static"
	"kloigos/webapp/internal/ui"
)

// Patience is how long a page waits for the API, retries included.
const Patience = 20 * time.Second

const themeCookie = "kloigos-theme"

// App is what handlers need to answer.
type App struct {
	API      *client.Client
	Sessions *session.Sessions
	Assets   *static.Assets
	Log      *slog.Logger
	Now      func() time.Time
	// Closing ends when the process shuts down; streams end with it.
	Closing context.Context
	// Login draws the login page in answer to a form whose session has ended.
	Login func(r *Request, next string, kept Kept) error

	standings standings
	scopes    scopes

	// What the areas handed over.
	nav     []ui.NavEntry
	targets []ui.Target
	finds   []Find
	waits   []Waits
	nouns   []string
	notices map[string]string
	places  ui.Places
	needs   map[string]string // the permission that a page needs, by its path
}

// Request is one request of a browser.
type Request struct {
	input
	scope                 // of the page
	Ctx   context.Context // ends when the page has waited long enough
	API   *client.Client  // speaks for the session
	app   *App
	who   func() (api.Whoami, error)
	// allowed is what the session may do, once it is known.
	allowed ui.Allowed
}

// Page makes a handler of a function that needs a session.
func (a *App) Page(h func(*Request) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		speaker, ok := a.Speaker(c)
		if !ok {
			return a.toLogin(c, "")
		}
		ctx, cancel := context.WithTimeout(a.Closing, Patience)
		defer cancel()
		r := &Request{input: input{c}, Ctx: ctx, app: a, API: speaker, scope: scopeOf(c)}
		r.who = sync.OnceValues(func() (api.Whoami, error) { return r.API.Whoami(ctx) })
		if c.Method() == fiber.MethodGet {
			go func() { _, _ = r.who() }() // while the handler asks for the rest
		}
		if to := r.elsewhere(); to != "" {
			c.Set(fiber.HeaderCacheControl, "no-store")
			return c.Redirect(to, fiber.StatusFound)
		}
		if err := h(r); err != nil {
			return r.fail(err)
		}
		return nil
	}
}

// Open makes a handler of a function that needs no session.
func (a *App) Open(h func(*Request) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		ctx, cancel := context.WithTimeout(a.Closing, Patience)
		defer cancel()
		r := &Request{input: input{c}, Ctx: ctx, app: a, API: a.API.WithToken("").WithForwarded(a.Sessions.ClientAddress(c))}
		if err := h(r); err != nil {
			return r.fail(err)
		}
		return nil
	}
}

// App returns what the handler was made with.
func (r *Request) App() *App { return r.app }

func clean(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n"))
}

// Who returns who is logged in.
func (r *Request) Who() (api.Whoami, error) { return r.who() }

// View is a page to be shown.
type View struct {
	Title  string
	Nav    string // path of the entry of the navigation that it belongs to
	Status int    // 200 if 0
	Script string // name of a script that only this page needs, "" for none
	Body   templ.Component
	// SaysPaused is true of a page that says itself that the queue is paused.
	SaysPaused bool
}

// Show answers with a page in its shell.
func (r *Request) Show(v View) error {
	var who api.Whoami
	if r.who != nil {
		var err error
		if who, err = r.who(); err != nil {
			return r.failBare(err)
		}
		if r.scope != "" && who.Workspace == "" { // not there, or not visible
			return r.failAs(fiber.ErrNotFound, who)
		}
	}
	return r.show(v, who)
}

// show draws a page for who is logged in; the zero Whoami is nobody.
func (r *Request) show(v View, who api.Whoami) error {
	a, account := r.app, who.Account
	if account != "" && who.Workspace == "" {
		r.scope = "" // nothing leads there
	}
	r.allowed = ui.Allowed{Permissions: who.Permissions, Refused: a.refused(who.Permissions)}
	shell := ui.ShellView{
		Title: v.Title, Nav: v.Nav, Entries: entries(a.nav, r.allowed.Refused), Account: account, Theme: theme(r.C), Here: r.At(r.Here()), Notice: a.notices[r.C.Query("said")],
		CSS: a.Assets.URL("app.css"), Icon: a.Assets.URL("icon.svg"),
		Scripts: []string{a.Assets.URL("htmx.js"), a.Assets.URL("app.js")},
	}
	if v.Script != "" {
		shell.Script = a.Assets.URL(v.Script)
	}
	// The page of the system says the same at length; parts of a page have no banner.
	if account != "" && !r.Live() && v.Nav != "/system" {
		shell.Banner = r.banner()
		shell.Banner.Paused = shell.Banner.Paused && !v.SaysPaused
	}
	if account != "" {
		shell.Scripts = append(shell.Scripts, a.Assets.URL("palette.js"))
		shell.Switcher = r.switcher(v.Nav)
		r.remember()
	}
	r.C.Status(orOK(v.Status))
	return r.render(ui.Shell(shell), v.Body)
}

// Fragment answers with a part of a page.
func (r *Request) Fragment(body templ.Component) error {
	if r.who != nil {
		who, err := r.who()
		if err != nil {
			return err
		}
		r.allowed = ui.Allowed{Permissions: who.Permissions, Refused: r.app.refused(who.Permissions)}
	}
	r.C.Status(fiber.StatusOK)
	return r.render(body, nil)
}

func (r *Request) render(c, children templ.Component) error {
	ctx := ui.WithAllowed(ui.WithPlaces(ui.WithNow(r.Ctx, r.app.Now()), r.app.places), r.allowed)
	if children != nil {
		ctx = templ.WithChildren(ctx, children)
	}
	r.C.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	if len(r.C.Response().Header.Peek(fiber.HeaderCacheControl)) == 0 {
		r.C.Set(fiber.HeaderCacheControl, "no-cache, private")
	}
	if r.scope == "" {
		return c.Render(ctx, r.C.Response().BodyWriter())
	}
	var b bytes.Buffer
	if err := c.Render(ctx, &b); err != nil {
		return err
	}
	r.C.Response().SetBodyRaw(scoped(b.Bytes(), r.prefix()))
	return nil
}

func orOK(status int) int {
	if status == 0 {
		return fiber.StatusOK
	}
	return status
}

// Go leads the browser to another page, as after every form that was taken.
// said is a key of the notices, or "".
func (r *Request) Go(path, said string) error {
	if said != "" {
		mark := "?"
		if strings.Contains(path, "?") {
			mark = "&"
		}
		path += mark + "said=" + said
	}
	return r.C.Redirect(r.At(path), fiber.StatusSeeOther)
}

// GoJob leads to the job that was made, or to path where there is none.
func (r *Request) GoJob(jobID, path, said string) error {
	if jobID != "" {
		return r.Go("/jobs/"+jobID, said)
	}
	return r.Go(path, said)
}

// GoPlan leads to a plan that was made.
func (r *Request) GoPlan(p api.Plan, err error) error {
	if err != nil {
		return err
	}
	return r.Go("/plans/"+p.ID, "")
}

// PlanOr leads to the plan of an operation if the form asks for one. Else it leads to the job that start asks for, or to path where that
// asked for none. refused draws the form again, with what is wrong; nil: nothing of it can be.
func PlanOr[T any](r *Request, operation, id string, body any, start func() (T, string, error), path string, refused func(status int, wrong ui.Problems) error) error {
	var err error
	if r.Planning() {
		var p api.Plan
		if p, err = r.API.PlanOf(r.Ctx, operation, id, body); err == nil {
			return r.GoPlan(p, nil)
		}
	} else {
		var job string
		if _, job, err = start(); err == nil {
			return r.GoJob(job, path, "")
		}
	}
	if refused == nil {
		return err
	}
	return Refused(err, refused)
}

// Theme stores which colours a person wants: light, dark, or the system's.
func (a *App) Theme(c *fiber.Ctx) error {
	want := string(c.Request().PostArgs().Peek("theme"))
	expires := a.Now().AddDate(1, 0, 0)
	if want != "light" && want != "dark" {
		want, expires = "", time.Unix(1, 0)
	}
	c.Cookie(&fiber.Cookie{
		Name: themeCookie, Value: want, Path: "/", Expires: expires, Secure: !a.Sessions.Insecure, HTTPOnly: true,
		SameSite: fiber.CookieSameSiteLaxMode,
	})
	return c.Redirect(session.ReturnPath(string(c.Request().PostArgs().Peek("next"))), fiber.StatusSeeOther)
}

func theme(c *fiber.Ctx) string {
	switch t := c.Cookies(themeCookie); t {
	case "light", "dark":
		return strings.Clone(t)
	default:
		return ""
	}
}
