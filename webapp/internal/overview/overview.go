// Package overview owns the first page: what there is, what is at work, and
// what waits for a person.
package overview

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const (
	// mostHosts is how many hosts the page counts; it says so when there are more.
	mostHosts = 2000
	mostShown = 120 // hosts drawn in the grid
	mostRows  = 8
)

// Mount adds the routes.
func Mount(r fiber.Router, a *page.App) {
	r.Get("/", a.Page(show))
}

type view struct {
	Hosts       []api.Host
	More        bool // there are more hosts than were counted
	Active      []api.Job
	Recent      []api.Job
	Failed      []api.Allocation
	Quarantined int
	Queue       api.Queue
}

func show(r *page.Request) error {
	v, err := gather(r.Ctx, r)
	if err != nil {
		return err
	}
	return r.Show(page.View{Title: "Overview", Nav: "/", Body: overviewPage(v)})
}

func gather(ctx context.Context, r *page.Request) (view, error) {
	var v view
	var failed, refused []api.Allocation
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for h, err := range r.API.AllHosts(ctx, api.HostFilter{}) {
			if err != nil {
				return err
			}
			if len(v.Hosts) == mostHosts {
				v.More = true
				return nil
			}
			v.Hosts = append(v.Hosts, h)
		}
		return nil
	})
	jobs := func(out *[]api.Job, state string) func() error {
		return func() error {
			found, err := r.API.ListJobs(ctx, api.JobFilter{State: state, PageQuery: api.PageQuery{Limit: mostRows}})
			*out = found.Items
			return err
		}
	}
	g.Go(jobs(&v.Active, "active"))
	g.Go(jobs(&v.Recent, ""))
	allocations := func(out *[]api.Allocation, state string) func() error {
		return func() error {
			found, err := r.API.ListAllocations(ctx, api.AllocationFilter{State: state, PageQuery: api.PageQuery{Limit: 20}})
			*out = found.Items
			return err
		}
	}
	g.Go(allocations(&failed, "allocation_failed"))
	g.Go(allocations(&refused, "deallocation_failed"))
	g.Go(func() error {
		found, err := r.API.ListAddresses(ctx, api.AddressFilter{State: "quarantined", PageQuery: api.PageQuery{Limit: 500}})
		v.Quarantined = len(found.Items)
		return page.Optional(err)
	})
	g.Go(func() (err error) {
		v.Queue, err = r.API.GetQueue(ctx)
		return page.Optional(err)
	})
	err := g.Wait()
	v.Failed = append(failed, refused...)
	return v, err
}

// count is how many there are of something, and where to see them.
type count struct {
	Tone  ui.Tone
	State string
	Count int
	Href  string
}

// over tells whether a host is no longer part of the fleet.
func over(h api.Host) bool { return h.State == "decommissioned" || h.State == "lost" }

func (v view) hostCounts() []count {
	n := map[string]int{}
	for _, h := range v.Hosts {
		n[h.State]++
	}
	var all []count
	for _, s := range states.Hosts {
		if n[s] > 0 {
			all = append(all, count{states.Host(s), s, n[s], "/hosts?state=" + s})
		}
	}
	return all
}

func (v view) unitCounts() []count {
	n := map[string]int{}
	for _, h := range v.Hosts {
		for s, c := range h.Units {
			n[s] += c
		}
	}
	var all []count
	for _, s := range []string{"allocated", "free", "allocating", "deallocating", "preparing", "removing", "unavailable", "allocation_failed", "deallocation_failed", "preparation_failed"} {
		if n[s] > 0 {
			all = append(all, count{states.Unit(s), s, n[s], "/compute-units?state=" + s})
		}
	}
	return all
}

func sum(counts []count) int {
	n := 0
	for _, c := range counts {
		n += c.Count
	}
	return n
}

func of(counts []count, state string) int {
	for _, c := range counts {
		if c.State == state {
			return c.Count
		}
	}
	return 0
}

func parts(counts []count) []ui.Part {
	var all []ui.Part
	for _, c := range counts {
		all = append(all, ui.Part{Tone: c.Tone, Word: c.State, Count: c.Count})
	}
	return all
}

type capacity struct {
	CPUs   int
	Memory int64
}

func (v view) capacity() capacity {
	var c capacity
	for _, h := range v.Hosts {
		if h.Facts != nil && !over(h) {
			c.CPUs += len(h.Facts.CPUs)
			c.Memory += h.Facts.MemoryBytes
		}
	}
	return c
}

// task is something that waits for a person.
type task struct {
	Tone             ui.Tone
	Title, Why, Href string
}

func (v view) tasks() []task {
	var bad, wait []task
	for _, h := range v.Hosts {
		at := "/hosts/" + h.ID
		switch h.State {
		case "awaiting_host_key":
			wait = append(wait, task{ui.Wait, h.Name + ": confirm its host key", "Compare the fingerprint on the host, then confirm it.", at})
		case "registered":
			if h.ActiveJob == "" {
				wait = append(wait, task{ui.Wait, h.Name + ": could not be probed", "See the job, mend the cause, probe again.", at})
			}
		case "probed":
			if h.Layout == nil {
				wait = append(wait, task{ui.Wait, h.Name + ": set its layout", "Say how it is cut into units.", at + "/layout"})
			} else {
				wait = append(wait, task{ui.Wait, h.Name + ": initialize it", "Its layout is set; its units are not made yet.", at})
			}
		case "init_failed", "decommission_failed":
			bad = append(bad, task{ui.Bad, h.Name + ": " + ui.Word(h.State), ui.Sentence(h.StateMeans) + ".", at})
		}
		if h.OfferedPrint != "" && h.State != "awaiting_host_key" {
			bad = append(bad, task{ui.Bad, h.Name + ": its host key has changed", "Find out why before anything else.", at})
		}
		if h.Health == "unreachable" && !over(h) {
			bad = append(bad, task{ui.Bad, h.Name + ": unreachable", ui.Sentence(h.HealthMessage), at})
		}
		if n := h.Units["preparation_failed"]; n > 0 && h.State != "init_failed" {
			bad = append(bad, task{ui.Bad, h.Name + ": " + ui.Count(n, "unit") + " could not be prepared", "Initialize the host again.", at})
		}
	}
	for _, a := range v.Failed {
		bad = append(bad, task{ui.Bad, a.LoginUser + " on " + a.Unit + ": " + ui.Word(a.State), ui.Sentence(a.StateMeans) + ".", "/allocations/" + a.ID})
	}
	if q := v.Queue; q.Paused {
		wait = append(wait, task{ui.Wait, "The queue is paused by " + q.PausedBy, q.Reason, "/system"})
	}
	if v.Quarantined > 0 {
		wait = append(wait, task{ui.Wait, ui.Count(v.Quarantined, "address") + " in quarantine", "Release them once it is sure that the lost host does not answer any more.", "/address-pool?state=quarantined"})
	}
	return append(bad, wait...)
}

// place is the hosts of one region and zone.
type place struct {
	Name  string
	Hosts []api.Host
}

func (v view) places() []place {
	by := map[string][]api.Host{}
	n := 0
	for _, h := range v.Hosts {
		if over(h) || n == mostShown {
			continue
		}
		n++
		name := h.Region
		if h.Zone != "" {
			name += ", " + h.Zone
		}
		by[name] = append(by[name], h)
	}
	var all []place
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, place{name, by[name]})
	}
	return all
}

func unitParts(h api.Host) []ui.Part {
	return parts(view{Hosts: []api.Host{h}}.unitCounts())
}

func itoa(n int) string { return strconv.Itoa(n) }
