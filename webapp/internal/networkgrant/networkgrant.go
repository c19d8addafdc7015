// Package networkgrant owns the pages of networks that several workspaces use: whose hosts may carry those of this workspace, and
// which of others hosts of this one may carry.
package networkgrant

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

// Read is the permission to see who may use networks.
const Read = "project.workspace.network_grant:read"

const (
	icon   = "M2 2.500h12v4H2zM5 9.500l-3 2 3 2M2 11.500h6M11 9.500l3 2-3 2M14 11.500h-4"
	create = "project.workspace.network_grant:create"
	shared = "project.workspace.shared_network:read"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/shared-networks", Label: "Shared networks", Icon: icon, Needs: shared}},
	Pages: []ui.Target{
		{Href: "/network-grants", Label: "Grants of networks", Icon: icon, Needs: Read},
		{Href: "/network-grants/new", Label: "Grant a network", Icon: icon, Needs: create},
	},
	Nouns: []page.Noun{{Name: "network_grant", Path: "/network-grants/"}},
	Notices: map[string]string{
		"network-granted":       "The network is granted. Hosts of the scope can carry it now.",
		"network-grant-changed": "The grant is changed. Addresses in use stay.",
		"network-grant-revoked": "The grant is revoked. It gives no more addresses; those in use stay until their allocations end.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/shared-networks", a.Page(listShared))
	r.Get("/network-grants", a.Page(list))
	r.Get("/network-grants/new", a.Page(showNew))
	r.Post("/network-grants/new", a.Page(page.Create((*client.Client).CreateNetworkGrant, drawNew, grantURL, "network-granted")))
	r.Get("/network-grants/:id", a.Page(show))
	r.Get("/network-grants/:id/edit", a.Page(showEdit))
	r.Post("/network-grants/:id/edit", a.Page(page.Change((*client.Client).ChangeNetworkGrant, drawEdit, grantURL, "network-grant-changed")))
	r.Post("/network-grants/:id/delete", a.Page(page.Delete((*client.Client).GetNetworkGrant, (*client.Client).DeleteNetworkGrant, func(g api.NetworkGrant) (name, to string) { return g.Network, "/network-grants" }, "network-grant-revoked")))
}

var (
	grantsTarget = ui.Target{Href: "/network-grants", Label: "Grants of networks"}
	grantHeads   = []ui.Head{{Label: "Network"}, {Label: "Hosts of"}, {Label: "State"}, {Label: "Addresses"}, {Label: "In use"}, {Field: "-created_at", Label: "Granted"}}
	sharedHeads  = []ui.Head{{Field: "name", Label: "Network"}, {Label: "Shared by"}, {Label: "Range"}, {Label: "Granted"}, {Label: "Hosts here"}, {Label: "In use here"}, {Label: "Free for you"}}
)

func grantURL(g api.NetworkGrant) string { return "/network-grants/" + g.ID }

// addresses is how many addresses of a network are granted, in words.
func addresses(n *int64) string {
	if n == nil {
		return "the whole pool"
	}
	return count(*n)
}

// count is a number of addresses, in words.
func count(n int64) string {
	if n == 1 {
		return "1 address"
	}
	return strconv.FormatInt(n, 10) + " addresses"
}

// stands is how a grant stands in a word.
func stands(g api.NetworkGrant) (ui.Tone, string, string) {
	if g.State == "ending" {
		return ui.Wait, "ending", "revoked; it ends when the last address that it gave is free again"
	}
	return ui.Good, "granted", "hosts of the scope can carry the network"
}

func list(r *page.Request) error {
	f := api.NetworkGrantFilter{Network: r.Query("network"), PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}}
	found, err := r.API.ListNetworkGrants(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Grants of networks", Path: "/network-grants", Here: r.Here(), Means: "A grant lets hosts of another organization, project or workspace carry a network of this workspace, and take addresses of its pool.",
		New: ui.Target{Href: "/network-grants/new", Label: "Grant a network"}, Empty: len(found.Items) == 0,
		None: "No network is granted", NoneText: "Only hosts of this workspace carry its networks.", NoMatch: "No grant matches",
		Heads: grantHeads, Sort: r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/networks", Body: listPage(l, found.Items)})
}

func listShared(r *page.Request) error {
	found, err := r.API.ListSharedNetworks(r.Ctx, api.SharedNetworkFilter{PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}})
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Shared networks", Path: "/shared-networks", Here: r.Here(),
		Means: "Networks of other workspaces that hosts of this one may carry. A host names them by their ids. An allocation gets an address of a network of this workspace first.",
		Empty: len(found.Items) == 0, None: "No network is shared with this workspace", NoneText: "The owner of a network grants it.", NoMatch: "No network matches",
		Heads: sharedHeads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/shared-networks", Body: sharedPage(l, found.Items)})
}

type view struct {
	object.Detail
	Grant api.NetworkGrant
}

func show(r *page.Request) error {
	g, err := r.API.GetNetworkGrant(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Grant: g}
	if v.View, err = object.Load(r.Ctx, r, "network_grant", g.ID, api.JobFilter{Object: g.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{grantsTarget}, g.Network+" for "+g.Scope, grantURL(g)
	v.Tone, v.State, v.Means = stands(g)
	v.Operations = page.Operations(g.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes how many addresses the scope may have at once.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Revoke", What: "The grant gives no more addresses. Those in use stay until their allocations end.", Action: v.Here + "/delete", Danger: true, Confirm: g.Network, Typed: "the network's name", Version: g.Version},
	})
	return r.Show(page.View{Title: v.Name, Nav: "/networks", Body: showPage(v)})
}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{"network": {r.Query("network")}}})
}

func drawNew(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{grantsTarget}, "Grant a network", "/network-grants/new", "Grant", "/network-grants"
	f.Key, f.Fields = page.NewKey(), []string{"network", "scope", "addresses"}
	return r.Show(page.View{Title: f.Title, Nav: "/networks", Status: status, Body: formPage(f)})
}

func showEdit(r *page.Request) error { return drawEdit(r, fiber.StatusOK, ui.Form{}) }

func drawEdit(r *page.Request, status int, f ui.Form) error {
	g, err := r.API.GetNetworkGrant(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values = url.Values{"addresses": {""}}
		if g.Addresses != nil {
			f.Values.Set("addresses", strconv.FormatInt(*g.Addresses, 10))
		}
		f.Version = strconv.FormatInt(g.Version, 10)
	}
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{grantsTarget, {Href: grantURL(g), Label: g.Network + " for " + g.Scope}}, "Edit the grant", grantURL(g)+"/edit", "Save"
	f.Cancel, f.Fields = grantURL(g), []string{"addresses"}
	return r.Show(page.View{Title: f.Title, Nav: "/networks", Status: status, Body: formPage(f)})
}
