// Package network owns the pages of networks: the list, a network with what uses it, and the forms.
package network

import (
	"context"
	"net/url"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 2v4M8 6H3.500v4M8 6h4.500v4M2 10h3v3H2zM11 10h3v3h-3zM6.500 1h3v2h-3z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/networks", Label: "Networks", Icon: icon, Needs: "project.workspace.network:read"}},
	Pages: []ui.Target{{Href: "/networks/new", Label: "Add a network", Icon: icon, Needs: "project.workspace.network:create"}},
	Finds: []page.Find{{Noun: "Networks", Do: find}},
	Nouns: []page.Noun{{Name: "network", Path: "/networks/"}},
	Notices: map[string]string{
		"network-created": "The network is added. Name it at hosts that carry it, and add addresses to its pool.",
		"network-changed": "The network is changed.",
		"network-deleted": "The network is deleted.",
	},
}

func mount(r fiber.Router, a *page.App) {
	r.Get("/networks", a.Page(list))
	r.Get("/networks/new", a.Page(showNew))
	r.Post("/networks/new", a.Page(page.Create((*client.Client).CreateNetwork, drawNew, networkURL, "network-created")))
	r.Get("/networks/:id", a.Page(show))
	r.Get("/networks/:id/edit", a.Page(showEdit))
	r.Post("/networks/:id/edit", a.Page(page.Change((*client.Client).ChangeNetwork, drawEdit, networkURL, "network-changed")))
	r.Post("/networks/:id/delete", a.Page(page.Delete((*client.Client).GetNetwork, (*client.Client).DeleteNetwork, func(n api.Network) (name, to string) { return n.Name, "/networks" }, "network-deleted")))
}

var networksTarget = ui.Target{Href: "/networks", Label: "Networks"}

func find(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListNetworks(ctx, api.NetworkFilter{PageQuery: api.PageQuery{Limit: 200}})
	all := make([]ui.Target, 0, len(found.Items))
	for _, n := range found.Items {
		all = append(all, ui.Target{Href: networkURL(n), Label: n.Name, Note: n.CIDR, Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}

func networkURL(n api.Network) string { return "/networks/" + n.ID }

// stands is how a network stands in a word.
func stands(n api.Network) (ui.Tone, string, string) {
	switch {
	case n.Hosts == 0:
		return ui.Line, "unused", "no host carries it"
	case n.FreeAddresses == 0:
		return ui.Busy, "no free address", "no allocation gets an address of it until one is added or comes back"
	}
	return ui.Good, "in use", "hosts carry it, and it has free addresses"
}

var heads = []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Range"}, {Label: "Free addresses"}, {Label: "Hosts"}, {Label: "Description"}}

func list(r *page.Request) error {
	f := api.NetworkFilter{PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}}
	found, err := r.API.ListNetworks(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Networks", Path: "/networks", Here: r.Here(), Means: "A network is a range of addresses that hosts carry. An allocation gets an address of a network that its host carries.",
		New: ui.Target{Href: "/networks/new", Label: "Add a network"}, Empty: len(found.Items) == 0,
		None: "No networks yet", NoneText: "The first host, or the first address, makes one.", NoMatch: "No network matches",
		Heads: heads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/networks", Body: listPage(l, found.Items)})
}

type view struct {
	object.Detail
	Network api.Network
}

func show(r *page.Request) error {
	n, err := r.API.GetNetwork(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := view{Network: n}
	if v.View, err = object.Load(r.Ctx, r, "network", n.ID, api.JobFilter{Object: n.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{networksTarget}, n.Name, networkURL(n)
	v.Tone, v.State, v.Means = stands(n)
	v.Operations = page.Operations(n.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes its range and its description.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Delete", What: "No host may carry it, and its pool has to be empty.", Action: v.Here + "/delete", Danger: true, Confirm: n.Name, Typed: "the name", Version: n.Version},
	})
	return r.Show(page.View{Title: n.Name, Nav: "/networks", Body: showPage(v)})
}

func showNew(r *page.Request) error { return drawNew(r, fiber.StatusOK, ui.Form{}) }

func drawNew(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{networksTarget}, "Add a network", "/networks/new", "Add", "/networks"
	f.Key, f.Fields = page.NewKey(), []string{"name", "cidr", "description"}
	return r.Show(page.View{Title: f.Title, Nav: "/networks", Status: status, Body: formPage(f)})
}

func showEdit(r *page.Request) error { return drawEdit(r, fiber.StatusOK, ui.Form{}) }

func drawEdit(r *page.Request, status int, f ui.Form) error {
	n, err := r.API.GetNetwork(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values = url.Values{"cidr": {n.CIDR}, "description": {n.Description}}
		f.Version = strconv.FormatInt(n.Version, 10)
	}
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{networksTarget, {Href: networkURL(n), Label: n.Name}}, "Edit "+n.Name, networkURL(n)+"/edit", "Save"
	f.Cancel, f.Fields = networkURL(n), []string{"cidr", "description"}
	return r.Show(page.View{Title: f.Title, Nav: "/networks", Status: status, Body: formPage(f)})
}
