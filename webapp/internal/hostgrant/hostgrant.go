// Package hostgrant owns the pages of hosts that several workspaces use: who may use those of this workspace, and which of
// others this one may use.
package hostgrant

import (
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// Read is the permission to see who may use hosts.
const Read = "project.workspace.host_grant:read"

const (
	icon   = "M2 2.500h12v4H2zM5 9.500l-3 2 3 2M2 11.500h6M11 9.500l3 2-3 2M14 11.500h-4"
	create = "project.workspace.host_grant:create"
	shared = "project.workspace.shared_host:read"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/shared-hosts", Label: "Shared hosts", Icon: icon, Needs: shared}},
	Pages: []ui.Target{
		{Href: "/host-grants", Label: "Grants of hosts", Icon: icon, Needs: Read},
		{Href: "/host-grants/new", Label: "Grant a host", Icon: icon, Needs: create},
	},
	Nouns: []page.Noun{{Name: "host_grant", Path: "/host-grants/"}},
	Notices: map[string]string{
		"host-granted":       "The host is granted. The scope can place allocations there now.",
		"host-grant-changed": "The grant is changed. Allocations that are there stay.",
		"host-grant-revoked": "The grant is revoked. Nothing new comes; allocations that are there stay until they are deallocated.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/shared-hosts", a.Page(listShared))
	r.Get("/host-grants", a.Page(list))
	r.Get("/host-grants/new", a.Page(showNew))
	r.Post("/host-grants/new", a.Page(page.Create((*client.Client).CreateHostGrant, drawNew, grantURL, "host-granted")))
	r.Get("/host-grants/:id", a.Page(show))
	r.Get("/host-grants/:id/edit", a.Page(showEdit))
	r.Post("/host-grants/:id/edit", a.Page(page.Change((*client.Client).ChangeHostGrant, drawEdit, grantURL, "host-grant-changed")))
	r.Post("/host-grants/:id/delete", a.Page(page.Delete((*client.Client).GetHostGrant, (*client.Client).DeleteHostGrant, func(g api.HostGrant) (name, to string) { return g.Host, "/host-grants" }, "host-grant-revoked")))
}

var (
	grantsTarget = ui.Target{Href: "/host-grants", Label: "Grants of hosts"}
	grantHeads   = []ui.Head{{Label: "Host"}, {Label: "May use it"}, {Label: "State"}, {Label: "Units"}, {Label: "In use"}, {Field: "-created_at", Label: "Granted"}}
	sharedHeads  = []ui.Head{{Field: "name", Label: "Host"}, {Label: "State"}, {Label: "Region, zone"}, {Label: "Granted"}, {Label: "In use here"}, {Label: "Free for you"}}
)

func grantURL(g api.HostGrant) string { return "/host-grants/" + g.ID }

// units is how much of a host is granted, in words.
func units(n *int64) string {
	if n == nil {
		return "the whole host"
	}
	return ui.Count(int(*n), "unit")
}

// stands is how a grant stands in a word.
func stands(g api.HostGrant) (ui.Tone, string, string) {
	if g.State == "ending" {
		return ui.Wait, "ending", "revoked; it ends with the last allocation that it let in"
	}
	return ui.Good, "granted", "the scope can place allocations on the host"
}

// takes is whether a shared host takes allocations, in a word.
func takes(h api.SharedHost) (ui.Tone, string, string) {
	switch {
	case !h.Available:
		return ui.Bad, "unavailable", "its owner has it out of use, or it is unreachable"
	case h.Free == 0:
		return ui.Busy, "full", "no unit is free for this workspace"
	}
	return ui.Good, "available", "it takes allocations"
}

func list(r *page.Request) error {
	f := api.HostGrantFilter{Host: r.Query("host"), PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}}
	found, err := r.API.ListHostGrants(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Grants of hosts", Path: "/host-grants", Here: r.Here(), Means: "A grant lets another organization, project or workspace place allocations on a host of this workspace.",
		New: ui.Target{Href: "/host-grants/new", Label: "Grant a host"}, Empty: len(found.Items) == 0,
		None: "No host is granted", NoneText: "Hosts serve this workspace alone.", NoMatch: "No grant matches",
		Heads: grantHeads, Sort: r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/hosts", Body: listPage(l, found.Items)})
}

func listShared(r *page.Request) error {
	found, err := r.API.ListSharedHosts(r.Ctx, api.SharedHostFilter{PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}})
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Shared hosts", Path: "/shared-hosts", Here: r.Here(),
		Means: "Hosts of other workspaces that this one may use. An allocation goes to a host of this workspace first.",
		Empty: len(found.Items) == 0, None: "No host is shared with this workspace", NoneText: "The owner of a host grants it.", NoMatch: "No host matches",
		Heads: sharedHeads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/shared-hosts", Body: sharedPage(l, found.Items)})
}

type view struct {
	object.Detail
	Grant api.HostGrant
}

func show(r *page.Request) error {
	g, err := r.API.GetHostGrant(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Grant: g}
	if v.View, err = object.Load(r.Ctx, r, "host_grant", g.ID, api.JobFilter{Object: g.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{grantsTarget}, g.Host+" for "+g.Scope, grantURL(g)
	v.Tone, v.State, v.Means = stands(g)
	v.Operations = page.Operations(g.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes how many units the scope may have there at once.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Revoke", What: "Nothing new comes to the host. Allocations that are there stay until they are deallocated.", Action: v.Here + "/delete", Danger: true, Confirm: g.Host, Typed: "the host's name", Version: g.Version},
	})
	return r.Show(page.View{Title: v.Name, Nav: "/hosts", Body: showPage(v)})
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{"host": {r.Query("host")}}})
}

func drawNew(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{grantsTarget}, "Grant a host", "/host-grants/new", "Grant", "/host-grants"
	f.Key, f.Fields = page.NewKey(), []string{"host", "scope", "units"}
	return r.Show(page.View{Title: f.Title, Nav: "/hosts", Status: status, Body: formPage(f)})
}

func showEdit(r *page.Request) error { return drawEdit(r, fiber.StatusOK, ui.Form{}) }

func drawEdit(r *page.Request, status int, f ui.Form) error {
	g, err := r.API.GetHostGrant(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values = url.Values{"units": {""}}
		if g.Units != nil {
			f.Values.Set("units", strconv.FormatInt(*g.Units, 10))
		}
		f.Version = strconv.FormatInt(g.Version, 10)
	}
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{grantsTarget, {Href: grantURL(g), Label: g.Host + " for " + g.Scope}}, "Edit the grant", grantURL(g)+"/edit", "Save"
	f.Cancel, f.Fields = grantURL(g), []string{"units"}
	return r.Show(page.View{Title: f.Title, Nav: "/hosts", Status: status, Body: formPage(f)})
}
