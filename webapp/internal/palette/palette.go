// Package palette owns the way to anything by its name: pages, hosts, units,
// allocations, jobs and playbooks. It serves a page, and the parts of it that
// the command palette of every other page shows.
package palette

import (
	"context"
	"net/url"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	mostFound = 6  // of one noun
	longest   = 64 // letters that are searched for
)

// Mount adds the routes.
func Mount(r fiber.Router, a *page.App) {
	r.Get("/web/go", a.Page(show))
}

// target is somewhere to go to.
type target struct{ Href, Label, Note, Icon string }

// group is targets of one kind.
type group struct {
	Name    string
	Targets []target
}

var pages = []target{
	{"/", "Overview", "", "overview"},
	{"/hosts", "Hosts", "", "host"},
	{"/hosts/new", "Register a host", "", "host"},
	{"/compute-units", "Compute units", "", "unit"},
	{"/compute-units?state=free", "Free compute units", "", "unit"},
	{"/allocations", "Allocations", "", "allocation"},
	{"/allocations/new", "Allocate a unit", "", "allocation"},
	{"/jobs", "Jobs", "", "job"},
	{"/jobs?state=active", "Active jobs", "", "job"},
	{"/jobs?state=failed", "Failed jobs", "", "job"},
	{"/plans", "Plans", "", "job"},
	{"/playbooks", "Playbooks", "", "playbook"},
	{"/address-pool", "Address pool", "", "address"},
	{"/events", "Events", "", "event"},
	{"/policies", "Policies", "", "policy"},
	{"/tokens", "Tokens", "", "token"},
	{"/system", "System", "", "system"},
}

func show(r *page.Request) error {
	q := []rune(r.Query("q"))
	query := string(q[:min(len(q), longest)])
	groups, err := search(r.Ctx, r, query)
	if err != nil {
		return err
	}
	if r.C.Get("X-Palette") != "" {
		return r.Fragment(options(groups))
	}
	return r.Show(page.View{Title: "Go to", Nav: "/web/go", Body: goPage(query, groups)})
}

// search looks for a text among everything that has a name. What an account
// may not see is not found.
func search(ctx context.Context, r *page.Request, query string) ([]group, error) {
	found := []group{{Name: "Pages", Targets: matching(pages, query)}, {Name: "Hosts"}, {Name: "Compute units"}, {Name: "Allocations"}, {Name: "Jobs"}, {Name: "Playbooks"}}
	if query == "" {
		return found[:1], nil
	}
	limit := api.PageQuery{Limit: mostFound}
	g, ctx := errgroup.WithContext(ctx)
	part := func(n int, ask func() ([]target, error)) {
		g.Go(func() (err error) {
			found[n].Targets, err = ask()
			return page.Optional(err)
		})
	}
	part(1, func() (all []target, err error) {
		hosts, err := r.API.ListHosts(ctx, api.HostFilter{Search: query, PageQuery: limit})
		for _, h := range hosts.Items {
			all = append(all, target{"/hosts/" + h.ID, h.Name, ui.Word(h.State) + " · " + h.Address, "host"})
		}
		return all, err
	})
	part(2, func() (all []target, err error) {
		units, err := r.API.ListComputeUnits(ctx, api.UnitFilter{Search: query, PageQuery: limit})
		for _, u := range units.Items {
			all = append(all, target{"/compute-units/" + u.ID, u.Name, ui.Word(u.State) + " · " + ui.Count(u.CPUCount, "CPU"), "unit"})
		}
		return all, err
	})
	part(3, func() (all []target, err error) {
		allocations, err := r.API.ListAllocations(ctx, api.AllocationFilter{Search: query, PageQuery: limit})
		for _, a := range allocations.Items {
			all = append(all, target{"/allocations/" + a.ID, a.LoginUser, ui.Word(a.State) + " · " + a.Unit + " · " + a.Address, "allocation"})
		}
		return all, err
	})
	part(4, func() ([]target, error) { return jobs(ctx, r, query) })
	part(5, func() (all []target, err error) {
		playbooks, err := r.API.ListPlaybooks(ctx, api.PageQuery{Limit: 100})
		for _, p := range playbooks.Items {
			all = append(all, target{"/playbooks/" + url.PathEscape(p.Name), p.Name, p.Description, "playbook"})
		}
		return matching(all, query), err
	})
	err := g.Wait()
	return found, err
}

// jobs finds a job by its id, and the newest ones of a kind by its words.
func jobs(ctx context.Context, r *page.Request, query string) ([]target, error) {
	if _, err := uuid.Parse(query); err == nil {
		j, err := r.API.GetJob(ctx, query)
		if err != nil {
			return nil, err
		}
		return []target{ofJob(j)}, nil
	}
	var all []target
	recent, err := r.API.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: 50}})
	for _, j := range recent.Items {
		all = append(all, ofJob(j))
	}
	return matching(all, query), err
}

func ofJob(j api.Job) target {
	return target{"/jobs/" + j.ID, j.Title(), ui.Word(j.State) + " · " + j.RequestedBy, "job"}
}

// matching are the targets whose label holds all words of a text, in whatever
// case.
func matching(all []target, query string) []target {
	words := strings.Fields(strings.ToLower(query))
	var out []target
	for _, t := range all {
		label, holds := strings.ToLower(ui.Word(t.Label)+" "+t.Label), true
		for _, w := range words {
			holds = holds && strings.Contains(label, w)
		}
		if holds && (query == "" || len(out) < mostFound) {
			out = append(out, t)
		}
	}
	return out
}

func total(groups []group) int {
	n := 0
	for _, g := range groups {
		n += len(g.Targets)
	}
	return n
}
