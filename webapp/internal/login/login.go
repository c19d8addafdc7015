// Package login owns the way in and out: the form for account and password,
// the session's cookie, logging out.
package login

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/session"
	"kloigos/webapp/internal/ui"
)

type form struct {
	Account string
	Next    string
	Because string
	Kept    page.Kept // a form that was sent when its session had ended
	Pending string    // secret of a login that waits for a code
	Wrong   ui.Problems
	// Providers are the identity providers that the page offers. Only: the page is the address of one, without a password.
	Providers []api.LoginProvider
	Only      bool
}

var because = map[string]string{
	"expired": "Your session has ended. Log in again to continue.",
	"out":     "You are logged out.",
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/login", a.Open(show))
	r.Post("/login", a.Open(enter))
	r.Post("/login/code", a.Open(confirm))
	r.Post("/login/passkey/challenge", a.Open(func(r *page.Request) error { return r.Ask(r.API.BeginPasskeyLogin(r.Ctx)) }))
	r.Post("/login/passkey", a.Open(byPasskey))
	r.Post("/logout", a.Page(leave))
	r.Get("/login/:provider", a.Open(showProvider))
	r.Get("/login/:provider/start", a.Open(start))
	r.Get("/login/:provider/callback", a.Open(callback))
	a.Login = func(r *page.Request, next string, kept page.Kept) error {
		return draw(r, fiber.StatusUnauthorized, form{Next: next, Because: because["expired"], Kept: kept})
	}
}

func show(r *page.Request) error {
	return draw(r, fiber.StatusOK, form{Next: session.ReturnPath(r.Query("next")), Because: because[r.Query("because")]})
}

func draw(r *page.Request, status int, f form) error {
	if !f.Only {
		// Without an answer the page has no buttons: the password is a way in that needs no provider.
		if found, err := r.App().API.ListLoginProviders(r.Ctx, api.LoginProviderFilter{}); err == nil {
			f.Providers = found.Items
		}
	}
	return r.Show(page.View{Title: "Log in", Status: status, Script: "passkey.js", Body: loginPage(f)})
}

func enter(r *page.Request) error {
	f := form{Account: r.Form("account"), Next: session.ReturnPath(r.Form("next")), Kept: page.KeptOf(r.FormRaw("kept_path"), r.FormRaw("kept_form"))}
	s, err := r.API.CreateSession(r.Ctx, api.Login{Account: f.Account, Password: r.FormRaw("password")})
	if err == nil && s.Pending != "" {
		f.Pending = s.Pending
		return drawCode(r, fiber.StatusOK, f)
	}
	if err == nil {
		return begin(r, f, s)
	}
	return refuse(r, f, err)
}

// begin keeps the token of a session, and leads on.
func begin(r *page.Request, f form, s api.Session) error {
	r.App().Sessions.Begin(r.C, s.Token, s.ExpiresAt)
	if f.Kept.Path != "" && r.Form("restores") != "true" { // no script fills the form in again
		return r.Show(page.View{Title: "Go on", Body: goOnPage(f)})
	}
	return r.Go(f.Next, "")
}

func drawCode(r *page.Request, status int, f form) error {
	r.C.Set(fiber.HeaderCacheControl, "no-store") // the secret of the pending login stands in it
	return r.Show(page.View{Title: "Log in", Status: status, Script: "passkey.js", Body: codePage(f)})
}

// confirm is the second step of a login.
func confirm(r *page.Request) error {
	f := form{Account: r.Form("account"), Next: session.ReturnPath(r.Form("next")), Kept: page.KeptOf(r.FormRaw("kept_path"), r.FormRaw("kept_form")), Pending: r.Form("pending")}
	s, err := r.API.ConfirmSession(r.Ctx, api.ConfirmSession{Pending: f.Pending, Code: r.Form("code")})
	if err == nil {
		return begin(r, f, s)
	}
	var p *api.Problem
	if errors.As(err, &p) && p.Code == "bad_code" {
		f.Wrong = ui.Problems{Title: "Wrong code.", Detail: p.Detail}
		return drawCode(r, fiber.StatusUnauthorized, f)
	}
	if errors.As(err, &p) && p.Code == "login_expired" {
		f.Wrong = ui.Problems{Title: "Too late, or too many wrong codes.", Detail: "Log in again."}
		return draw(r, fiber.StatusUnauthorized, f)
	}
	if wrong, ok := page.Problems(err); ok {
		f.Wrong = wrong
		return drawCode(r, fiber.StatusUnprocessableEntity, f)
	}
	return refuse(r, f, err)
}

// byPasskey logs in with what a device answered. It takes the place of password and code.
func byPasskey(r *page.Request) error {
	f := form{Next: session.ReturnPath(r.Form("next")), Kept: page.KeptOf(r.FormRaw("kept_path"), r.FormRaw("kept_form"))}
	in := api.PasskeyLogin{Challenge: r.Form("challenge"), Credential: json.RawMessage(r.FormRaw("credential"))}
	if !json.Valid(in.Credential) {
		in.Credential = json.RawMessage("{}")
	}
	s, err := r.API.CreatePasskeySession(r.Ctx, in)
	if err == nil {
		return begin(r, f, s)
	}
	var p *api.Problem
	if errors.As(err, &p) && p.Code == "bad_passkey" {
		f.Wrong = ui.Problems{Title: "You are not logged in.", Detail: p.Detail}
		return draw(r, fiber.StatusUnauthorized, f)
	}
	return refuse(r, f, err)
}

// refuse draws the login again after the API refused it.
func refuse(r *page.Request, f form, err error) error {
	var p *api.Problem
	if errors.As(err, &p) && (p.Status == fiber.StatusUnauthorized || p.Status == fiber.StatusForbidden) {
		f.Wrong = ui.Problems{Title: "Wrong account or password.", Detail: "Check both and try again."}
		return draw(r, fiber.StatusUnauthorized, f)
	}
	if errors.As(err, &p) && p.Status == fiber.StatusTooManyRequests {
		f.Wrong = ui.Problems{Title: "Too many attempts.", Detail: "Wait a minute, then try again."}
		if p.RetryAfter > 0 {
			f.Wrong.Detail = fmt.Sprintf("Wait %d s, then try again.", p.RetryAfter)
		}
		return draw(r, fiber.StatusTooManyRequests, f)
	}
	wrong, ok := page.Problems(err)
	if !ok {
		return err
	}
	f.Wrong = wrong
	return draw(r, fiber.StatusUnprocessableEntity, f)
}

// fieldOf is one field of a kept form.
type fieldOf struct{ Name, Value string }

// fields are those of a kept form, in an order that stays.
func fields(k page.Kept) (all []fieldOf) {
	values := k.Fields()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, v := range values[name] {
			all = append(all, fieldOf{name, v})
		}
	}
	return all
}

// typed are the fields that a person filled in.
func typed(k page.Kept) (all []fieldOf) {
	for _, f := range fields(k) {
		if f.Value != "" && f.Name != "key" && f.Name != "drafts" {
			all = append(all, f)
		}
	}
	return all
}

func leave(r *page.Request) error {
	err := r.API.DeleteSession(r.Ctx)
	var p *api.Problem
	if err != nil && (!errors.As(err, &p) || p.Status != fiber.StatusUnauthorized) {
		return err // the cookie stays: the session still lives, and saying otherwise would be wrong
	}
	r.App().Sessions.End(r.C)
	r.C.Set("Clear-Site-Data", `"cache"`)
	return r.C.Redirect("/login?because=out", fiber.StatusSeeOther)
}
