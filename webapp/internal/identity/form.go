package identity

import (
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

var fields = []string{"name", "issuer", "client_id", "client_secret", "scopes", "groups_claim"}

// typed are the fields of the form, without the secret.
func typed(r *page.Request) url.Values {
	values := url.Values{}
	for _, name := range []string{"name", "issuer", "client_id", "scopes", "groups_claim", "organization"} {
		values.Set(name, r.Form(name))
	}
	return values
}

func (w realm) showNew(r *page.Request) error {
	return w.drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{"scopes": {"profile email groups"}, "groups_claim": {"groups"}}})
}

func (w realm) drawNew(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Cancel = w.up("", ""), w.list
	if !w.ofInstallation() {
		s, err := organization.Named(r, "organization")
		if err != nil {
			return err
		}
		f.Up, f.Cancel = w.up(s.OrganizationID, s.Organization), w.whole(s.Organization)
		f.Values.Set("organization", s.Organization)
	}
	f.Title, f.Action, f.Submit, f.Key, f.Fields = "Add an identity provider", w.list+"/new", "Add", page.NewKey(), fields
	f.Means = "It has to speak OpenID Connect. The next page shows what you register there."
	return r.Show(page.View{Title: f.Title, Nav: w.nav(), Status: status, Body: formPage(f, false)})
}

// scopes are the words of a field.
func scopes(r *page.Request) []string { return append([]string{}, strings.Fields(r.Form("scopes"))...) }

func (w realm) create(r *page.Request) error {
	in := api.CreateInstallationProvider{
		Name: r.Form("name"), Issuer: r.Form("issuer"), ClientID: r.Form("client_id"), ClientSecret: r.FormRaw("client_secret"), Scopes: scopes(r), GroupsClaim: r.Form("groups_claim"),
	}
	var made api.IdentityProvider
	var err error
	if w.ofInstallation() {
		made, err = r.API.CreateInstallationProvider(r.Ctx, in, r.Once())
	} else {
		made, err = r.API.CreateIdentityProvider(r.Ctx, api.CreateIdentityProvider{
			Name: in.Name, Issuer: in.Issuer, ClientID: in.ClientID, ClientSecret: in.ClientSecret, Scopes: in.Scopes, GroupsClaim: in.GroupsClaim, Organization: r.Form("organization"),
		}, r.Once())
	}
	if err == nil {
		return r.Go(w.list+"/"+made.ID, "provider-created")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return w.drawNew(r, status, ui.Form{Wrong: wrong, Values: typed(r)})
	})
}

func (w realm) showEdit(r *page.Request) error { return w.drawEdit(r, fiber.StatusOK, ui.Form{}) }

func (w realm) drawEdit(r *page.Request, status int, f ui.Form) error {
	p, err := w.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Version = version(p)
		f.Values = url.Values{"name": {p.Name}, "issuer": {p.Issuer}, "client_id": {p.ClientID}, "scopes": {strings.Join(p.Scopes, " ")}, "groups_claim": {p.GroupsClaim}}
	}
	at := w.list + "/" + p.ID
	f.Up, f.Title, f.Action, f.Submit, f.Cancel, f.Fields = append(w.up(p.OrganizationID, p.Organization), ui.Target{Href: at, Label: p.Name}), "Edit "+p.Name, at+"/edit", "Save", at, fields
	f.Means = "With another issuer or client its sessions end, and identities that it proved count no more."
	return r.Show(page.View{Title: f.Title, Nav: w.nav(), Status: status, Body: formPage(f, p.HasSecret)})
}

func (w realm) save(r *page.Request) error {
	values, asked, secret := typed(r), scopes(r), r.FormRaw("client_secret")
	text := func(name string) *string {
		value := values.Get(name)
		return &value
	}
	in := api.ChangeIdentityProvider{Name: text("name"), Issuer: text("issuer"), ClientID: text("client_id"), Scopes: &asked, GroupsClaim: text("groups_claim")}
	if secret != "" {
		in.ClientSecret = &secret
	}
	if r.Form("no_secret") == "true" {
		in.ClientSecret = new(string)
	}
	_, err := w.change(r.API, r.Ctx, r.Param("id"), in, r.IfSeen())
	if err == nil {
		return r.Go(w.list+"/"+r.Param("id"), "provider-changed")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return w.drawEdit(r, status, ui.Form{Wrong: wrong, Values: values, Version: r.Form("version")})
	})
}

func secretHint(has bool) string {
	if has {
		return "Empty keeps the one that is stored."
	}
	return "If it has one. It is never shown again."
}

func roleHint(w realm) string {
	if w.ofInstallation() {
		return "installation_operator; with a scope, a role that can be given there."
	}
	return "Of the product or of the organization."
}

func scopeHint(w realm) string {
	if w.ofInstallation() {
		return "Empty for the installation; or organization, organization/project, organization/project/workspace."
	}
	return "organization, organization/project or organization/project/workspace."
}
