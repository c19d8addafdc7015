package delivery

import (
	"context"
	"fmt"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const playbooksPath = "/playbook-deliveries"

var playbooksTarget = ui.Target{Href: playbooksPath, Label: "Deliveries of playbooks"}

func mountPlaybooks(r fiber.Router, a *page.App) {
	r.Get(playbooksPath, a.Page(listOfPlaybooks))
	r.Get(playbooksPath+"/new", a.Page(newOfPlaybook))
	r.Post(playbooksPath+"/new", a.Page(page.Create((*client.Client).CreatePlaybookDelivery, drawOfPlaybook, func(d api.PlaybookDelivery) string { return playbooksPath + "/" + d.ID }, "delivery-begun")))
	r.Get(playbooksPath+"/:id", a.Page(showOfPlaybook))
	r.Post(playbooksPath+"/:id/pause", a.Page(moveOfPlaybook((*client.Client).PausePlaybookDelivery, "delivery-paused")))
	r.Post(playbooksPath+"/:id/resume", a.Page(moveOfPlaybook((*client.Client).ResumePlaybookDelivery, "delivery-resumed")))
	r.Post(playbooksPath+"/:id/roll-back", a.Page(rollBackPlaybook))
}

func listOfPlaybooks(r *page.Request) error {
	f := api.PlaybookDeliveryFilter{State: r.Query("state"), Playbook: r.Query("playbook")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	found, err := r.API.ListPlaybookDeliveries(r.Ctx, f)
	if err != nil {
		return err
	}
	l := ui.List{
		Title: "Deliveries of playbooks", Path: playbooksPath, Here: r.Here(), Links: []ui.Target{{Href: "/playbooks", Label: "Playbooks"}},
		Means:   "A delivery gives a version of a playbook to hosts in waves. When each was reached, the version becomes the default.",
		New:     ui.Target{Href: playbooksPath + "/new", Label: "Deliver a version"},
		Filters: playbookFilters(f), Filtered: f.State != "" || f.Playbook != "", Empty: len(found.Items) == 0,
		None: "No deliveries yet", NoneText: "Upload a version of a playbook, then deliver it to a few hosts first.", NoMatch: "No delivery matches",
		Heads: []ui.Head{{Field: "name", Label: "Name"}, {Label: "State"}, {Label: "Version"}, {Label: "Wave"}, {Label: "Hosts"}, {Field: "created_at", Label: "Begun"}},
		Sort:  r.Sorter("-created_at"), Pages: r.Pages(found.PreviousCursor, found.NextCursor),
	}
	rows := make([]row, len(found.Items))
	for i, d := range found.Items {
		rows[i] = row{playbooksPath + "/" + d.ID, d.Name, versionOf(d), reach(d.Region, d.Zone, "all"), d.DeliveryProgress, d.CreatedAt}
	}
	return r.Show(page.View{Title: l.Title, Nav: "/playbooks", Body: listPage(l, rows)})
}

func versionOf(d api.PlaybookDelivery) string {
	return fmt.Sprintf("%s v%d", d.Playbook, d.PlaybookVersion)
}

func showOfPlaybook(r *page.Request) error {
	d, err := r.API.GetPlaybookDelivery(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	f := api.PlaybookDeliveryTargetFilter{Delivery: d.ID, State: r.Query("state")}
	f.Cursor, f.Limit = r.Query("cursor"), 50
	targets, err := r.API.ListPlaybookDeliveryTargets(r.Ctx, f)
	if err != nil {
		return err
	}
	v := view{At: playbooksPath + "/" + d.ID, Label: "Host", State: f.State, Progress: d.DeliveryProgress, Facts: []fact{
		{"Version", versionOf(d), fmt.Sprintf("/playbooks/%s/versions/%d", d.Playbook, d.PlaybookVersion)},
		{"Default when it began", fmt.Sprintf("v%d", d.Before), fmt.Sprintf("/playbooks/%s/versions/%d", d.Playbook, d.Before)},
		{Label: "Hosts that come in waves", Value: reach(d.Region, d.Zone, "all that are initialized")},
		{Label: "Proof of a host", Value: "a job that plays the version there ends well, and nothing else became wrong"},
	}}
	v.Operations = page.Operations(d.Operations, v.operations(d.Name, "Binds the jobs of all hosts to the default again."))
	return v.show(r, "playbook_delivery", d.ID, d.Name, "/playbooks", playbooksTarget, targets)
}

// moveOfPlaybook is the handler of a button.
func moveOfPlaybook(call func(*client.Client, context.Context, string, ...client.Option) (api.PlaybookDelivery, error), said string) func(*page.Request) error {
	return func(r *page.Request) error {
		d, err := call(r.API, r.Ctx, r.Param("id"), r.IfSeen())
		if err != nil {
			return err
		}
		return r.Go(playbooksPath+"/"+d.ID, said)
	}
}

var rollBackPlaybook = page.Typed((*client.Client).GetPlaybookDelivery, func(d api.PlaybookDelivery) string { return d.Name }, moveOfPlaybook((*client.Client).RollBackPlaybookDelivery, "playbook-returned"))

var playbookFields = []string{"name", "playbook", "playbook_version", "canaries", "region", "zone", "first_percent", "groups", "by_zone", "gap_seconds", "proof_seconds", "limit"}

func newOfPlaybook(r *page.Request) error {
	return drawOfPlaybook(r, fiber.StatusOK, ui.Form{Values: url.Values{
		"playbook": {r.Query("playbook")}, "playbook_version": {r.Query("version")},
		"first_percent": {"10"}, "groups": {"3"}, "gap_seconds": {"60"}, "proof_seconds": {"900"}, "limit": {"0"},
	}})
}

func drawOfPlaybook(r *page.Request, status int, f ui.Form) error {
	known, err := r.API.ListPlaybooks(r.Ctx, api.PageQuery{Limit: 200})
	if err != nil {
		return err
	}
	var choices []ui.Choice
	for _, p := range known.Items {
		choices = append(choices, ui.Choice{Value: p.Name, Label: p.Name})
	}
	f.Up, f.Title, f.Action, f.Submit, f.Cancel = []ui.Target{playbooksTarget}, "Deliver a version of a playbook", playbooksPath+"/new", "Begin", playbooksPath
	f.Key, f.Fields = page.NewKey(), playbookFields
	return r.Show(page.View{Title: f.Title, Nav: "/playbooks", Status: status, Body: playbookForm(f, choices)})
}
