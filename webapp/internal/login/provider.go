package login

import (
	"errors"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/session"
	"kloigos/webapp/internal/ui"
)

// What a browser keeps while it is at a provider begins with what it went there for.
const (
	toLogIn = "login."
	// ToLink begins what a browser keeps that links an identity to the account of its session.
	ToLink = "link."
)

// startPath is where a login by a provider begins.
func startPath(p api.LoginProvider, next string) string {
	return "/login/" + url.PathEscape(p.ID) + "/start?next=" + url.QueryEscape(next)
}

// showProvider is the address of one provider: that of an organization, which no list has. An address that is none has the same
// page as one whose provider is disabled.
func showProvider(r *page.Request) error {
	f, err := only(r)
	if err != nil {
		return err
	}
	return draw(r, fiber.StatusOK, f)
}

func only(r *page.Request) (form, error) {
	f := form{Only: true, Next: session.ReturnPath(r.Query("next"))}
	found, err := r.API.ListLoginProviders(r.Ctx, api.LoginProviderFilter{Provider: r.Param("provider")})
	if page.Optional(err) != nil {
		return f, err
	}
	if len(found.Items) == 0 {
		return f, fiber.ErrNotFound
	}
	f.Providers = found.Items
	return f, nil
}

func start(r *page.Request) error {
	began, err := r.API.StartLogin(r.Ctx, api.StartLogin{Provider: r.Param("provider"), ReturnTo: session.ReturnPath(r.Query("next"))})
	if err != nil {
		return failed(r, err)
	}
	r.App().Sessions.BeginLogin(r.C, toLogIn+began.Browser, began.ExpiresAt)
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	return r.C.Redirect(began.URL, fiber.StatusSeeOther)
}

// callback is where a provider sends the browser back to.
func callback(r *page.Request) error {
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	in := api.FinishLogin{Provider: r.Param("provider"), State: r.Query("state"), Code: r.Query("code"), Error: r.Query("error"), Issuer: r.Query("iss")}
	kept := r.App().Sessions.EndLogin(r.C)
	if secret, links := strings.CutPrefix(kept, ToLink); links {
		in.Browser = secret
		return link(r, in)
	}
	in.Browser = strings.TrimPrefix(kept, toLogIn)
	if in.Browser == "" || in.State == "" {
		return failed(r, &api.Problem{Status: fiber.StatusConflict, Detail: "This browser has begun no login, or has kept none: it was more than ten minutes ago, or cookies are off. Begin again."})
	}
	done, err := r.API.FinishLogin(r.Ctx, in)
	if err != nil {
		return failed(r, err)
	}
	r.App().Sessions.Begin(r.C, done.Token, done.ExpiresAt)
	return r.C.Redirect(session.ReturnPath(done.ReturnTo), fiber.StatusSeeOther)
}

// link ends what an account's own page began. The session has to be the one that began it.
func link(r *page.Request, in api.FinishLogin) error {
	token := r.App().Sessions.Token(r.C)
	if token == "" {
		return r.C.Redirect("/login?because=expired", fiber.StatusSeeOther)
	}
	done, err := speaker(r, token).FinishLink(r.Ctx, in)
	var p *api.Problem
	switch {
	case err == nil:
		return r.C.Redirect(session.ReturnPath(done.ReturnTo)+"?said=identity-linked", fiber.StatusSeeOther)
	case errors.As(err, &p) && p.Status == fiber.StatusUnauthorized:
		return r.C.Redirect("/login?because=expired", fiber.StatusSeeOther)
	}
	return failed(r, err)
}

func speaker(r *page.Request, token string) *client.Client { return r.API.WithToken(token) }

// failed draws the login page with the reason; nothing of it was written by the provider.
func failed(r *page.Request, err error) error {
	var p *api.Problem
	if !errors.As(err, &p) || p.Status >= fiber.StatusInternalServerError {
		return err
	}
	f := form{Next: "/", Wrong: ui.Problems{Title: "You are not logged in.", Detail: p.Detail}}
	if p.Status == fiber.StatusUnprocessableEntity {
		f.Wrong.Detail = "Nobody can log in at this address. Ask those who gave it to you."
	}
	if one, err := only(r); err == nil {
		f.Providers, f.Only = one.Providers, true
	}
	return draw(r, fiber.StatusConflict, f)
}
