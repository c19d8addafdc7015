package delivery

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const releasesPath = "/release-deliveries"

var releasesTarget = ui.Target{Href: releasesPath, Label: "Deliveries of releases"}

func mountReleases(r fiber.Router, a *page.App) {
	r.Get(releasesPath, a.Page(listOfReleases))
	r.Get(releasesPath+"/new", a.Page(newOfRelease))
	r.Post(releasesPath+"/new", a.Page(page.Create((*client.Client).CreateReleaseDelivery, drawOfRelease, func(d api.ReleaseDelivery) string { return releasesPath + "/" + d.ID }, "delivery-begun")))
	r.Get(releasesPath+"/:id", a.Page(showOfRelease))
	r.Post(releasesPath+"/:id/pause", a.Page(moveOfRelease((*client.Client).PauseReleaseDelivery, "delivery-paused")))
	r.Post(releasesPath+"/:id/resume", a.Page(moveOfRelease((*client.Client).ResumeReleaseDelivery, "delivery-resumed")))
	r.Post(releasesPath+"/:id/roll-back", a.Page(rollBackRelease))
}

func listOfReleases(r *page.Request) error {
	f := api.ReleaseDeliveryFilter{State: r.Query("state")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListReleaseDeliveries(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Deliveries of releases", Path: releasesPath, Here: r.Here(), Links: []ui.Target{{Href: "/system", Label: "System"}},
		Means:   "A delivery tells which machine of a backend or web app gets a release of Kloigos next. It replaces no program.",
		New:     ui.Target{Href: releasesPath + "/new", Label: "Deliver a release"},
		Filters: releaseFilters(f), Filtered: f.State != "", Empty: len(found.Items) == 0,
		None: "No deliveries yet", NoneText: "Begin one before you upgrade the first backend.", NoMatch: "No delivery matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Release"}, {Label: "Machine"}, {Label: "Order"}, {Field: "created_at", Label: "Begun"}},
		Sort:  r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	rows := make([]row, len(found.Items))
	for i, d := range found.Items {
		rows[i] = row{releasesPath + "/" + d.ID, d.Name, d.Release, "one by one", d.DeliveryProgress, d.CreatedAt}
	}
	return r.Show(page.View{Title: l.Title, Nav: "/system", Body: listPage(l, rows)})
}

func showOfRelease(r *page.Request) error {
	d, err := r.API.GetReleaseDelivery(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := api.ReleaseTargetFilter{Delivery: d.ID, State: r.Query("state")}
	f.Cursor, f.Limit = r.Query("cursor"), 50
	found, err := r.API.ListReleaseTargets(r.Ctx, f)
	if err != nil {
		return err
	}
	v := view{At: releasesPath + "/" + d.ID, Label: "Machine", State: f.State, Progress: d.DeliveryProgress, Facts: []fact{
		{Label: "Release", Value: d.Release},
		{Label: "Runs now", Value: runs(d.Running)},
		{Label: "What is done on machines", Value: "nothing: replace the program on a machine that is told"},
	}}
	targets := api.Page[api.DeliveryTarget]{NextCursor: found.NextCursor, PreviousCursor: found.PreviousCursor}
	for _, t := range found.Items {
		under := t.Kind
		if t.Runs != "" {
			under += ", runs " + t.Runs
		}
		targets.Items = append(targets.Items, api.DeliveryTarget{Host: t.Name, Zone: under, Wave: t.Wave, State: t.State, Reason: t.Reason, ToldAt: t.ToldAt})
	}
	v.Operations = page.Operations(d.Operations, v.operations(d.Name, "Tells each machine that was told to go back to the version before."))
	return v.show(r, "release_delivery", d.ID, d.Name, "/system", releasesTarget, targets)
}

// runs says which versions run on how many machines.
func runs(all []api.ReleaseVersion) string {
	parts := make([]string, len(all))
	for i, v := range all {
		parts[i] = fmt.Sprintf("%s on %d", cmp.Or(v.Release, "unknown"), v.Count)
	}
	return strings.Join(parts, "; ")
}

// moveOfRelease is the handler of a button.
func moveOfRelease(call func(*client.Client, context.Context, string, ...client.Option) (api.ReleaseDelivery, error), said string) func(*page.Request) error {
	return func(r *page.Request) error {
		d, err := call(r.API, r.Ctx, r.Param("id"), r.IfSeen())
		if err != nil {
			return err
		}
		return r.Go(releasesPath+"/"+d.ID, said)
	}
}

var rollBackRelease = page.Typed((*client.Client).GetReleaseDelivery, func(d api.ReleaseDelivery) string { return d.Name }, moveOfRelease((*client.Client).RollBackReleaseDelivery, "release-returned"))

var releaseFields = []string{"name", "release", "web_apps", "canaries", "gap_seconds", "proof_seconds"}

func newOfRelease(r *page.Request) error {
	return drawOfRelease(r, fiber.StatusOK, ui.Form{Values: url.Values{"gap_seconds": {"60"}, "proof_seconds": {"3600"}}})
}

func drawOfRelease(r *page.Request, status int, f ui.Form) error {
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{releasesTarget}, "Deliver a release of Kloigos", releasesPath+"/new", "Begin", releasesPath
	f.Key, f.Fields = page.NewKey(), releaseFields
	return r.Show(page.View{Title: f.Title, Nav: "/system", Status: status, Body: releaseForm(f)})
}
