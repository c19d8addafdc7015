// Package delivery owns the pages of deliveries of agents, playbooks and releases (version, waves, state of each host) and of the builds
// that can be delivered.
package delivery

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const (
	icon = "M8 2.500v7M5 6.500l3 3 3-3M2.500 13h11"
	path = "/update-deliveries"
	read = "project.workspace.update_delivery:read"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: path, Label: "Updates", Icon: icon, Needs: read}},
	Pages: []ui.Target{
		{Href: path + "/new", Label: "Deliver a version of the agent", Icon: icon, Needs: "project.workspace.update_delivery:create"},
		{Href: "/agent-builds", Label: "Builds of the agent", Icon: icon, Needs: read},
		{Href: playbooksPath, Label: "Deliveries of playbooks", Icon: icon, Needs: "installation.playbook_delivery:read"},
		{Href: playbooksPath + "/new", Label: "Deliver a version of a playbook", Icon: icon, Needs: "installation.playbook_delivery:create"},
		{Href: releasesPath, Label: "Deliveries of releases", Icon: icon, Needs: "installation.release_delivery:read"},
		{Href: releasesPath + "/new", Label: "Deliver a release of Kloigos", Icon: icon, Needs: "installation.release_delivery:create"},
	},
	Nouns: []page.Noun{{Name: "release_delivery", Path: releasesPath + "/"}, {Name: "update_delivery", Path: path + "/"}, {Name: "playbook_delivery", Path: playbooksPath + "/"}},
	Notices: map[string]string{
		"delivery-begun":    "The delivery has begun. A policy tells the hosts, wave by wave.",
		"delivery-paused":   "The delivery is paused. Hosts that were told go on.",
		"delivery-resumed":  "The delivery goes on.",
		"delivery-returned": "Each host that was told goes back to the version before.",
		"release-returned":  "Each machine that was told is to go back. Replace the programs there.",
		"playbook-returned": "The jobs of all hosts are bound to the default again.",
	},
}

var (
	tones       = states.Tones{"running": ui.Busy, "paused": ui.Wait, "halted": ui.Bad, "returning": ui.Busy, "done": ui.Good, "returned": ui.Shut}
	targetTones = states.Tones{
		"waiting": ui.Idle, "told": ui.Busy, "proven": ui.Good, "failed": ui.Bad, "skipped": ui.Shut, "returning": ui.Busy, "returned": ui.Shut,
	}
)

func mount(r fiber.Router, a *page.App) {
	r.Get(path, a.Page(list))
	r.Get(path+"/new", a.Page(showNew))
	r.Post(path+"/new", a.Page(page.Create((*client.Client).CreateUpdateDelivery, drawNew, func(d api.UpdateDelivery) string { return path + "/" + d.ID }, "delivery-begun")))
	r.Get(path+"/:id", a.Page(show))
	r.Post(path+"/:id/pause", a.Page(move((*client.Client).PauseUpdateDelivery, "delivery-paused")))
	r.Post(path+"/:id/resume", a.Page(move((*client.Client).ResumeUpdateDelivery, "delivery-resumed")))
	r.Post(path+"/:id/roll-back", a.Page(rollBack))
	r.Get("/agent-builds", a.Page(listBuilds))
	mountPlaybooks(r, a)
	mountReleases(r, a)
}

var (
	deliveriesTarget = ui.Target{Href: path, Label: "Updates"}
	buildsTarget     = ui.Target{Href: "/agent-builds", Label: "Builds of the agent"}
)

func list(r *page.Request) error {
	f := api.UpdateDeliveryFilter{State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListUpdateDeliveries(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Updates", Path: path, Here: r.Here(), Links: []ui.Target{buildsTarget},
		Means:   "A delivery brings a version of the agent to hosts, in waves. A bad version halts it.",
		New:     ui.Target{Href: path + "/new", Label: "Deliver a version"},
		Filters: filters(f), Filtered: f.State != "", Empty: len(found.Items) == 0,
		None: "No deliveries yet", NoneText: "Store a signed build with kloigos-backend init, then deliver it.", NoMatch: "No delivery matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Version"}, {Label: "Wave"}, {Label: "Hosts"}, {Field: "created_at", Label: "Begun"}},
		Sort:  r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	rows := make([]row, len(found.Items))
	for i, d := range found.Items {
		rows[i] = row{path + "/" + d.ID, d.Name, d.AgentVersion, reach(d.Region, d.Zone, "all with an agent"), d.DeliveryProgress, d.CreatedAt}
	}
	return r.Show(page.View{Title: l.Title, Nav: path, Body: listPage(l, rows)})
}

func listBuilds(r *page.Request) error {
	f := api.AgentBuildFilter{Arch: r.Query("arch")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListAgentBuilds(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Builds of the agent", Path: "/agent-builds", Here: r.Here(), Links: []ui.Target{deliveriesTarget},
		Means:   "kloigos-backend init stores the signed builds of a release. Each host checks the signature itself.",
		Filters: buildFilters(f), Filtered: f.Arch != "", Empty: len(found.Items) == 0,
		None: "No builds yet", NoneText: "Name their folder in KLOIGOS_AGENT_RELEASE_DIR and run kloigos-backend init.", NoMatch: "No build matches",
		Heads: []ui.Head{{Label: "Version"}, {Label: "For"}, {Label: "Size"}, {Label: "SHA-256"}, {Label: "Expires"}, {Field: "created_at", Label: "Stored"}},
		Sort:  r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	return r.Show(page.View{Title: l.Title, Nav: path, Body: buildsPage(l, found.Items)})
}

// view is the page of one delivery, of any noun.
type view struct {
	object.Detail
	At       string // of the page
	Label    string // of one target: Host, ...
	Facts    []fact
	Progress api.DeliveryProgress
	Waves    []wave
	Targets  []api.DeliveryTarget
	State    string // of the targets that are shown; "" for any
	Pages    ui.Pages
}

// fact is a line about a delivery; with an address it leads there.
type fact struct{ Label, Value, Href string }

// wave is a row of the table of waves.
type wave struct {
	Number int64
	Counts []api.DeliveryWave
}

func wavesOf(counts []api.DeliveryWave) (all []wave) {
	for _, c := range counts {
		at := slices.IndexFunc(all, func(w wave) bool { return w.Number == c.Wave })
		if at < 0 {
			at, all = len(all), append(all, wave{Number: c.Wave})
		}
		all[at].Counts = append(all[at].Counts, c)
	}
	return all
}

func show(r *page.Request) error {
	d, err := r.API.GetUpdateDelivery(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := api.DeliveryTargetFilter{Delivery: d.ID, State: r.Query("state")}
	f.Cursor, f.Limit = r.Query("cursor"), 50
	targets, err := r.API.ListDeliveryTargets(r.Ctx, f)
	if err != nil {
		return err
	}
	probe := "yes, as a part of the proof"
	if d.Plan.SkipProbe {
		probe = "no; heartbeats are proof enough"
	}
	v := view{At: path + "/" + d.ID, Label: "Host", State: f.State, Progress: d.DeliveryProgress, Facts: []fact{
		{Label: "Version", Value: d.AgentVersion}, {Label: "Hosts", Value: reach(d.Region, d.Zone, "all with an agent")}, {Label: "A play reads each host", Value: probe},
	}}
	v.Operations = page.Operations(d.Operations, v.operations(d.Name, "Sends each host that was told back to the version before."))
	return v.show(r, "update_delivery", d.ID, d.Name, path, deliveriesTarget, targets)
}

// operations are the buttons of a delivery.
func (v view) operations(name, rollsBack string) []ui.Operation {
	return []ui.Operation{
		{Name: "pause", Label: "Pause", What: "Tells no further " + strings.ToLower(v.Label) + "s. Those that were told go on.", Action: v.At + "/pause", Version: v.Progress.Version},
		{Name: "resume", Label: "Resume", What: "Goes on. Failures until now count no more.", Action: v.At + "/resume", Main: true, Version: v.Progress.Version},
		{Name: "roll-back", Label: "Roll back", What: rollsBack, Action: v.At + "/roll-back", Danger: true, Confirm: name, Typed: "the name", Version: v.Progress.Version},
	}
}

func (v view) show(r *page.Request, noun, id, name, nav string, up ui.Target, targets api.Page[api.DeliveryTarget]) (err error) {
	v.Waves, v.Targets, v.Pages = wavesOf(v.Progress.Waves), targets.Items, r.Pages(targets.PreviousCursor, targets.NextCursor)
	if v.View, err = object.Load(r.Ctx, r, noun, id, api.JobFilter{Object: id}); err != nil {
		return err
	}
	v.Up, v.Name, v.Here = []ui.Target{up}, name, r.Here()
	v.Tone, v.Detail.State, v.Means, v.Message = tones.Of(v.Progress.State), v.Progress.State, v.Progress.StateMeans, v.Progress.Reason
	return r.Show(page.View{Title: name, Nav: nav, Body: showPage(v)})
}

// move is the handler of a button.
func move(call func(*client.Client, context.Context, string, ...client.Option) (api.UpdateDelivery, error), said string) func(*page.Request) error {
	return func(r *page.Request) error {
		d, err := call(r.API, r.Ctx, r.Param("id"), r.IfSeen())
		if err != nil {
			return err
		}
		return r.Go(path+"/"+d.ID, said)
	}
}

var rollBack = page.Typed((*client.Client).GetUpdateDelivery, func(d api.UpdateDelivery) string { return d.Name }, move((*client.Client).RollBackUpdateDelivery, "delivery-returned"))

var fields = []string{"name", "agent_version", "canaries", "region", "zone", "first_percent", "groups", "by_zone", "gap_seconds", "proof_seconds", "skip_probe", "limit"}

func showNew(r *page.Request) error {
	return drawNew(r, fiber.StatusOK, ui.Form{Values: url.Values{
		"agent_version": {r.Query("agent_version")}, "first_percent": {"10"}, "groups": {"3"}, "gap_seconds": {"60"}, "proof_seconds": {"900"}, "limit": {"0"},
	}})
}

func drawNew(r *page.Request, status int, f ui.Form) error {
	builds, err := r.API.ListAgentBuilds(r.Ctx, api.AgentBuildFilter{PageQuery: api.PageQuery{Limit: 200}})
	if err != nil {
		return err
	}
	var versions []ui.Choice
	for _, b := range builds.Items {
		if !slices.ContainsFunc(versions, func(c ui.Choice) bool { return c.Value == b.AgentVersion }) {
			versions = append(versions, ui.Choice{Value: b.AgentVersion, Label: b.AgentVersion})
		}
	}
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{deliveriesTarget}, "Deliver a version of the agent", path+"/new", "Begin", path
	f.Key, f.Fields = page.NewKey(), fields
	return r.Show(page.View{Title: f.Title, Nav: path, Status: status, Body: formPage(f, versions)})
}

func ofWaves(p api.DeliveryProgress) string { return fmt.Sprintf("%d of %d", p.Wave, p.WaveCount) }

// reach says which hosts a delivery reaches.
func reach(region, zone, all string) string {
	switch {
	case zone != "":
		return "those of zone " + zone
	case region != "":
		return "those of region " + region
	}
	return all
}

func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB" }
