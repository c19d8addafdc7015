package invitation

import (
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// offer is what a link gives, and what was typed by who accepts.
type offer struct {
	api.OfferedRole
	Secret string // of the link
	Me     string // name of the account of the session; "" without one
	Name   string // of the new account, as it was typed
	Wrong  ui.Problems
}

func showLink(r *page.Request) error { return drawLink(r, fiber.StatusOK, ui.Problems{}) }

func drawLink(r *page.Request, status int, wrong ui.Problems) error {
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	return r.Show(page.View{Title: "Accept an invitation", Status: status, Body: linkPage(wrong)})
}

func showOffer(r *page.Request) error {
	return drawOffer(r, fiber.StatusOK, offer{Secret: secretOf(r.Form("link_secret"))})
}

// secretOf is the secret of a link, of which a person may have pasted the whole.
func secretOf(typed string) string { return typed[strings.LastIndexAny(typed, "#/")+1:] }

func drawOffer(r *page.Request, status int, o offer) error {
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	offered, err := r.API.ShowOfferedRole(r.Ctx, api.InvitationLink{Link: o.Secret})
	if err != nil {
		return page.Refused(err, func(status int, wrong ui.Problems) error { return drawLink(r, status, wrong) })
	}
	o.OfferedRole = offered
	if o.Name == "" {
		o.Name = offered.Account
	}
	if speaker, ok := r.App().Speaker(r.C); ok {
		who, err := speaker.Whoami(r.Ctx)
		if page.Optional(err) == nil {
			o.Me = who.Account
		}
	}
	return r.Show(page.View{Title: "Accept an invitation", Status: status, Body: offerPage(o)})
}

func accept(r *page.Request) error {
	secret := secretOf(r.Form("link_secret"))
	_, err := r.API.AcceptInvitation(r.Ctx, api.InvitationLink{Link: secret})
	if err == nil {
		r.ForgetScopes()
		return r.Go("/organizations", "invitation-accepted")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return drawOffer(r, status, offer{Secret: secret, Wrong: wrong})
	})
}

func join(r *page.Request) error {
	o, word := offer{Secret: secretOf(r.Form("link_secret")), Name: r.Form("name")}, r.FormRaw("password")
	if word != r.FormRaw("again") {
		o.Wrong = ui.Problems{Title: "Not accepted. Nothing was changed.", Fields: []ui.FieldProblem{{Field: "again", Message: "The two passwords differ."}}}
		return drawOffer(r, fiber.StatusUnprocessableEntity, o)
	}
	done, err := r.API.JoinByInvitation(r.Ctx, api.JoinByInvitation{Link: o.Secret, Name: o.Name, Password: word})
	if err == nil {
		return r.Show(page.View{Title: "Welcome", Body: donePage(done)})
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		o.Wrong = wrong
		return drawOffer(r, status, o)
	})
}
