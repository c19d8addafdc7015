// Package password owns the page on which a person sets a password with a link, and the one on which they change their own.
package password

import (
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M3.500 7h9v7h-9zM5.500 7V5a2.500 2.500 0 0 1 5 0v2"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: func(r fiber.Router, a *page.App) {
		r.Get("/set-password", a.Open(showSet))
		r.Post("/set-password", a.Open(set))
		r.Get("/password", a.Page(showChange))
		r.Post("/password", a.Page(change))
	},
	Pages:   []ui.Target{{Href: "/password", Label: "Change your password", Icon: icon}},
	Notices: map[string]string{"password-changed": "Your password is changed. Your other sessions have ended; API tokens stay."},
}

const differ = "The two passwords differ."

func showSet(r *page.Request) error { return drawSet(r, fiber.StatusOK, ui.Problems{}) }

func drawSet(r *page.Request, status int, wrong ui.Problems) error {
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	return r.Show(page.View{Title: "Set a password", Status: status, Body: setPage(wrong)})
}

func refuse(field, message string) ui.Problems {
	return ui.Problems{Title: "Not accepted. Nothing was changed.", Fields: []ui.FieldProblem{{Field: field, Message: message}}}
}

func set(r *page.Request) error {
	word := r.FormRaw("password")
	if word != r.FormRaw("again") {
		return drawSet(r, fiber.StatusUnprocessableEntity, refuse("again", differ))
	}
	done, err := r.API.SetPassword(r.Ctx, api.SetPassword{Link: linkOf(r.Form("link_secret")), Password: word})
	if err == nil {
		return r.Show(page.View{Title: "Password set", Body: donePage(done.Account)})
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error { return drawSet(r, status, wrong) })
}

// linkOf is the secret of a link, of which a person may have pasted the whole.
func linkOf(typed string) string {
	for i := len(typed) - 1; i >= 0; i-- {
		if typed[i] == '#' || typed[i] == '/' {
			return typed[i+1:]
		}
	}
	return typed
}

func showChange(r *page.Request) error { return drawChange(r, fiber.StatusOK, ui.Problems{}) }

func drawChange(r *page.Request, status int, wrong ui.Problems) error {
	f := ui.Form{Title: "Change your password", Action: "/password", Submit: "Change", Cancel: "/tokens", Wrong: wrong, Fields: []string{"old_password", "password", "again"}}
	f.Up, f.Means = []ui.Target{{Href: "/tokens", Label: "Tokens and sessions"}}, "Your other sessions end. API tokens stay."
	return r.Show(page.View{Title: f.Title, Nav: "/tokens", Status: status, Body: changePage(f)})
}

func change(r *page.Request) error {
	word := r.FormRaw("password")
	if word != r.FormRaw("again") {
		return drawChange(r, fiber.StatusUnprocessableEntity, refuse("again", differ))
	}
	err := r.API.ChangePassword(r.Ctx, api.ChangePassword{OldPassword: r.FormRaw("old_password"), Password: word})
	if err == nil {
		return r.Go("/tokens", "password-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error { return drawChange(r, status, wrong) })
}
