package profile

import (
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/login"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const linkForm = "link"

// identities reads what proves the account at identity providers, and what else it can be linked to.
func (v *view) identities(r *page.Request) error {
	linked, err := r.API.ListIdentities(r.Ctx)
	if err != nil {
		return err
	}
	linkable, err := r.API.ListLinkableProviders(r.Ctx)
	v.Linked, v.Linkable = linked.Items, linkable.Items
	return err
}

// link begins to link an identity. A form may lead to this site only, so the answer is a page that goes on to the provider.
func link(r *page.Request) error {
	began, err := r.API.StartLink(r.Ctx, api.StartLogin{Provider: r.Form("provider"), ReturnTo: "/profile"})
	if err != nil {
		return refused(r, linkForm, err)
	}
	r.App().Sessions.BeginLogin(r.C, login.ToLink+began.Browser, began.ExpiresAt)
	r.C.Set(fiber.HeaderCacheControl, "no-store")
	r.C.Set("Refresh", "0; url="+began.URL)
	return r.Show(page.View{Title: "Link an identity", Nav: "/profile", Body: onwardPage(began.URL)})
}

func unlink(r *page.Request) error {
	if err := r.API.DeleteIdentity(r.Ctx, r.Param("id")); err != nil {
		return refused(r, linkForm, err)
	}
	return r.Go("/profile", "identity-unlinked")
}

// organizationOf names the organization of an identity's provider.
func organizationOf(i api.Identity) string {
	if i.Organization == "" {
		return "the installation"
	}
	return i.Organization
}

func choices(all []api.LoginProvider) (some []ui.Choice) {
	for _, p := range all {
		some = append(some, ui.Choice{Value: p.ID, Label: p.Name})
	}
	return some
}
