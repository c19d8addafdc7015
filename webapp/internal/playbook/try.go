package playbook

import (
	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

// trial is what a version can be tried on. A trial is a plan: it changes
// nothing, and shows what the version would change.
type trial struct {
	Action string // where it is asked for; "" where there is nothing to try
	Label  string
	On     []ui.Choice
}

// triedOn is what the plan of a playbook's job is made of.
type triedOn int

const (
	onNothing triedOn = iota // it only reads
	onHost
	onAllocation
)

func kindOfTrial(playbook string) triedOn {
	switch playbook {
	case "host_initialize", "host_decommission":
		return onHost
	case "unit_allocate", "unit_deallocate":
		return onAllocation
	default:
		return onNothing
	}
}

// mostChoices is how many hosts or allocations the form offers.
const mostChoices = 200

func trialOf(r *page.Request, v api.PlaybookVersion) (trial, error) {
	t := trial{Action: place{v.Playbook, v.Version}.href() + "/try"}
	limit := api.PageQuery{Limit: mostChoices}
	switch kindOfTrial(v.Playbook) {
	case onHost:
		t.Label = "Host"
		hosts, err := r.API.ListHosts(r.Ctx, api.HostFilter{PageQuery: limit, State: "ready"})
		if err != nil {
			return trial{}, page.Optional(err)
		}
		for _, h := range hosts.Items {
			t.On = append(t.On, ui.Choice{Value: h.ID, Label: h.Name})
		}
	case onAllocation:
		t.Label = "Allocation"
		found, err := r.API.ListAllocations(r.Ctx, api.AllocationFilter{PageQuery: limit, State: "allocated"})
		if err != nil {
			return trial{}, page.Optional(err)
		}
		for _, a := range found.Items {
			t.On = append(t.On, ui.Choice{Value: a.ID, Label: a.LoginUser + " on " + a.Unit})
		}
	default:
		return trial{}, nil
	}
	return t, nil
}

// try makes a plan with this version.
func try(r *page.Request) error {
	at, err := placeOf(r)
	if err != nil {
		return err
	}
	on, version := r.Form("on"), client.PlaybookVersion(at.Version)
	if on == "" {
		return fiber.ErrBadRequest
	}
	var p api.Plan
	switch at.Playbook {
	case "host_initialize":
		p, _, err = r.API.PlanInitializeHost(r.Ctx, on, version)
	case "host_decommission":
		p, _, err = r.API.PlanDecommissionHost(r.Ctx, on, version)
	case "unit_allocate", "unit_deallocate":
		var a api.Allocation
		if a, err = r.API.GetAllocation(r.Ctx, on); err != nil {
			return err
		}
		if at.Playbook == "unit_deallocate" {
			p, _, err = r.API.PlanDeallocate(r.Ctx, a.ID, api.Deallocate{Confirm: a.LoginUser}, version)
		} else { // the keys that it has: what is left is what the version changes
			p, _, err = r.API.PlanReplaceKeys(r.Ctx, a.ID, api.ReplaceKeys{SSHKeys: a.SSHKeys}, version)
		}
	default:
		return fiber.ErrNotFound
	}
	return r.GoPlan(p, err)
}

// none says why there is nothing that a version can be tried on.
func (t trial) none() string {
	if t.Label == "Host" {
		return "No host is ready for a trial."
	}
	return "No allocation is ready for a trial."
}
