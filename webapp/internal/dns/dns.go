// Package dns owns the pages of DNS: zones with their credentials and plans, record
// sets with what name servers tell of them, and records that nobody asked for here.
package dns

import (
	"context"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 1.500a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13zM1.500 8h13M8 1.500c2 2 2.600 4 2.600 6.500S10 12.500 8 14.500M8 1.500C6 3.500 5.400 5.500 5.400 8S6 12.500 8 14.500"

// Zones is the pages of zones and foreign records.
var Zones = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/dns-zones", Label: "DNS zones", Icon: icon, Needs: "project.workspace.dns_zone:read"}},
	Pages: []ui.Target{
		{Href: "/dns-zones/new", Label: "Add a DNS zone", Icon: icon, Needs: "project.workspace.dns_zone:create"},
		{Href: "/dns-foreign-records", Label: "Foreign DNS records", Icon: icon, Needs: "project.workspace.dns_zone:read"},
	},
	Finds: []page.Find{{Noun: "DNS zones", Do: findZones}},
	Waits: zonesThatWait,
	Nouns: []page.Noun{{Name: "dns_zone", Path: "/dns-zones/"}},
	Notices: map[string]string{
		"dns-zone-created":   "The zone is added. A synchronization is due; it lists what the name server already has.",
		"dns-zone-changed":   "The zone is changed. A synchronization is due.",
		"dns-zone-deleted":   "The zone is deleted. Its name server keeps what it has.",
		"dns-record-adopted": "The record set is adopted. From the next synchronization on, it is kept in line.",
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
	r.Post("/dns-zones/new", a.Page(page.Create((*client.Client).CreateDNSZone, drawNewZone, atZone, "dns-zone-created")))
	r.Get("/dns-zones/:id", a.Page(showZone))
	r.Get("/dns-zones/:id/edit", a.Page(showEditZone))
	r.Post("/dns-zones/:id/edit", a.Page(page.Change(changeKeepingSecret, drawEditZone, atZone, "dns-zone-changed")))
	r.Post("/dns-zones/:id/synchronize", a.Page(page.Start((*client.Client).SyncDNSZone, "/dns-zones/")))
	r.Post("/dns-zones/:id/confirm", a.Page(confirmPlan))
	r.Post("/dns-zones/:id/adopt", a.Page(adopt))
	r.Post("/dns-zones/:id/delete", a.Page(page.Delete((*client.Client).GetDNSZone, (*client.Client).DeleteDNSZone, func(z api.DNSZone) (name, to string) { return z.Name, "/dns-zones" }, "dns-zone-deleted")))
	r.Get("/dns-foreign-records", a.Page(listForeign))
}

// zonesThatWait are zones that a person has to look at: a plan waits for a word, or the name server refuses.
func zonesThatWait(ctx context.Context, r *page.Request) (all []page.Task, err error) {
	for _, state := range []string{"failed", "held"} {
		found, err := r.API.ListDNSZones(ctx, api.DNSZoneFilter{State: state, PageQuery: api.PageQuery{Limit: page.MaxFound}})
		if err != nil {
			return nil, err
		}
		for _, z := range found.Items {
			if z.State != state { // it has changed since
				continue
			}
			all = append(all, page.Task{Tone: zoneTones[z.State], Title: "DNS zone " + z.Name + ": " + ui.Word(z.State), Why: ui.Sentence(z.Message), Href: "/dns-zones/" + z.ID})
		}
	}
	return all, nil
}

func findZones(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	found, err := r.API.ListDNSZones(ctx, api.DNSZoneFilter{PageQuery: api.PageQuery{Limit: 200}})
	all := make([]ui.Target, 0, len(found.Items))
	for _, z := range found.Items {
		all = append(all, ui.Target{Href: "/dns-zones/" + z.ID, Label: z.Name, Note: ui.Word(z.State) + " · " + z.Server, Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}
