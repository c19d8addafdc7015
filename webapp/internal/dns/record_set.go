package dns

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// RecordSets is the pages of record sets.
var RecordSets = page.Area{
	Mount: func(r fiber.Router, a *page.App) {
		r.Get("/dns-record-sets", a.Page(listRecordSets))
		r.Get("/dns-record-sets/new", a.Page(showNewRecordSet))
		r.Post("/dns-record-sets/new", a.Page(page.Create((*client.Client).CreateDNSRecordSet, drawNewRecordSet, atSet, "dns-record-set-created")))
		r.Get("/dns-record-sets/:id", a.Page(showRecordSet))
		r.Get("/dns-record-sets/:id/edit", a.Page(showEditRecordSet))
		r.Post("/dns-record-sets/:id/edit", a.Page(page.Change((*client.Client).ChangeDNSRecordSet, drawEditRecordSet, atSet, "dns-record-set-changed")))
		r.Post("/dns-record-sets/:id/check", a.Page(page.Start((*client.Client).CheckDNSRecordSet, "/dns-record-sets/")))
		r.Post("/dns-record-sets/:id/delete", a.Page(page.Delete((*client.Client).GetDNSRecordSet, (*client.Client).DeleteDNSRecordSet, func(s api.DNSRecordSet) (name, to string) { return s.Name, zoneURL(s) }, "dns-record-set-deleted")))
	},
	Pages: []ui.Target{
		{Href: "/dns-record-sets", Label: "DNS record sets", Icon: icon, Needs: "project.workspace.dns_record_set:read"},
		{Href: "/dns-record-sets/new", Label: "Add a DNS record set", Icon: icon, Needs: "project.workspace.dns_record_set:create"},
		{Href: "/dns-record-sets?state=failed", Label: "Failed DNS record sets", Icon: icon},
	},
	Finds: []page.Find{{Noun: "DNS record sets", Do: findRecordSets}},
	Nouns: []page.Noun{{Name: "dns_record_set", Path: "/dns-record-sets/"}},
	Notices: map[string]string{
		"dns-record-set-created": "The record set is added. The next synchronization brings it to the name server.",
		"dns-record-set-changed": "The record set is changed. The next synchronization brings it to the name server.",
		"dns-record-set-deleted": "The record set is deleted. The next synchronization takes it off the name server, where the mode of the zone allows that.",
	},
}

func findRecordSets(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	if !strings.Contains(query, ".") { // the API finds whole names
		return nil, nil
	}
	found, err := r.API.ListDNSRecordSets(ctx, api.DNSRecordSetFilter{Name: query, PageQuery: api.PageQuery{Limit: page.MaxFound}})
	if _, about := page.Problems(err); about { // no name yet
		return nil, nil
	}
	all := make([]ui.Target, 0, len(found.Items))
	for _, s := range found.Items {
		all = append(all, ui.Target{Href: "/dns-record-sets/" + s.ID, Label: s.Name + " " + s.Type, Note: ui.Word(s.State) + " · " + strings.Join(s.Values, ", "), Icon: icon})
	}
	return all, err
}

var setHeads = []ui.Head{{Field: "name", Label: "Name"}, {Label: "Type"}, {Field: "state", Label: "State"}, {Label: "Values"}, {Label: "Zone"}}

func listRecordSets(r *page.Request) error {
	f := api.DNSRecordSetFilter{Zone: r.Query("zone"), Name: r.Query("name"), Type: r.Query("type"), State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListDNSRecordSets(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "DNS record sets", Path: "/dns-record-sets", Here: r.Here(), Links: []ui.Target{zonesTarget},
		Means:   "A record set is all records of one name and type. Kloigos keeps them on the name server of their zone.",
		New:     ui.Target{Href: ofZone("/dns-record-sets/new", f.Zone), Label: "Add a record set"},
		Filters: setFilters(f), Filtered: f.Zone+f.Name+f.Type+f.State != "", Empty: len(found.Items) == 0,
		None: "No record sets yet", NoneText: "Add a zone first, then the names that it is to have.", NoMatch: "No record set matches",
		Heads: setHeads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/dns-zones", Body: setsPage(l, found.Items)})
}

type setView struct {
	object.Detail
	Set api.DNSRecordSet
}

func showRecordSet(r *page.Request) error {
	s, err := r.API.GetDNSRecordSet(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := setView{Set: s}
	if v.View, err = object.Load(r.Ctx, r, "dns_record_set", s.ID, api.JobFilter{Object: s.ID}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{zonesTarget, {Href: zoneURL(s), Label: s.Zone}}, s.Name+" "+s.Type, "/dns-record-sets/"+s.ID
	v.Tone, v.State, v.Means, v.Message = setTones.Of(s.State), s.State, s.StateMeans, s.Message
	if slices.ContainsFunc(s.Operations, func(o api.Operation) bool { return o.Name == "adopt" && o.Allowed }) {
		v.Message, v.Attention = "", adoptNote(s)
	}
	v.Operations = page.Operations(s.Operations, []ui.Operation{
		{Name: "check", Label: "Check now", What: "Asks all name servers and a resolver, until they tell it. Changes nothing.", Action: v.Here + "/check", Main: true},
		{Name: "change", Label: "Edit", What: "Changes TTL or values.", Href: v.Here + "/edit"},
		{Name: "delete", Label: "Delete", What: "Takes it off the name server, where the mode of the zone deletes.", Action: v.Here + "/delete", Danger: true, Confirm: s.Name, Typed: "the name", Version: s.Version},
	})
	return r.Show(page.View{Title: v.Name, Nav: "/dns-zones", Body: setPage(v)})
}

var setFields = []string{"zone", "name", "type", "ttl", "values"}

func atSet(s api.DNSRecordSet) string { return "/dns-record-sets/" + s.ID }

func showNewRecordSet(r *page.Request) error {
	f := ui.Form{Values: url.Values{"zone": {r.Query("zone")}, "type": {r.Query("type")}, "ttl": {"300"}}}
	return drawNewRecordSet(r, fiber.StatusOK, f)
}

func drawNewRecordSet(r *page.Request, status int, f ui.Form) error {
	choices, err := zoneChoices(r)
	if err != nil {
		return err
	}
	if _, known := kinds[f.Values.Get("type")]; !known {
		f.Values.Set("type", "A")
	}
	f.Up, f.Title, f.Action, f.Submit = []ui.Target{zonesTarget, {Href: "/dns-record-sets", Label: "Record sets"}}, "Add a record set", "/dns-record-sets/new", "Add"
	f.Cancel, f.Key, f.Fields, f.Aside = "/dns-record-sets", page.NewKey(), setFields, typeHelp()
	return r.Show(page.View{Title: f.Title, Nav: "/dns-zones", Status: status, Body: setFormPage(f, choices)})
}

func showEditRecordSet(r *page.Request) error { return drawEditRecordSet(r, fiber.StatusOK, ui.Form{}) }

func drawEditRecordSet(r *page.Request, status int, f ui.Form) error {
	s, err := r.API.GetDNSRecordSet(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Values = url.Values{"ttl": {strconv.FormatInt(s.TTL, 10)}, "values": {strings.Join(s.Values, "\n")}}
		f.Version = strconv.FormatInt(s.Version, 10)
	}
	f.Values.Set("type", s.Type)
	f.Up = []ui.Target{zonesTarget, {Href: zoneURL(s), Label: s.Zone}, {Href: atSet(s), Label: s.Name + " " + s.Type}}
	f.Title, f.Action, f.Submit, f.Cancel, f.Fields = "Edit "+s.Name+" "+s.Type, atSet(s)+"/edit", "Save", atSet(s), setFields
	f.Means = "Resolvers may tell the old values for the old TTL, " + strconv.FormatInt(s.TTL, 10) + " seconds."
	return r.Show(page.View{Title: f.Title, Nav: "/dns-zones", Status: status, Body: setFormPage(f, nil)})
}
