// Package plan owns the pages of plans: the list, a plan with what it would
// change on the host, and applying it.
package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/job"
	"kloigos/webapp/internal/page"
)

func mount(r fiber.Router, a *page.App) {
	r.Get("/plans", a.Page(list))
	r.Get("/plans/:id", a.Page(detail))
	r.Post("/plans/:id/apply", a.Page(apply))
	r.Post("/plans/:id/decide", a.Page(decide))
}

func list(r *page.Request) error {
	f := api.PlanFilter{State: r.Query("state"), Host: r.Query("host"), Allocation: r.Query("allocation"), Approval: r.Query("approval"), Action: r.Query("action")}
	f.Cursor, f.Limit = r.Query("cursor"), 50
	plans, err := r.API.ListPlans(r.Ctx, f)
	if err != nil {
		return err
	}
	v := listView{Plans: plans.Items, State: f.State, Host: f.Host, Allocation: f.Allocation, Approval: f.Approval, Action: f.Action, Filtered: f.State+f.Host+f.Allocation+f.Approval+f.Action != ""}
	v.Pages = r.Pages(plans.PreviousCursor, plans.NextCursor)
	return r.Show(page.View{Title: "Plans", Nav: "/jobs", Body: listPage(v, r.Here())})
}

func detail(r *page.Request) error {
	p, err := r.API.GetPlan(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := viewOf(p)
	if p.State == "failed" && p.JobID != "" {
		j, err := r.API.GetJob(r.Ctx, p.JobID)
		if err := page.Optional(err); err != nil {
			return err
		}
		v.Retry = job.RetryOf(j)
	}
	return r.Show(page.View{Title: "Plan: " + title(p), Nav: "/jobs", Body: detailPage(v, "/plans/"+p.ID)})
}

// apply asks for the action that the plan was made of, with its own request and
// bound to it.
func apply(r *page.Request) error {
	p, err := r.API.GetPlan(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	if want := typed(p); want != "" && r.Form("confirm") != want {
		return &api.Problem{Status: fiber.StatusConflict, Code: "not_confirmed", Detail: "the typed text is not " + want + "; nothing was done"}
	}
	bound := client.AsPlanned(p.ID)
	var job string
	switch p.Action {
	case "initialize-host":
		_, job, err = r.API.InitializeHost(r.Ctx, p.HostID, bound)
	case "refence-host":
		_, job, err = r.API.RefenceHost(r.Ctx, p.HostID, bound)
	case "relayout-host":
		var in api.SetLayout
		if err := json.Unmarshal(p.Request, &in); err != nil {
			return fmt.Errorf("read the plan's request: %w", err)
		}
		_, job, err = r.API.RelayoutHost(r.Ctx, p.HostID, in, bound)
	case "decommission-host":
		_, job, err = r.API.DecommissionHost(r.Ctx, p.HostID, bound)
	case "create-allocation":
		var in api.CreateAllocation
		if err := json.Unmarshal(p.Request, &in); err != nil {
			return fmt.Errorf("read the plan's request: %w", err)
		}
		_, job, err = r.API.CreateAllocation(r.Ctx, in, bound)
	case "replace-allocation-keys":
		var in api.ReplaceKeys
		if err := json.Unmarshal(p.Request, &in); err != nil {
			return fmt.Errorf("read the plan's request: %w", err)
		}
		_, job, err = r.API.ReplaceKeys(r.Ctx, p.AllocationID, in, bound)
	case "move-allocation-network":
		_, job, err = r.API.MoveNetwork(r.Ctx, p.AllocationID, bound)
	case "deallocate":
		_, job, err = r.API.Deallocate(r.Ctx, p.AllocationID, api.Deallocate{Confirm: p.LoginUser}, bound)
	case "cascade-organization", "cascade-project", "cascade-workspace":
		return applyCascade(r, p)
	default:
		if p.ObjectKind != "" {
			job, err = r.API.ApplyPlan(r.Ctx, p)
			break
		}
		return &api.Problem{Status: fiber.StatusConflict, Code: "unknown_action", Detail: "this web app does not know how to apply a plan of " + p.Action}
	}
	if err != nil {
		return err
	}
	return r.GoJob(job, "/plans/"+p.ID, "")
}

// decide approves or refuses a plan, by the button that was pressed.
func decide(r *page.Request) error {
	id, body, notice := r.Param("id"), api.DecidePlan{Reason: r.Form("reason")}, "plan-approved"
	var err error
	if r.Form("decision") == "refuse" {
		notice = "plan-refused"
		_, err = r.API.RefusePlan(r.Ctx, id, body)
	} else {
		_, err = r.API.ApprovePlan(r.Ctx, id, body)
	}
	if err != nil {
		return err
	}
	return r.Go("/plans/"+id, notice)
}

// typed is what must be typed before the plan is applied; "" for nothing.
func typed(p api.Plan) string {
	switch p.Action {
	case "refence-host", "decommission-host":
		return p.Host
	case "deallocate":
		return p.LoginUser
	case "cascade-organization", "cascade-project", "cascade-workspace":
		return p.ScopePath[strings.LastIndexByte(p.ScopePath, '/')+1:]
	default:
		return confirmed(p)
	}
}

// confirmed is the name that the request of a plan repeats; "" where it repeats none.
func confirmed(p api.Plan) string {
	var in struct {
		Confirm string `json:"confirm"`
	}
	if p.ObjectKind == "" || json.Unmarshal(p.Request, &in) != nil {
		return ""
	}
	return in.Confirm
}

// applyCascade begins to delete a scope. The scope's page shows how far that is: the job goes with it.
func applyCascade(r *page.Request, p api.Plan) (err error) {
	body, bound := api.Cascade{Confirm: r.Form("confirm")}, client.AsPlanned(p.ID)
	at := map[string]string{"organization": "/organizations/", "project": "/projects/", "workspace": "/workspaces/"}[p.ScopeKind] + p.ScopeID
	switch p.ScopeKind {
	case "organization":
		_, _, err = r.API.CascadeOrganization(r.Ctx, p.ScopeID, body, bound)
	case "project":
		_, _, err = r.API.CascadeProject(r.Ctx, p.ScopeID, body, bound)
	default:
		_, _, err = r.API.CascadeWorkspace(r.Ctx, p.ScopeID, body, bound)
	}
	if err != nil {
		return err
	}
	r.Renamed(p.ScopePath, "") // the pages of what goes are gone soon
	return r.Go(at, "scope-deleting")
}

func title(p api.Plan) string {
	words := strings.ReplaceAll(p.Action, "-", " ")
	switch {
	case p.Action == "cross-check" && p.Unit != "":
		words = "look whether " + p.Unit + " is as promised"
	case p.Action == "cross-check":
		words = "look whether " + p.Host + " is as promised"
	case p.Action == "create-allocation":
		words = "allocate " + p.Unit + " to " + p.LoginUser
	case p.ScopeID != "":
		words = "delete " + p.ScopePath + " with all that is in it"
	case p.ObjectKind != "":
		words += " " + p.ObjectName
	case p.AllocationID != "":
		words += " of " + p.LoginUser + " on " + p.Unit
	default:
		words = strings.TrimSuffix(words, " host") + " " + p.Host
	}
	return words
}

// ownAt is a page in the workspace of the host: who only shares the host has none.
func ownAt(p api.Plan, path string) string {
	if p.SharedHost {
		return ""
	}
	return path
}
