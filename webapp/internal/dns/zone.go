package dns

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

// maxOnZone is how many record sets of each state, and foreign records, the page of a zone shows.
const maxOnZone = 8

var zonesTarget = ui.Target{Href: "/dns-zones", Label: "DNS zones"}

// modes say what a synchronization may do.
var modes = map[string]string{
	"sync": "creates, updates and deletes", "upsert_only": "creates and updates, deletes nothing", "observe": "changes nothing, tells the differences",
}

func modeChoices() (all []ui.Choice) {
	for _, m := range states.Enum(api.CreateDNSZone{}, "Mode") {
		all = append(all, ui.Choice{Value: m, Label: ui.Sentence(m) + ": " + modes[m]})
	}
	return all
}

func listZones(r *page.Request) error {
	f := api.DNSZoneFilter{State: r.Query("state"), Mode: r.Query("mode")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListDNSZones(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "DNS zones", Path: "/dns-zones", Here: r.Here(), New: ui.Target{Href: "/dns-zones/new", Label: "Add a zone"},
		Means:   "A zone is kept in line with its record sets. Records on its name server that nobody asked for here are never touched.",
		Links:   []ui.Target{{Href: "/dns-record-sets", Label: "Record sets"}, {Href: "/dns-foreign-records", Label: "Foreign records"}},
		Filters: zoneFilters(f), Filtered: f.State+f.Mode != "", Empty: len(found.Items) == 0,
		None: "No zones yet", NoneText: "Add a zone of a name server that takes updates (RFC 2136). What it already has stays.", NoMatch: "No zone matches",
		Heads: []ui.Head{{Field: "name", Label: "Zone"}, {Field: "state", Label: "State"}, {Label: "Mode"}, {Label: "Name server"}, {Label: "Last synchronization"}, {Label: "Differences"}},
		Sort:  r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/dns-zones", Body: zonesPage(l, found.Items)})
}

type zoneView struct {
	object.Detail
	Zone    api.DNSZone
	Open    []api.DNSRecordSet // those that the name server does not hold as they should be
	Sets    []api.DNSRecordSet
	Foreign []api.DNSForeignRecord

	MayShare bool // who asks may see who else uses it
	Grants   []api.DNSZoneGrant
}

func showZone(r *page.Request) error {
	z, err := r.API.GetDNSZone(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := zoneView{Zone: z}
	open := make([][]api.DNSRecordSet, 3)
	g, ctx := errgroup.WithContext(r.Ctx)
	sets := func(into *[]api.DNSRecordSet, state string) {
		g.Go(func() error {
			found, err := r.API.ListDNSRecordSets(ctx, api.DNSRecordSetFilter{Zone: z.ID, State: state, PageQuery: api.PageQuery{Limit: maxOnZone}})
			*into = found.Items
			return page.Optional(err)
		})
	}
	for i, state := range []string{"failed", "pending", "deleting"} {
		sets(&open[i], state)
	}
	sets(&v.Sets, "")
	g.Go(func() error {
		found, err := r.API.ListDNSForeignRecords(ctx, api.DNSForeignFilter{Zone: z.ID, PageQuery: api.PageQuery{Limit: maxOnZone}})
		v.Foreign = found.Items
		return page.Optional(err)
	})
	if v.MayShare = r.May(readGrants); v.MayShare {
		g.Go(func() error {
			found, err := r.API.ListDNSZoneGrants(ctx, api.DNSZoneGrantFilter{Zone: z.ID, PageQuery: api.PageQuery{Limit: 100}})
			v.Grants = found.Items
			return page.Optional(err)
		})
	}
	g.Go(func() (err error) {
		v.View, err = object.Load(ctx, r, "dns_zone", z.ID, api.JobFilter{Object: z.ID})
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	for _, some := range open {
		v.Open = append(v.Open, some...)
	}
	v.Up, v.Name, v.Here = []ui.Target{zonesTarget}, z.Name, "/dns-zones/"+z.ID
	v.Tone, v.State, v.Means, v.Message = zoneTones.Of(z.State), z.State, z.StateMeans, z.Message
	if z.Plan != nil {
		v.Message, v.Attention = "", heldPlan(z)
	}
	v.Operations = zoneOperations(z)
	return r.Show(page.View{Title: z.Name, Nav: "/dns-zones", Body: zonePage(v)})
}

func zoneOperations(z api.DNSZone) []ui.Operation {
	at := "/dns-zones/" + z.ID
	return page.Operations(z.Operations, []ui.Operation{
		{Name: "synchronize", Label: "Synchronize now", What: "Reads the zone from its name server and brings it in line. Foreign records stay.", Action: at + "/synchronize", Main: z.Plan == nil},
		{Name: "change", Label: "Edit", What: "Changes name server, key, patterns, mode, or whether it names allocations.", Href: at + "/edit"},
		{Name: "delete", Label: "Delete", What: "Takes the zone out of Kloigos. Its name server keeps what it has.", Action: at + "/delete", Danger: true, Confirm: z.Name, Typed: "the zone's name", Version: z.Version},
	})
}

var zoneFields = []string{"name", "server", "allow_private", "key_name", "key_algorithm", "key_secret", "patterns", "mode", "names_allocations"}

func atZone(z api.DNSZone) string { return "/dns-zones/" + z.ID }

func showNewZone(r *page.Request) error {
	return drawNewZone(r, fiber.StatusOK, ui.Form{Values: url.Values{"mode": {"sync"}, "key_algorithm": {"hmac-sha256"}}})
}

func drawNewZone(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{zonesTarget}, "Add a zone", "/dns-zones/new", "Add and synchronize", "/dns-zones"
	f.Means = "The zone is read at once. What the name server already has is listed as foreign and stays."
	return drawZoneForm(r, status, f)
}

func drawZoneForm(r *page.Request, status int, f ui.Form) error {
	f.Key, f.Fields, f.Aside = page.NewKey(), zoneFields, keyHelp()
	return r.Show(page.View{Title: f.Title, Nav: "/dns-zones", Status: status, Body: zoneFormPage(f)})
}

func showEditZone(r *page.Request) error { return drawEditZone(r, fiber.StatusOK, ui.Form{}) }

func drawEditZone(r *page.Request, status int, f ui.Form) error {
	z, err := r.API.GetDNSZone(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if f.Values == nil {
		f.Version = strconv.FormatInt(z.Version, 10)
		f.Values = url.Values{
			"server": {z.Server}, "key_name": {z.KeyName}, "key_algorithm": {z.KeyAlgorithm}, "patterns": {strings.Join(z.Patterns, "\n")},
			"mode": {z.Mode}, "allow_private": {strconv.FormatBool(z.AllowPrivate)},
			"names_allocations": {strconv.FormatBool(z.NamesAllocations)},
		}
	}
	f.Up, f.Title = []ui.Target{zonesTarget, {Href: atZone(z), Label: z.Name}}, "Edit "+z.Name
	f.Action, f.Submit, f.Cancel, f.Means = atZone(z)+"/edit", "Save", atZone(z), "The zone is synchronized with the new settings."
	return drawZoneForm(r, status, f)
}

// changeKeepingSecret keeps the secret where none was typed.
func changeKeepingSecret(c *client.Client, ctx context.Context, id string, in api.ChangeDNSZone, opts ...client.Option) (api.DNSZone, error) {
	if in.KeySecret != nil && *in.KeySecret == "" {
		in.KeySecret = nil
	}
	return c.ChangeDNSZone(ctx, id, in, opts...)
}

func confirmPlan(r *page.Request) error {
	_, job, err := r.API.ConfirmDNSPlan(r.Ctx, r.Param("id"), api.ConfirmDNSPlan{Checksum: r.Form("checksum")}, r.IfSeen())
	if err != nil {
		return err
	}
	return r.GoJob(job, "/dns-zones/"+r.Param("id"), "")
}

func adopt(r *page.Request) error {
	set, err := r.API.AdoptDNSRecord(r.Ctx, r.Param("id"), api.AdoptDNSRecord{Name: r.Form("name") + ".", Type: r.Form("type"), From: r.Form("from")})
	if err != nil {
		return err
	}
	return r.Go("/dns-record-sets/"+set.ID, "dns-record-adopted")
}

func listForeign(r *page.Request) error {
	f := api.DNSForeignFilter{Zone: r.Query("zone")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListDNSForeignRecords(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Foreign DNS records", Path: "/dns-foreign-records", Here: r.Here(), Links: []ui.Target{zonesTarget},
		Means:   "Name servers hold these records, and nobody asked for them here. They are never touched. Adopt one to manage it.",
		Filters: zoneFilter(f.Zone), Filtered: f.Zone != "", Empty: len(found.Items) == 0,
		None: "No foreign records", NoneText: "The last synchronizations found nothing that belongs to others.", NoMatch: "No record matches",
		Heads: foreignHeads, Sort: r.Sorter("name"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/dns-zones", Body: foreignPage(l, found.Items)})
}
