// Package dns owns the pages of DNS: zones with their credentials and plans, record
// sets with what name servers tell of them, and records that nobody asked for here.
package dns

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM1.500 8h13M8 1.500c2 2 2.600 4 2.600 6.500S10 12.500 8 14.500M8 1.500C6 3.500 5.400 5.500 5.400 8S6 12.500 8 14.500"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/dns-zones", Label: "DNS zones", Icon: icon}},
	Pages: []ui.Target{
		{Href: "/dns-zones/new", Label: "Add a DNS zone", Icon: icon},
		{Href: "/dns-record-sets", Label: "DNS record sets", Icon: icon},
		{Href: "/dns-record-sets?state=failed", Label: "Failed DNS record sets", Icon: icon},
		{Href: "/dns-foreign-records", Label: "Foreign DNS records", Icon: icon},
	},
	Finds: []page.Find{{Noun: "DNS zones", Do: findZones}, {Noun: "DNS record sets", Do: findRecordSets}},
	Nouns: []page.Noun{{Name: "dns_zone", Path: "/dns-zones/"}, {Name: "dns_record_set", Path: "/dns-record-sets/"}},
	Notices: map[string]string{
		"dns-zone-created":       "The zone is added. A synchronization is due; it lists what the name server already has.",
		"dns-zone-changed":       "The zone is changed. A synchronization is due.",
		"dns-zone-deleted":       "The zone is deleted. Its name server keeps what it has.",
		"dns-record-set-created": "The record set is added. The next synchronization brings it to the name server.",
		"dns-record-set-changed": "The record set is changed. The next synchronization brings it to the name server.",
		"dns-record-set-deleted": "The record set is deleted. The next synchronization takes it off the name server, where the mode of the zone allows that.",
		"dns-record-adopted":     "The record set is adopted. From the next synchronization on, it is kept in line.",
	},
}

var (
	zoneTones = states.Tones{"pending": ui.Line, "syncing": ui.Busy, "live": ui.Good, "held": ui.Wait, "failed": ui.Bad}
	setTones  = states.Tones{"pending": ui.Line, "live": ui.Good, "failed": ui.Bad, "deleting": ui.Busy}
	told      = states.Tones{"current": ui.Good, "absent": ui.Wait, "different": ui.Wait, "unreachable": ui.Bad, "address_refused": ui.Bad, "not_authoritative": ui.Bad, "failed": ui.Bad}
	outcomes  = states.Tones{"foreign": ui.Idle, "kept": ui.Shut}
)

func mount(r fiber.Router, a *page.App) {
	r.Get("/dns-zones", a.Page(listZones))
	r.Get("/dns-zones/new", a.Page(showNewZone))
	r.Post("/dns-zones/new", a.Page(createZone))
	r.Get("/dns-zones/:id", a.Page(showZone))
	r.Get("/dns-zones/:id/edit", a.Page(showEditZone))
	r.Post("/dns-zones/:id/edit", a.Page(changeZone))
	r.Post("/dns-zones/:id/synchronize", a.Page(synchronize))
	r.Post("/dns-zones/:id/confirm", a.Page(confirmPlan))
	r.Post("/dns-zones/:id/adopt", a.Page(adopt))
	r.Post("/dns-zones/:id/delete", a.Page(deleteZone))
	r.Get("/dns-foreign-records", a.Page(listForeign))
	r.Get("/dns-record-sets", a.Page(listRecordSets))
	r.Get("/dns-record-sets/new", a.Page(showNewRecordSet))
	r.Post("/dns-record-sets/new", a.Page(createRecordSet))
	r.Get("/dns-record-sets/:id", a.Page(showRecordSet))
	r.Get("/dns-record-sets/:id/edit", a.Page(showEditRecordSet))
	r.Post("/dns-record-sets/:id/edit", a.Page(changeRecordSet))
	r.Post("/dns-record-sets/:id/check", a.Page(check))
	r.Post("/dns-record-sets/:id/delete", a.Page(deleteRecordSet))
}

func findZones(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListDNSZones(ctx, api.DNSZoneFilter{PageQuery: api.PageQuery{Limit: 200}})
	all := make([]ui.Target, 0, len(found.Items))
	for _, z := range found.Items {
		all = append(all, ui.Target{Href: "/dns-zones/" + z.ID, Label: z.Name, Note: ui.Word(z.State) + " · " + z.Server, Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}
