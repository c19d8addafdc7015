// Package identity owns the pages of identity providers: those of an organization and those of the installation, with the groups
// that are mapped to roles.
package identity

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 1.500l5.500 2v4c0 3.500-2.500 6-5.500 7-3-1-5.500-3.500-5.500-7v-4zM5.500 8l2 2 3-3.500"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: ours.list, Label: "Installation's identity providers", Icon: icon, Needs: "installation.identity_provider:read"}},
	Pages: []ui.Target{
		{Href: theirs.list, Label: "Identity providers", Icon: icon, Needs: "organization.identity_provider:read"},
		{Href: theirs.list + "/new", Label: "Add an identity provider", Icon: icon, Needs: "organization.identity_provider:create"},
		{Href: ours.list + "/new", Label: "Add an identity provider of the installation", Icon: icon, Needs: "installation.identity_provider:create"},
	},
	Nouns: []page.Noun{{Name: "identity_provider", Path: theirs.list + "/"}},
	Notices: map[string]string{
		"provider-created":  "The identity provider is added. Map groups to roles, then log in by it.",
		"provider-changed":  "The identity provider is changed.",
		"provider-enabled":  "The identity provider is enabled. People can log in by it.",
		"provider-disabled": "The identity provider is disabled. Its sessions have ended.",
		"provider-deleted":  "The identity provider is deleted, with the roles and identities that it gave.",
		"group-mapped":      "The group is mapped. It counts from the next login of its members on.",
		"group-unmapped":    "The mapping is deleted. What it gave has ended.",
	},
}

// realm is whose identity providers some pages are about.
type realm struct {
	list, title string
	get         func(*client.Client, context.Context, string) (api.IdentityProvider, error)
	change      func(*client.Client, context.Context, string, api.ChangeIdentityProvider, ...client.Option) (api.IdentityProvider, error)
	remove      func(*client.Client, context.Context, string, ...client.Option) error
	unmap       func(*client.Client, context.Context, string, ...client.Option) error
}

var (
	theirs = realm{
		"/identity-providers", "Identity providers",
		(*client.Client).GetIdentityProvider, (*client.Client).ChangeIdentityProvider, (*client.Client).DeleteIdentityProvider, (*client.Client).DeleteGroupMapping,
	}
	ours = realm{
		"/installation-identity-providers", "Installation's identity providers",
		(*client.Client).GetInstallationProvider, (*client.Client).ChangeInstallationProvider, (*client.Client).DeleteInstallationProvider, (*client.Client).DeleteInstallationMapping,
	}
)

var tones = states.Tones{"enabled": ui.Good, "disabled": ui.Shut}

func mount(r fiber.Router, a *page.App) {
	for _, w := range []realm{theirs, ours} {
		r.Get(w.list, a.Page(w.showList))
		r.Get(w.list+"/new", a.Page(w.showNew))
		r.Post(w.list+"/new", a.Page(w.create))
		r.Get(w.list+"/:id", a.Page(w.show))
		r.Get(w.list+"/:id/edit", a.Page(w.showEdit))
		r.Post(w.list+"/:id/edit", a.Page(w.save))
		r.Post(w.list+"/:id/enable", a.Page(w.turn("enabled")))
		r.Post(w.list+"/:id/disable", a.Page(w.turn("disabled")))
		r.Post(w.list+"/:id/delete", a.Page(w.delete))
		r.Post(w.list+"/:id/mappings", a.Page(w.mapGroup))
		r.Post(w.list+"/:id/mappings/:mapping/delete", a.Page(w.unmapGroup))
	}
}

func (w realm) ofInstallation() bool { return w.list == ours.list }

// whole is the list of the organization that a page is about.
func (w realm) whole(organization string) string {
	if w.ofInstallation() {
		return w.list
	}
	return w.list + "?organization=" + url.QueryEscape(organization)
}

// up is the way to the list of a provider.
func (w realm) up(organizationID, organization string) []ui.Target {
	list := ui.Target{Href: w.whole(organization), Label: w.title}
	if w.ofInstallation() {
		return []ui.Target{list}
	}
	return []ui.Target{{Href: "/organizations", Label: "Organizations"}, {Href: "/organizations/" + organizationID, Label: organization}, list}
}

func (w realm) nav() string {
	if w.ofInstallation() {
		return w.list
	}
	return "/organizations"
}

func (w realm) showList(r *page.Request) error {
	l := ui.List{
		Title: w.title, Path: w.list, Here: w.list, Means: "People log in by them, and their groups give them roles. The login page offers these to everybody.",
		New:  ui.Target{Href: w.list + "/new", Label: "Add an identity provider"},
		None: "No identity providers", NoneText: "Add one that speaks OpenID Connect.", Heads: []ui.Head{{Label: "Name"}, {Label: "State"}, {Label: "Issuer"}, {Label: "Groups"}, {Label: "Last failure"}},
	}
	found, err := w.providers(r, &l)
	if err != nil {
		return err
	}
	l.Empty = len(found) == 0
	return r.Show(page.View{Title: l.Title, Nav: w.nav(), Body: listPage(w, l, found)})
}

// providers reads the list, and says of which organization it is.
func (w realm) providers(r *page.Request, l *ui.List) ([]api.IdentityProvider, error) {
	if w.ofInstallation() {
		found, err := r.API.ListInstallationProviders(r.Ctx)
		return found.Items, err
	}
	s, err := organization.Named(r, "organization")
	if err != nil {
		return nil, err
	}
	l.Title, l.Here, l.Up = "Identity providers of "+s.Path, w.whole(s.Path), organization.Crumbs(s)
	l.Means, l.New.Href = "People of the organization log in by them, each at an address of its own. Their groups give them roles.", w.list+"/new?organization="+url.QueryEscape(s.Path)
	found, err := r.API.ListIdentityProviders(r.Ctx, api.IdentityProviderFilter{Organization: s.ID})
	return found.Items, err
}

// view is a provider with what can be done with it.
type view struct {
	Realm      realm
	Provider   api.IdentityProvider
	Up         []ui.Target
	Operations []ui.Operation
	MayMap     bool
	Login      string // address of its login page
	Map        ui.Form
	Wrong      ui.Problems
}

func (w realm) show(r *page.Request) error { return w.draw(r, fiber.StatusOK, view{}) }

func (w realm) draw(r *page.Request, status int, v view) error {
	p, err := w.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	at := w.list + "/" + p.ID
	v.Realm, v.Provider, v.Up, v.MayMap = w, p, w.up(p.OrganizationID, p.Organization), mayMap(p)
	v.Operations = page.Operations(append(p.Operations, turned(p.Operations)...), []ui.Operation{
		{Name: "change", Label: "Edit", What: "With another issuer or client its sessions end.", Href: at + "/edit", Main: true},
		{Name: "enable", Label: "Enable", What: "People can log in by it.", Action: at + "/enable", Version: p.Version},
		{Name: "disable", Label: "Disable", What: "Nobody logs in by it, and its sessions end.", Action: at + "/disable", Danger: true, Confirm: p.Name, Typed: "the name", Version: p.Version},
		{Name: "delete", Label: "Delete", What: "Takes away the roles and identities that it gave.", Action: at + "/delete", Danger: true, Confirm: p.Name, Typed: "the name", Version: p.Version},
	})
	v.Operations = ui.Possible(v.Operations, p.State != "enabled", "enable", "disable")
	v.Login = "https://" + string(r.C.Request().Host()) + p.LoginPath
	if v.Map.Values == nil {
		v.Map.Values = url.Values{"role": {"viewer"}, "scope": {p.Organization}}
	}
	v.Map.Key = page.NewKey()
	return r.Show(page.View{Title: p.Name, Nav: w.nav(), Status: status, Body: showPage(v)})
}

// mayMap tells whether the session may map groups of the provider.
func mayMap(p api.IdentityProvider) bool {
	return slices.ContainsFunc(p.Operations, func(o api.Operation) bool { return o.Name == "map" && o.Allowed })
}

// turned makes of the permission to change those to enable and disable.
func turned(given []api.Operation) (more []api.Operation) {
	for _, o := range given {
		if o.Name == "change" {
			more = append(more, api.Operation{Name: "enable", Allowed: o.Allowed, Prevents: o.Prevents}, api.Operation{Name: "disable", Allowed: o.Allowed, Prevents: o.Prevents})
		}
	}
	return more
}

func (w realm) refused(r *page.Request, err error) error {
	return page.Refused(err, func(status int, wrong ui.Problems) error { return w.draw(r, status, view{Wrong: wrong}) })
}

func (w realm) turn(state string) func(*page.Request) error {
	return func(r *page.Request) error {
		p, err := w.get(r.API, r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		if state == "disabled" {
			err = r.Typed(p.Name)
		}
		if err == nil {
			_, err = w.change(r.API, r.Ctx, p.ID, api.ChangeIdentityProvider{State: &state}, r.IfSeen())
		}
		if err != nil {
			return w.refused(r, err)
		}
		return r.Go(w.list+"/"+p.ID, "provider-"+state)
	}
}

func (w realm) delete(r *page.Request) error {
	p, err := w.get(r.API, r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if err = r.Typed(p.Name); err == nil {
		err = w.remove(r.API, r.Ctx, p.ID, r.IfSeen())
	}
	if err != nil {
		return w.refused(r, err)
	}
	return r.Go(w.whole(p.Organization), "provider-deleted")
}

func (w realm) mapGroup(r *page.Request) error {
	group, provider, role, scope := r.Form("group"), r.Param("id"), r.Form("role"), r.Form("scope")
	var err error
	if w.ofInstallation() {
		_, err = r.API.CreateInstallationMapping(r.Ctx, api.CreateInstallationMapping{Group: group, Provider: provider, Role: role, Scope: scope}, r.Once())
	} else {
		_, err = r.API.CreateGroupMapping(r.Ctx, api.CreateGroupMapping{Group: group, Provider: provider, Role: role, Scope: scope}, r.Once())
	}
	if err == nil {
		return r.Go(w.list+"/"+provider, "group-mapped")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		return w.draw(r, status, view{Map: ui.Form{Wrong: wrong, Values: url.Values{"group": {group}, "role": {role}, "scope": {scope}}}})
	})
}

func (w realm) unmapGroup(r *page.Request) error {
	if err := w.unmap(r.API, r.Ctx, r.Param("mapping")); err != nil {
		return w.refused(r, err)
	}
	return r.Go(w.list+"/"+r.Param("id"), "group-unmapped")
}

// groups are the groups of a provider that give roles.
func groups(p api.IdentityProvider) string {
	var names []string
	for _, m := range p.Mappings {
		names = append(names, m.Group)
	}
	return strings.Join(names, ", ")
}

func version(p api.IdentityProvider) string { return strconv.FormatInt(p.Version, 10) }
