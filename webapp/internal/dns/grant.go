package dns

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

const (
	readGrants  = "project.workspace.dns_zone_grant:read"
	createGrant = "project.workspace.dns_zone_grant:create"
	readShared  = "project.workspace.shared_dns_zone:read"
)

// Grants is the pages of zones that several workspaces use: who may use those of this workspace, and which of others this one may
// use.
var Grants = page.Area{
	Mount: func(r fiber.Router, a *page.App) {
		r.Get("/shared-dns-zones", a.Page(listShared))
		r.Get("/shared-dns-zones/:id", a.Page(showShared))
		r.Post("/shared-dns-zones/:id/naming", a.Page(setNaming))
		r.Get("/dns-zone-grants", a.Page(listGrants))
		r.Get("/dns-zone-grants/new", a.Page(showNewGrant))
		r.Post("/dns-zone-grants/new", a.Page(page.Create((*client.Client).CreateDNSZoneGrant, drawNewGrant, grantURL, "dns-zone-granted")))
		r.Get("/dns-zone-grants/:id", a.Page(showGrant))
		r.Get("/dns-zone-grants/:id/edit", a.Page(showEditGrant))
		r.Post("/dns-zone-grants/:id/edit", a.Page(page.Change((*client.Client).ChangeDNSZoneGrant, drawEditGrant, grantURL, "dns-zone-grant-changed")))
		r.Post("/dns-zone-grants/:id/delete", a.Page(page.Delete((*client.Client).GetDNSZoneGrant, (*client.Client).DeleteDNSZoneGrant, func(g api.DNSZoneGrant) (name, to string) { return g.Zone, "/dns-zone-grants" }, "dns-zone-grant-revoked")))
		r.Post("/dns-zone-grants/:id/remove-names", a.Page(removeNames))
	},
	Nav: []ui.NavEntry{{Group: ui.MoreGroup, Href: "/shared-dns-zones", Label: "Shared DNS zones", Icon: icon, Needs: readShared}},
	Pages: []ui.Target{
		{Href: "/dns-zone-grants", Label: "Grants of DNS zones", Icon: icon, Needs: readGrants},
		{Href: "/dns-zone-grants/new", Label: "Grant a DNS zone", Icon: icon, Needs: createGrant},
	},
	Nouns: []page.Noun{{Name: "dns_zone_grant", Path: "/dns-zone-grants/"}, {Name: "shared_dns_zone", Path: "/shared-dns-zones/"}},
	Notices: map[string]string{
		"dns-zone-granted":       "The zone is granted. The scope can have names there now.",
		"dns-zone-grant-changed": "The grant is changed. Names that are there stay.",
		"dns-zone-grant-revoked": "The grant is revoked. Nothing new comes; names that are there stay until they are deleted.",
		"dns-zone-names-removed": "The names are removed. The next synchronization takes them off the name server.",
		"dns-naming-set":         "The setting is saved. A policy brings the names of allocations about.",
	},
}

var (
	grantsTarget = ui.Target{Href: "/dns-zone-grants", Label: "Grants of DNS zones"}
	sharedTarget = ui.Target{Href: "/shared-dns-zones", Label: "Shared DNS zones"}
	grantHeads   = []ui.Head{{Label: "Zone"}, {Label: "May use it"}, {Label: "State"}, {Label: "Names"}, {Label: "In use"}, {Field: "-created_at", Label: "Granted"}}
	sharedHeads  = []ui.Head{{Field: "name", Label: "Zone"}, {Label: "State"}, {Label: "Names"}, {Label: "Shared by"}, {Label: "In use here"}}
)

func grantURL(g api.DNSZoneGrant) string { return "/dns-zone-grants/" + g.ID }

// grantedNames is which names of a zone are granted, in words.
func grantedNames(whole bool, suffix string) string {
	if whole {
		return "the whole zone"
	}
	return suffix + " and below"
}

// stands is how a grant stands in a word.
func stands(revoked bool) (ui.Tone, string, string) {
	if revoked {
		return ui.Wait, "ending", "revoked; it ends with the last name that it let in"
	}
	return ui.Good, "granted", "the scope can have names in the zone"
}

func listGrants(r *page.Request) error {
	f := api.DNSZoneGrantFilter{Zone: r.Query("zone"), PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}}
	found, err := r.API.ListDNSZoneGrants(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Grants of DNS zones", Path: "/dns-zone-grants", Here: r.Here(), Means: "A grant lets another organization, project or workspace have names in a zone of this workspace.",
		New: ui.Target{Href: "/dns-zone-grants/new", Label: "Grant a zone"}, Empty: len(found.Items) == 0,
		None: "No zone is granted", NoneText: "Zones serve this workspace alone.", NoMatch: "No grant matches",
		Heads: grantHeads, Sort: r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/dns-zones", Body: grantsPage(l, found.Items)})
}

type grantView struct {
	object.Detail
	Grant api.DNSZoneGrant
}

func showGrant(r *page.Request) error {
	g, err := r.API.GetDNSZoneGrant(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := grantView{Grant: g}
	if v.View, err = object.Load(r.Ctx, r, "dns_zone_grant", g.ID, api.JobFilter{Object: g.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{grantsTarget}, g.Zone+" for "+g.Scope, grantURL(g)
	v.Tone, v.State, v.Means = stands(g.RevokedAt != nil)
	v.Operations = page.Operations(g.Operations, []ui.Operation{
		{Name: "change", Label: "Edit", What: "Changes which names the scope may have.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Revoke", What: "Nothing new comes to the zone. Names that are there stay until they are deleted.", Action: v.Here + "/delete", Danger: true, Confirm: g.Zone, Typed: "the zone's name", Version: g.Version},
		{Name: "remove-names", Label: "Remove names", What: "Deletes all names that the grant let in, also those of allocations. Those who use them lose them.", Action: v.Here + "/remove-names", Danger: true, Confirm: g.Zone, Typed: "the zone's name"},
	})
	return r.Show(page.View{Title: v.Name, Nav: "/dns-zones", Body: grantPage(v)})
}

func showNewGrant(r *page.Request) error {
	return drawNewGrant(r, fiber.StatusOK, ui.Form{Values: url.Values{"zone": {r.Query("zone")}}})
}

func drawNewGrant(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{grantsTarget}, "Grant a DNS zone", "/dns-zone-grants/new", "Grant", "/dns-zone-grants"
	f.Key, f.Fields = page.NewKey(), []string{"zone", "scope", "suffix"}
	return r.Show(page.View{Title: f.Title, Nav: "/dns-zones", Status: status, Body: grantFormPage(f)})
}

func showEditGrant(r *page.Request) error { return drawEditGrant(r, fiber.StatusOK, ui.Form{}) }

func drawEditGrant(r *page.Request, status int, f ui.Form) error {
	g, err := r.API.GetDNSZoneGrant(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values = url.Values{"suffix": {""}}
		if !g.WholeZone {
			f.Values.Set("suffix", g.Suffix)
		}
		f.Version = strconv.FormatInt(g.Version, 10)
	}
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{grantsTarget, {Href: grantURL(g), Label: g.Zone + " for " + g.Scope}}, "Edit the grant", grantURL(g)+"/edit", "Save"
	f.Cancel, f.Fields = grantURL(g), []string{"suffix"}
	return r.Show(page.View{Title: f.Title, Nav: "/dns-zones", Status: status, Body: grantFormPage(f)})
}

func removeNames(r *page.Request) error {
	if _, err := r.API.RemoveDNSZoneNames(r.Ctx, r.Param("id"), api.RemoveDNSZoneNames{Confirm: r.Form("confirm")}); err != nil {
		return err
	}
	return r.Go("/dns-zone-grants", "dns-zone-names-removed")
}

func listShared(r *page.Request) error {
	found, err := r.API.ListSharedDNSZones(r.Ctx, api.SharedDNSZoneFilter{PageQuery: api.PageQuery{Cursor: r.Query("cursor"), Sort: r.Query("sort"), Limit: 50}})
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Shared DNS zones", Path: "/shared-dns-zones", Here: r.Here(),
		Means: "Zones of other workspaces that this one may have names in. Their owners keep the name servers and their keys.",
		Empty: len(found.Items) == 0, None: "No zone is shared with this workspace", NoneText: "The owner of a zone grants it.", NoMatch: "No zone matches",
		Heads: sharedHeads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/shared-dns-zones", Body: sharedZonesPage(l, found.Items)})
}

type sharedView struct {
	object.Detail
	Zone api.SharedDNSZone
	Sets []api.DNSRecordSet
}

func showShared(r *page.Request) error {
	z, err := r.API.GetSharedDNSZone(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := sharedView{Zone: z}
	sets, err := r.API.ListDNSRecordSets(r.Ctx, api.DNSRecordSetFilter{Zone: z.ZoneID, PageQuery: api.PageQuery{Limit: maxOnZone}})
	if err = page.Optional(err); err != nil {
		return err
	}
	v.Sets = sets.Items
	if v.View, err = object.Load(r.Ctx, r, "shared_dns_zone", z.ID, api.JobFilter{Object: z.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{sharedTarget}, z.Name, "/shared-dns-zones/"+z.ID
	v.Tone, v.State, v.Means = zoneTones.Of(z.State), z.State, z.StateMeans
	if z.RevokedAt != nil {
		v.Tone, v.State, v.Means = ui.Wait, "ending", "its owner revoked the grant; names that are there stay until they are deleted"
	}
	v.Operations = page.Operations(z.Operations, []ui.Operation{
		{Name: "name-allocations", Label: "Name allocations here", What: "Gives each allocation of the workspace, or its cluster, a name that ends with " + z.Suffix + ".", Action: v.Here + "/naming?names=true"},
		{Name: "stop-naming", Label: "Stop naming allocations", What: "Takes the names of allocations out of the zone.", Action: v.Here + "/naming?names=false"},
	})
	return r.Show(page.View{Title: z.Name, Nav: "/shared-dns-zones", Body: sharedZonePage(v)})
}

func setNaming(r *page.Request) error {
	z, err := r.API.NameInSharedDNSZone(r.Ctx, r.Param("id"), api.NameInSharedDNSZone{NamesAllocations: r.Query("names") == "true"})
	if err != nil {
		return err
	}
	return r.Go("/shared-dns-zones/"+z.ID, "dns-naming-set")
}

// zoneURL is the page of the zone of a record set, which another workspace may own.
func zoneURL(s api.DNSRecordSet) string {
	if s.SharedZoneID != "" {
		return "/shared-dns-zones/" + s.SharedZoneID
	}
	return "/dns-zones/" + s.ZoneID
}

// zoneChoices are the zones that record sets can be added to: those of the workspace, by name, and those that are shared with it, by id.
func zoneChoices(r *page.Request) (all []ui.Choice, err error) {
	zones, err := r.API.ListDNSZones(r.Ctx, api.DNSZoneFilter{PageQuery: api.PageQuery{Limit: 200}})
	if err != nil {
		return nil, err
	}
	for _, z := range zones.Items {
		all = append(all, ui.Choice{Value: z.Name, Label: z.Name})
	}
	if r.May(readShared) {
		shared, err := r.API.ListSharedDNSZones(r.Ctx, api.SharedDNSZoneFilter{PageQuery: api.PageQuery{Limit: 200}})
		if err = page.Optional(err); err != nil {
			return nil, err
		}
		for _, z := range shared.Items {
			all = append(all, ui.Choice{Value: z.ID, Label: z.Name + ", shared by " + z.Organization})
		}
	}
	return all, nil
}
