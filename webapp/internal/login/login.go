// Package login owns the way in and out: the form for account and password,
// the session's cookie, logging out.
package login

import (
	"errors"

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
	Wrong   ui.Problems
}

var because = map[string]string{
	"expired": "Your session has ended. Log in again to go on where you were.",
	"out":     "You are logged out.",
}

// Mount adds the routes.
func Mount(r fiber.Router, a *page.App) {
	r.Get("/login", a.Open(show))
	r.Post("/login", a.Open(enter))
	r.Post("/logout", a.Page(leave))
}

func show(r *page.Request) error {
	return draw(r, fiber.StatusOK, form{Next: session.ReturnPath(r.Query("next")), Because: because[r.Query("because")]})
}

func draw(r *page.Request, status int, f form) error {
	return r.Show(page.View{Title: "Log in", Status: status, Body: loginPage(f)})
}

func enter(r *page.Request) error {
	f := form{Account: r.Form("account"), Next: session.ReturnPath(r.Form("next"))}
	s, err := r.API.CreateSession(r.Ctx, api.Login{Account: f.Account, Password: r.FormRaw("password")})
	if err == nil {
		r.App().Sessions.Begin(r.C, s.Token, s.ExpiresAt)
		return r.Go(f.Next, "")
	}
	var p *api.Problem
	if errors.As(err, &p) && (p.Status == fiber.StatusUnauthorized || p.Status == fiber.StatusForbidden) {
		f.Wrong = ui.Problems{Title: "Account or password is wrong.", Detail: "Check both and try again."}
		return draw(r, fiber.StatusUnauthorized, f)
	}
	if errors.As(err, &p) && p.Status == fiber.StatusTooManyRequests {
		f.Wrong = ui.Problems{Title: "Too many tries.", Detail: "Wait a minute, then try again."}
		return draw(r, fiber.StatusTooManyRequests, f)
	}
	wrong, ok := page.Problems(err)
	if !ok {
		return err
	}
	f.Wrong = wrong
	return draw(r, fiber.StatusUnprocessableEntity, f)
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
