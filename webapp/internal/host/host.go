// Package host owns the pages of hosts: the list, the steps from registering
// one to its first units, a host with its map of CPUs and what can be done with
// it, and its layout.
package host

import (
	"context"
	"net/url"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/webapp/internal/drift"
	"kloigos/webapp/internal/hostgrant"
	"kloigos/webapp/internal/object"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

func mount(r fiber.Router, a *page.App) {
	r.Get("/hosts", a.Page(list))
	r.Get("/hosts/new", a.Page(showRegister))
	r.Post("/hosts/new", a.Page(register))
	r.Post("/hosts/probe", a.Page(probeSeveral))
	r.Get("/hosts/:id", a.Page(detail))
	r.Get("/hosts/:id/setup", a.Page(setup))
	r.Get("/hosts/:id/edit", a.Page(showEdit))
	r.Post("/hosts/:id/edit", a.Page(edit))
	r.Get("/hosts/:id/layout", a.Page(showLayout))
	r.Post("/hosts/:id/layout", a.Page(setLayout))
	r.Post("/hosts/:id/layout/preview", a.Page(previewLayout))
	r.Post("/hosts/:id/relayout", a.Page(relayout))
	r.Post("/hosts/:id/host-key", a.Page(confirmKey))
	r.Post("/hosts/:id/probe", a.Page(probe))
	r.Post("/hosts/:id/measure", a.Page(measure))
	r.Post("/hosts/:id/initialize", a.Page(initialize))
	r.Post("/hosts/:id/refence", a.Page(planOr((*client.Client).PlanRefenceHost, typed(refence))))
	r.Post("/hosts/:id/drain", a.Page(drain))
	r.Post("/hosts/:id/undrain", a.Page(undrain))
	r.Post("/hosts/:id/decommission", a.Page(planOr((*client.Client).PlanDecommissionHost, typed(decommission))))
	r.Post("/hosts/:id/declare-lost", a.Page(declareLost))
	r.Post("/hosts/:id/remove", a.Page(typed(remove)))
}

var listColumns = []ui.Column{
	{Key: "units", Label: "Units", Default: true},
	{Key: "cpus", Label: "CPUs", Default: true},
	{Key: "memory", Label: "Memory", Default: true},
	{Key: "place", Label: "Region, zone", Default: true},
	{Key: "seen", Label: "Seen", Default: true},
	{Key: "labels", Label: "Labels"},
	{Key: "networks", Label: "Networks"},
	{Key: "disks", Label: "Volume group"},
	{Key: "system", Label: "System"},
	{Key: "created", Label: "Registered"},
}

func list(r *page.Request) error {
	f := api.HostFilter{State: r.Query("state"), Region: r.Query("region"), Zone: r.Query("zone"), Labels: ui.LabelFilter(r.Query("labels")), Search: r.Query("search")}
	f.Cursor, f.Sort, f.Limit = r.Query("cursor"), r.Query("sort"), 50
	hosts, err := r.API.ListHosts(r.Ctx, f)
	if err != nil {
		return err
	}
	v := listView{Hosts: hosts.Items, State: f.State, Region: f.Region, Zone: f.Zone, Labels: f.Labels, Search: f.Search}
	v.Filtered = f.State+f.Region+f.Zone+f.Labels+f.Search != ""
	v.Pages = r.Pages(hosts.PreviousCursor, hosts.NextCursor)
	v.Sort, v.Columns = r.Sorter("name"), r.Columns(listColumns)
	return r.Show(page.View{Title: "Hosts", Nav: "/hosts", Body: listPage(v, r.Here())})
}

func detail(r *page.Request) error {
	h, err := r.API.GetHost(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	v := detailView{Host: h}
	g, ctx := errgroup.WithContext(r.Ctx)
	g.Go(func() error {
		units, err := r.API.ListComputeUnits(ctx, api.UnitFilter{Host: h.ID, PageQuery: api.PageQuery{Limit: 500}})
		v.Units = units.Items
		return err
	})
	g.Go(func() error {
		found, err := r.API.ListAgents(ctx, api.AgentFilter{Host: h.ID, PageQuery: api.PageQuery{Limit: 100}})
		for i, a := range found.Items { // the one that speaks, or one that a person has to decide about
			if a.State == "enrolled" || a.State == "quarantined" && v.Agent == nil {
				v.Agent = &found.Items[i]
			}
		}
		return page.Optional(err)
	})
	g.Go(func() (err error) {
		v.Drifts, err = drift.Of(ctx, r, h.ID, "")
		return err
	})
	g.Go(func() (err error) {
		v.Object, err = object.Load(ctx, r, "host", h.ID, api.JobFilter{Host: h.ID})
		return err
	})
	if v.MayShare = r.May(hostgrant.Read); v.MayShare {
		g.Go(func() error {
			found, err := r.API.ListHostGrants(ctx, api.HostGrantFilter{Host: h.ID, PageQuery: api.PageQuery{Limit: 100}})
			v.Grants = found.Items
			return page.Optional(err)
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return r.Show(page.View{Title: h.Name, Nav: "/hosts", Body: detailPage(v, r.Here())})
}

func hostURL(r *page.Request) string { return "/hosts/" + url.PathEscape(r.Param("id")) }

func confirmKey(r *page.Request) error {
	_, job, err := r.API.ConfirmHostKey(r.Ctx, r.Param("id"), api.ConfirmHostKey{Fingerprint: r.Form("fingerprint")})
	if err != nil {
		return err
	}
	return goOn(r, job, "key-confirmed")
}

func probe(r *page.Request) error {
	_, job, err := r.API.ProbeHost(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return goOn(r, job, "")
}

func probeSeveral(r *page.Request) error {
	_, job, err := r.API.ProbeHosts(r.Ctx, api.ProbeHosts{Hosts: r.FormAll("host")})
	if err != nil {
		return err
	}
	return r.GoJob(job, "/hosts", "")
}

// measure leads back to the host: its units show what was measured.
func measure(r *page.Request) error {
	if _, _, err := r.API.MeasureHost(r.Ctx, r.Param("id"), 1); err != nil {
		return err
	}
	return r.Go(hostURL(r), "measuring")
}

func initialize(r *page.Request) error {
	if r.Planning() {
		p, _, err := r.API.PlanInitializeHost(r.Ctx, r.Param("id"))
		return r.GoPlan(p, err)
	}
	_, job, err := r.API.InitializeHost(r.Ctx, r.Param("id"))
	if err != nil {
		return err
	}
	return goOn(r, job, "")
}

func drain(r *page.Request) error {
	if _, err := r.API.DrainHost(r.Ctx, r.Param("id")); err != nil {
		return err
	}
	return r.Go(hostURL(r), "drained")
}

func undrain(r *page.Request) error {
	if _, err := r.API.UndrainHost(r.Ctx, r.Param("id")); err != nil {
		return err
	}
	return r.Go(hostURL(r), "undrained")
}

func declareLost(r *page.Request) error {
	if _, err := r.API.DeclareHostLost(r.Ctx, r.Param("id"), api.DeclareLost{Confirm: r.Form("confirm")}); err != nil {
		return err
	}
	return r.Go(hostURL(r), "host-lost")
}

// planOr makes a plan of an action, where that was asked for: nothing needs to
// be typed to look.
func planOr(plan func(*client.Client, context.Context, string, ...client.Option) (api.Plan, string, error), action func(*page.Request) error) func(*page.Request) error {
	return func(r *page.Request) error {
		if !r.Planning() {
			return action(r)
		}
		p, _, err := plan(r.API, r.Ctx, r.Param("id"))
		return r.GoPlan(p, err)
	}
}

// typed lets an action pass only if the host's name was typed with it. The
// version of the host that was looked at goes with the action.
func typed(action func(*page.Request, api.Host, ...client.Option) error) func(*page.Request) error {
	return func(r *page.Request) error {
		h, err := r.API.GetHost(r.Ctx, r.Param("id"))
		if err != nil {
			return err
		}
		if r.Form("confirm") != h.Name {
			return &api.Problem{Status: fiber.StatusConflict, Code: "not_confirmed", Detail: "the typed text is not the host's name; nothing was done"}
		}
		return action(r, h, client.IfMatch(h.Version))
	}
}

func refence(r *page.Request, h api.Host, opts ...client.Option) error {
	_, job, err := r.API.RefenceHost(r.Ctx, h.ID, opts...)
	if err != nil {
		return err
	}
	return r.GoJob(job, hostURL(r), "")
}

func decommission(r *page.Request, h api.Host, opts ...client.Option) error {
	_, job, err := r.API.DecommissionHost(r.Ctx, h.ID, opts...)
	if err != nil {
		return err
	}
	return r.GoJob(job, hostURL(r), "")
}

func remove(r *page.Request, h api.Host, opts ...client.Option) error {
	if err := r.API.RemoveHost(r.Ctx, h.ID, opts...); err != nil {
		return err
	}
	return r.Go("/hosts", "host-removed")
}

func problemsOf(field string, err error) ui.Problems {
	if err == nil {
		return ui.Problems{}
	}
	return ui.Problems{Title: "Not accepted. Nothing was changed.", Fields: []ui.FieldProblem{{Field: field, Message: err.Error()}}}
}
