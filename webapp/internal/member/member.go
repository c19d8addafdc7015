// Package member owns the page of who has which role at a scope, and the forms that give a role and take it away.
package member

import (
	"net/url"
	"slices"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	icon  = "M6 7.500a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400zM1 13.500c.5-3 2.300-4 5-4s4.500 1 5 4M11 7.400a2.300 2.300 0 1 0-.6-4.400M12.500 9.800c1.500.5 2.200 1.700 2.500 3.700"
	grant = "organization.member:grant"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/members", Label: "Members", Icon: icon, Needs: "organization.member:read"},
		{Href: "/members/new", Label: "Give a role", Icon: icon, Needs: grant},
	},
	Notices: map[string]string{
		"role-given": "The role is given. It counts at once.",
		"role-taken": "The role is taken away. It ends within a second.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/members", a.Page(list))
	r.Get("/members/new", a.Page(showNew))
	r.Post("/members/new", a.Page(create))
	r.Post("/members/:id/remove", a.Page(remove))
}

// row is a grant, and whether the session may take it away.
type row struct {
	api.Grant
	Own, MayTake bool
	Means        string // what the role permits
}

func membersURL(s api.Scope) string { return "/members?scope=" + url.QueryEscape(s.Path) }

func list(r *page.Request) error { return draw(r, fiber.StatusOK, ui.Problems{}) }

func draw(r *page.Request, status int, wrong ui.Problems) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	f := api.GrantFilter{Scope: s.Path, PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}}
	found, err := r.API.ListGrants(r.Ctx, f)
	if err != nil {
		return err
	}
	who, err := r.Who()
	if err != nil {
		return err
	}
	means, err := meanings(r, s.Organization)
	if err != nil {
		return err
	}
	may := map[string]bool{s.Path: false}
	for _, g := range found.Items {
		may[g.Scope] = false
	}
	if r.May(grant) { // somewhere; asked for where
		for path := range may {
			if may[path], err = r.MayAt(grant, path); err != nil {
				return err
			}
		}
	}
	rows := make([]row, 0, len(found.Items))
	for _, g := range found.Items {
		own := g.AccountID == who.AccountID
		rows = append(rows, row{g, own, own || may[g.Scope], means[g.Role]})
	}
	l := ui.List{
		Title: "Members of " + s.Path, Path: "/members", Here: r.Here(), Means: "A role reaches everything below the scope at which it was given.",
		Empty: len(rows) == 0, None: "Nobody has a role here", NoneText: "Give one to an account, or invite somebody.", Pages: r.Pages(found.PreviousCursor, found.NextCursor),
		Heads: []ui.Head{{Label: "Account"}, {Label: "Role"}, {Label: "Given at"}, {Label: "Given"}, {Label: ""}}, Sort: r.Sorter("account"),
		Up: organization.Crumbs(s), Links: []ui.Target{{Href: "/invitations?scope=" + url.QueryEscape(s.Path), Label: "Invitations"}},
	}
	if may[s.Path] {
		l.New = ui.Target{Href: "/members/new?scope=" + url.QueryEscape(s.Path), Label: "Give a role"}
	}
	return r.Show(page.View{Title: l.Title, Nav: "/organizations", Status: status, Body: listPage(l, s, rows, wrong)})
}

// meanings are what roles permit, in a sentence.
func meanings(r *page.Request, of string) (map[string]string, error) {
	means := map[string]string{}
	roles, err := r.API.ListRoles(r.Ctx, api.RoleFilter{Organization: of})
	for _, role := range roles.Items {
		means[role.Name] = role.Description
	}
	return means, page.Optional(err)
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{"account": {r.Query("account")}, "role": {"viewer"}}})
}

func drawNew(r *page.Request, status int, f ui.Form) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	roles, err := r.API.ListRoles(r.Ctx, api.RoleFilter{Organization: s.Organization})
	if err != nil {
		return err
	}
	known, err := r.API.ListMembers(r.Ctx, api.MemberFilter{Organization: s.Organization, PageQuery: api.PageQuery{Limit: 200}})
	if err != nil {
		return err
	}
	var names []string
	for _, a := range known.Items {
		if a.State == "active" {
			names = append(names, a.Name)
		}
	}
	f.Values.Set("scope", s.Path)
	f.Up, f.Title, f.Action, f.Submit = append(organization.Crumbs(s), ui.Target{Href: membersURL(s), Label: "Members"}), "Give a role", "/members/new", "Give"
	f.Cancel, f.Key, f.Fields, f.Means = membersURL(s), page.NewKey(), []string{"account", "role", "scope"}, "At "+s.Path+" and everything below it."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: newPage(f, roles.Items, names)})
}

func create(r *page.Request) error {
	to := func(made api.Grant) string { return "/members?scope=" + url.QueryEscape(made.Scope) }
	err := page.Create((*client.Client).CreateGrant, drawNew, to, "role-given")(r)
	r.ForgetScopes()
	return err
}

func remove(r *page.Request) error {
	err := r.API.DeleteGrant(r.Ctx, r.Param("id"))
	if err == nil {
		r.ForgetScopes()
		if r.Form("own") == "true" {
			return r.Go("/organizations", "role-taken")
		}
		return r.Go("/members?scope="+url.QueryEscape(r.Form("scope")), "role-taken")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error { return draw(r, status, wrong) })
}

// widest sorts roles for the form: the narrowest of the product first, those of the organization last.
func widest(all []api.Role) []api.Role {
	order := []string{"viewer", "auditor", "member", "operator", "admin", "owner"}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b api.Role) int {
		x, y := slices.Index(order, a.Name), slices.Index(order, b.Name)
		if x < 0 {
			x = len(order)
		}
		if y < 0 {
			y = len(order)
		}
		return x - y
	})
	return all
}
