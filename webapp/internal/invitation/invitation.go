// Package invitation owns the list of open invitations of a scope, the form that invites, and the page on which a person accepts.
package invitation

import (
	"net/url"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/organization"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	icon   = "M1.500 4h13v9h-13zM1.500 4.500l6.500 5 6.500-5"
	create = "organization.invitation:create"
	remove = "organization.invitation:delete"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/invitations", Label: "Invitations", Icon: icon, Needs: "organization.invitation:read"},
		{Href: "/invitations/new", Label: "Invite somebody", Icon: icon, Needs: create},
	},
	Notices: map[string]string{
		"invitation-withdrawn": "The invitation is withdrawn. Its link is refused from now on.",
		"invitation-accepted":  "The invitation is accepted. The role counts at once.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/invitations", a.Page(list))
	r.Get("/invitations/new", a.Page(showNew))
	r.Post("/invitations/new", a.Page(invite))
	r.Post("/invitations/:id/withdraw", a.Page(withdraw))
	r.Get("/accept-invitation", a.Open(showLink))
	r.Post("/accept-invitation", a.Open(showOffer))
	r.Post("/accept-invitation/accept", a.Page(accept))
	r.Post("/accept-invitation/join", a.Open(join))
}

func invitationsURL(path string) string { return "/invitations?scope=" + url.QueryEscape(path) }

// row is an invitation, and whether the session may withdraw it.
type row struct {
	api.Invitation
	MayWithdraw bool
}

// view is the list of a scope.
type view struct {
	List  ui.List
	Scope api.Scope
	Rows  []row
	Link  string         // address with which the new invitation is accepted; "" for none
	Made  api.Invitation // that was just made
	Wrong ui.Problems
}

func list(r *page.Request) error { return draw(r, fiber.StatusOK, view{}) }

func draw(r *page.Request, status int, v view) error {
	s, err := organization.Named(r, "scope")
	if err != nil {
		return err
	}
	found, err := r.API.ListInvitations(r.Ctx, api.InvitationFilter{Scope: s.Path, PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}})
	if err != nil {
		return err
	}
	may := map[string]bool{}
	for _, i := range found.Items {
		if _, asked := may[i.Scope]; !asked {
			if may[i.Scope], err = r.MayAt(remove, i.Scope); err != nil {
				return err
			}
		}
		v.Rows = append(v.Rows, row{i, may[i.Scope]})
	}
	mayInvite, err := r.MayAt(create, s.Path)
	if err != nil {
		return err
	}
	v.Scope = s
	v.List = ui.List{
		Title: "Invitations to " + s.Path, Path: "/invitations", Here: invitationsURL(s.Path), Means: "Open invitations at this scope and below it. Each has a link that is accepted once.",
		Empty: len(v.Rows) == 0, None: "No open invitations", NoneText: "Invite somebody by name or mail address.", Pages: r.Pages(found.PreviousCursor, found.NextCursor),
		Heads: []ui.Head{{Label: "Person"}, {Label: "Role"}, {Label: "Scope"}, {Field: "created_at", Label: "Invited"}, {Label: "Expires"}, {Label: ""}}, Sort: r.Sorter("created_at"),
		Up: append(organization.Crumbs(s), ui.Target{Href: "/members?scope=" + url.QueryEscape(s.Path), Label: "Members"}),
	}
	if mayInvite {
		v.List.New = ui.Target{Href: "/invitations/new?scope=" + url.QueryEscape(s.Path), Label: "Invite somebody"}
	}
	if v.Link != "" {
		r.C.Set(fiber.HeaderCacheControl, "no-store")
	}
	return r.Show(page.View{Title: v.List.Title, Nav: "/organizations", Status: status, Body: listPage(v)})
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{"role": {"viewer"}, "days": {"7"}}})
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
	f.Values.Set("scope", s.Path)
	f.Up, f.Title, f.Action, f.Submit = append(organization.Crumbs(s), ui.Target{Href: invitationsURL(s.Path), Label: "Invitations"}), "Invite somebody", "/invitations/new", "Invite"
	f.Cancel, f.Key, f.Fields = invitationsURL(s.Path), page.NewKey(), []string{"person", "role", "days", "scope"}
	f.Means = "To " + s.Path + " and everything below it. The next page shows a link once: give it to the person."
	return r.Show(page.View{Title: f.Title, Nav: "/organizations", Status: status, Body: newPage(f, roles.Items)})
}

func invite(r *page.Request) error {
	var body api.CreateInvitation
	f := ui.Form{Values: url.Values{"person": {r.Form("person")}, "role": {r.Form("role")}, "days": {r.Form("days")}}}
	if f.Wrong = r.Bind(&body); f.Wrong.Any() {
		return drawNew(r, fiber.StatusUnprocessableEntity, f)
	}
	made, err := r.API.CreateInvitation(r.Ctx, body, r.Once())
	if err == nil {
		return draw(r, fiber.StatusOK, view{Made: made, Link: r.C.Get(fiber.HeaderOrigin) + "/accept-invitation#" + made.Link})
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error {
		f.Wrong = wrong
		return drawNew(r, status, f)
	})
}

func withdraw(r *page.Request) error {
	err := r.API.DeleteInvitation(r.Ctx, r.Param("id"))
	if err == nil {
		return r.Go(invitationsURL(r.Form("scope")), "invitation-withdrawn")
	}
	return page.Refused(err, func(status int, wrong ui.Problems) error { return draw(r, status, view{Wrong: wrong}) })
}

func choices(roles []api.Role) (all []ui.Choice) {
	for _, role := range roles {
		all = append(all, ui.Choice{Value: role.Name, Label: ui.Sentence(role.Name)})
	}
	return all
}
