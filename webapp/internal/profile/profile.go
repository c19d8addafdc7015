// Package profile owns the page of one's own account: second factor, sessions, and what happened to the account.
package profile

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

type view struct {
	Who      api.Whoami
	Factor   api.SecondFactor
	Sessions []api.Token
	Events   []api.Event
	Linked   []api.Identity
	Linkable []api.LoginProvider
	Passkeys []api.Passkey
	Wrong    map[string]ui.Problems // by the form that was refused
	Secret   *api.SecondFactorSecret
	QR       code
	Codes    []string // recovery codes, shown once
}

// forms of the page, by what they change.
const (
	enrolForm   = "enrol"
	confirmForm = "confirm"
	codesForm   = "codes"
	removeForm  = "remove"
)

func mount(r fiber.Router, a *page.App) {
	r.Get("/profile", a.Page(func(r *page.Request) error { return draw(r, fiber.StatusOK, view{}) }))
	r.Post("/profile/second-factor", a.Page(enrol))
	r.Post("/profile/second-factor/confirm", a.Page(confirm))
	r.Post("/profile/second-factor/recovery-codes", a.Page(renewCodes))
	r.Post("/profile/second-factor/remove", a.Page(remove))
	r.Post("/profile/sessions/:id/end", a.Page(endSession))
	r.Post("/profile/passkeys/challenge", a.Page(askForPasskey))
	r.Post("/profile/passkeys", a.Page(addPasskey))
	r.Post("/profile/passkeys/:id/remove", a.Page(removePasskey))
	r.Post("/profile/identities", a.Page(link))
	r.Post("/profile/identities/:id/unlink", a.Page(unlink))
}

func draw(r *page.Request, status int, v view) (err error) {
	if v.Who, err = r.Who(); err != nil {
		return err
	}
	if v.Factor, err = r.API.GetSecondFactor(r.Ctx); err != nil {
		return err
	}
	tokens, err := r.API.ListTokens(r.Ctx, api.PageQuery{Limit: 100, Sort: "-kind"}) // sessions first
	if err != nil {
		return err
	}
	for _, t := range tokens.Items {
		if t.Kind == "session" {
			v.Sessions = append(v.Sessions, t)
		}
	}
	events, err := r.API.ListAccountEvents(r.Ctx)
	if err != nil {
		return err
	}
	v.Events = events.Items
	if err := v.identities(r); err != nil {
		return err
	}
	passkeys, err := r.API.ListPasskeys(r.Ctx)
	if err != nil {
		return err
	}
	v.Passkeys = passkeys.Items
	r.C.Set(fiber.HeaderCacheControl, "no-store") // a secret may stand on it
	return r.Show(page.View{Title: "Your account", Nav: "/profile", Status: status, Script: "passkey.js", Body: profilePage(v)})
}

// refused draws the page again, with what is wrong in one of its forms.
func refused(r *page.Request, form string, err error) error {
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return draw(r, status, view{Wrong: map[string]ui.Problems{form: wrong}})
	})
}

func proof(r *page.Request) api.ProvePassword {
	return api.ProvePassword{Password: r.FormRaw("present_password") + r.FormRaw("remove_password")} // each form has one of them
}

func enrol(r *page.Request) error {
	made, err := r.API.EnrolSecondFactor(r.Ctx, proof(r))
	if err != nil {
		return refused(r, enrolForm, err)
	}
	drawn, err := qrOf(made.URI)
	if err != nil {
		return err
	}
	return draw(r, fiber.StatusOK, view{Secret: &made, QR: drawn})
}

func confirm(r *page.Request) error {
	made, err := r.API.ConfirmSecondFactor(r.Ctx, api.ConfirmSecondFactor{Code: r.Form("code")})
	if err != nil {
		return refused(r, confirmForm, err)
	}
	return draw(r, fiber.StatusOK, view{Codes: made.Codes})
}

func renewCodes(r *page.Request) error {
	made, err := r.API.RenewRecoveryCodes(r.Ctx, proof(r))
	if err != nil {
		return refused(r, codesForm, err)
	}
	return draw(r, fiber.StatusOK, view{Codes: made.Codes})
}

func remove(r *page.Request) error {
	if err := r.API.RemoveSecondFactor(r.Ctx, proof(r)); err != nil {
		return refused(r, removeForm, err)
	}
	return r.Go("/profile", "second-factor-removed")
}

func endSession(r *page.Request) error {
	if err := r.API.DeleteToken(r.Ctx, r.Param("id")); err != nil {
		return err
	}
	return r.Go("/profile", "session-ended")
}

// present is the field of a form that asks for the password again.
func (v view) present(form string) ui.Field {
	problems := v.Wrong[form].For("password")
	return ui.Field{Name: "present_password", Label: "Present password", Type: "password", Required: true, Autocomplete: "current-password", Max: 1024, Problems: problems}
}

// renamed gives a field a name of its own on the page: two forms ask for the same.
func renamed(f ui.Field, name string) ui.Field {
	f.Name = name
	return f
}

// actionOf is what an event says of the account, without the noun.
func actionOf(e api.Event) string { return strings.TrimPrefix(e.Action, "account.") }
