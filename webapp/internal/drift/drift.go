// Package drift owns the page of what is not as promised on hosts, and the section about it on the pages of hosts and units.
package drift

import (
	"context"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const icon = "M2.500 8h3l1.500-4 2 8 1.500-4h3"

// Area is the page of this folder.
var Area = page.Area{
	Mount: mount,
	Waits: waiting,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/drift", Label: "Drift", Icon: icon, Needs: "project.workspace.drift:read"}},
	Pages: []ui.Target{{Href: modesPath, Label: "What is done about drift", Icon: icon, Needs: "project.workspace.drift:read"}},
	Notices: map[string]string{
		"drift-repair":   "A job puts it right.",
		"drift-accepted": "The difference is accepted until its time ends.",
		"drift-mode":     "It is set. It holds for what drifts from now on, and for what is open.",
	},
}

var tones = states.Tones{"open": ui.Bad, "repairing": ui.Busy, "given_up": ui.Bad, "accepted": ui.Idle, "ended": ui.Good}

func mount(r fiber.Router, a *page.App) {
	r.Get("/drift", a.Page(list))
	r.Get(modesPath, a.Page(listModes))
	r.Get(modesPath+"/set", a.Page(showSetMode))
	r.Post(modesPath+"/set", a.Page(page.Create((*client.Client).SetDriftMode, drawSetMode, func(api.DriftMode) string { return modesPath }, "drift-mode")))
	r.Get("/drift/:id/accept", a.Page(showAccept))
	r.Post("/drift/:id/accept", a.Page(page.Change((*client.Client).AcceptDrift, drawAccept, func(api.Drift) string { return "/drift" }, "drift-accepted")))
	r.Post("/drift/:id/repair", a.Page(repair))
}

func list(r *page.Request) error {
	f := api.DriftFilter{State: r.Query("state"), Host: r.Query("host"), Promise: r.Query("promise")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListDrifts(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Drift", Path: "/drift", Here: r.Here(), Links: []ui.Target{modesTarget},
		Means:   "A promise of a host or a unit that no longer holds, by the word of the host's agent.",
		Filters: filters(f), Filtered: f.State+f.Host+f.Promise != "", Empty: len(found.Items) == 0,
		None: "Nothing has drifted", NoneText: "All hosts with an agent are as promised.", NoMatch: "No drift matches",
		Heads: []ui.Head{{Label: "Of"}, {Label: "Promise"}, {Label: "State"}, {Label: "Promised"}, {Label: "Found"}, {Field: "since", Label: "Since"}, {Label: "Repair"}},
		Sort:  r.Sorter("-since"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: "/drift", Body: driftPage(l, found.Items)})
}

// waiting is what no repair puts right, and how much nobody repairs.
func waiting(ctx context.Context, r *page.Request) (all []page.Task, err error) {
	given, err := r.API.ListDrifts(ctx, api.DriftFilter{State: "given_up", PageQuery: api.PageQuery{Limit: page.MaxFound}})
	if err != nil {
		return nil, err
	}
	for _, d := range given.Items {
		if d.State != "given_up" { // it has changed since
			continue
		}
		all = append(all, page.Task{Tone: ui.Bad, Title: d.Name + ": " + ui.Word(d.Promise) + " keeps drifting", Why: ui.Sentence(d.Message), Href: driftedURL(d)})
	}
	open, err := r.API.ListDrifts(ctx, api.DriftFilter{State: "open", PageQuery: api.PageQuery{Limit: mostCounted}})
	if n := len(open.Items); n > 0 {
		all = append(all, page.Task{Tone: ui.Bad, Title: "Drift: " + counted(n), Why: "Hosts are not as promised: somebody or something changed them. See what, and have it repaired or accept it.", Href: "/drift?state=open"})
	}
	return all, err
}

// mostCounted is up to how many drifts are counted for the overview.
const mostCounted = 100

func counted(n int) string {
	if n == mostCounted {
		return "100 or more promises"
	}
	return ui.Count(n, "promise")
}

func repair(r *page.Request) error {
	_, job, err := r.API.RepairDrift(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return r.GoJob(job, "/drift", "drift-repair")
}

// Of is what is not as promised on a host, or on a unit.
func Of(ctx context.Context, r *page.Request, host, unit string) ([]api.Drift, error) {
	found, err := r.API.ListDrifts(ctx, api.DriftFilter{Host: host, Unit: unit, PageQuery: api.PageQuery{Limit: 100}})
	return found.Items, page.Optional(err)
}

func driftedURL(d api.Drift) string {
	if d.UnitID != "" {
		return "/compute-units/" + d.UnitID
	}
	return "/hosts/" + d.HostID
}

// can tells whether something can be done with a drift now.
func can(d api.Drift, name string) bool {
	return slices.ContainsFunc(d.Operations, func(o api.Operation) bool { return o.Name == name && o.Allowed })
}

func word(state string) string { return strings.ReplaceAll(state, "_", " ") }
