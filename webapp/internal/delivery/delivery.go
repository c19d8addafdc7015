// Package delivery owns the pages of update deliveries (version, waves, state of each host) and of the builds that can be
// delivered.
package delivery

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"

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
	},
	Nouns: []page.Noun{{Name: "update_delivery", Path: path + "/"}},
	Notices: map[string]string{
		"delivery-begun":    "The delivery has begun. A policy tells the hosts, wave by wave.",
		"delivery-paused":   "The delivery is paused. Hosts that were told go on.",
		"delivery-resumed":  "The delivery goes on.",
		"delivery-returned": "Each host that was told goes back to the version before.",
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
	r.Post(path+"/new", a.Page(create))
	r.Get(path+"/:id", a.Page(show))
	r.Post(path+"/:id/pause", a.Page(move((*client.Client).PauseUpdateDelivery, "delivery-paused")))
	r.Post(path+"/:id/resume", a.Page(move((*client.Client).ResumeUpdateDelivery, "delivery-resumed")))
	r.Post(path+"/:id/roll-back", a.Page(rollBack))
	r.Get("/agent-builds", a.Page(listBuilds))
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
	return r.Show(page.View{Title: l.Title, Nav: path, Body: listPage(l, found.Items)})
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

type view struct {
	object.Detail
	Delivery api.UpdateDelivery
	Waves    []wave
	Targets  []api.DeliveryTarget
	State    string // of the targets that are shown; "" for any
	Pages    ui.Pages
}

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
	v := view{Delivery: d, Waves: wavesOf(d.Waves), State: r.Query("state")}
	f := api.DeliveryTargetFilter{Delivery: d.ID, State: v.State}
	f.Cursor, f.Limit = r.Query("cursor"), 50
	targets, err := r.API.ListDeliveryTargets(r.Ctx, f)
	if err != nil {
		return err
	}
	v.Targets, v.Pages = targets.Items, r.Pages(targets.PreviousCursor, targets.NextCursor)
	if v.View, err = object.Load(r.Ctx, r, "update_delivery", d.ID, api.JobFilter{Object: d.ID}); err != nil {
		return err
	}
	at := path + "/" + d.ID
	v.Up, v.Name, v.Here = []ui.Target{deliveriesTarget}, d.Name, r.Here()
	v.Tone, v.Detail.State, v.Means, v.Message = tones.Of(d.State), d.State, d.StateMeans, d.Reason
	v.Operations = page.Operations(d.Operations, []ui.Operation{
		{Name: "pause", Label: "Pause", What: "Tells no further hosts. Hosts that were told go on.", Action: at + "/pause", Version: d.Version},
		{Name: "resume", Label: "Resume", What: "Goes on. Failures until now count no more.", Action: at + "/resume", Main: true, Version: d.Version},
		{Name: "roll-back", Label: "Roll back", What: "Sends each host that was told back to the version before.", Action: at + "/roll-back", Danger: true, Confirm: d.Name, Typed: "the name", Version: d.Version},
	})
	return r.Show(page.View{Title: d.Name, Nav: path, Body: showPage(v)})
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

func rollBack(r *page.Request) error {
	d, err := r.API.GetUpdateDelivery(r.Ctx, r.Param("id"))
	if err == nil {
		err = r.Typed(d.Name)
	}
	if err != nil {
		return err
	}
	return move((*client.Client).RollBackUpdateDelivery, "delivery-returned")(r)
}

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

func create(r *page.Request) error {
	return page.Create(r, (*client.Client).CreateUpdateDelivery, drawNew, func(d api.UpdateDelivery) string { return path + "/" + d.ID }, "delivery-begun")
}

func ofWaves(d api.UpdateDelivery) string { return fmt.Sprintf("%d of %d", d.Wave, d.WaveCount) }

func reach(d api.UpdateDelivery) string {
	switch {
	case d.Zone != "":
		return "those of zone " + d.Zone
	case d.Region != "":
		return "those of region " + d.Region
	}
	return "all with an agent"
}

func megabytes(n int64) string { return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB" }
