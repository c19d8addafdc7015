// Package overview owns the first page: what there is, what is at work, what
// waits for a person, and what happened last.
package overview

import (
	"context"
	"slices"
	"time"

	"github.com/gofiber/fiber/v2"
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/states"
	"kloigos/webapp/internal/ui"
)

const mostRows = 6

func mount(r fiber.Router, a *page.App) {
	r.Get("/", a.Page(show))
}

type view struct {
	api.Capacity
	Queue       api.Queue
	Active      []api.Job
	FailedJobs  []api.Job
	Events      []api.Event
	Failed      []api.Allocation
	Quarantined int
	OfAreas     []page.Task // what areas hand in
}

func show(r *page.Request) error {
	v, err := gather(r.Ctx, r)
	if err != nil {
		return err
	}
	return r.Show(page.View{Title: "Overview", Nav: "/", Body: overviewPage(v)})
}

// gather asks for all parts at once. What an account may not see, and what a
// backend of before does not know yet, is left out.
func gather(ctx context.Context, r *page.Request) (view, error) {
	var v view
	var failed, refused []api.Allocation
	g, ctx := errgroup.WithContext(ctx)
	part := func(ask func() error) { g.Go(func() error { return page.Optional(ask()) }) }
	part(func() (err error) {
		v.Capacity, err = r.API.GetCapacity(ctx)
		return err
	})
	part(func() (err error) {
		v.Queue, err = r.API.GetQueue(ctx)
		return err
	})
	jobs := func(out *[]api.Job, state string) {
		part(func() error {
			found, err := r.API.ListJobs(ctx, api.JobFilter{State: state, PageQuery: api.PageQuery{Limit: mostRows}})
			*out = found.Items
			return err
		})
	}
	jobs(&v.Active, "active")
	jobs(&v.FailedJobs, "failed")
	allocations := func(out *[]api.Allocation, state string) {
		part(func() error {
			found, err := r.API.ListAllocations(ctx, api.AllocationFilter{State: state, PageQuery: api.PageQuery{Limit: 20}})
			*out = found.Items
			return err
		})
	}
	allocations(&failed, "allocation_failed")
	allocations(&refused, "deallocation_failed")
	part(func() error {
		found, err := r.API.ListAddresses(ctx, api.AddressFilter{State: "quarantined", PageQuery: api.PageQuery{Limit: 500}})
		v.Quarantined = len(found.Items)
		return err
	})
	part(func() error {
		found, err := r.API.ListEvents(ctx, api.EventFilter{PageQuery: api.PageQuery{Limit: mostRows}})
		v.Events = found.Items
		return err
	})
	waits := r.App().Waits()
	tasks := make([][]page.Task, len(waits))
	for i, ask := range waits {
		part(func() (err error) {
			tasks[i], err = ask(ctx, r)
			return err
		})
	}
	err := g.Wait()
	v.OfAreas = slices.Concat(tasks...)
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

// share is what is free and what there is of one kind of capacity.
type share struct{ Free, Given, Rest, All int64 }

func (s *share) add(state string, n int64) {
	s.All += n
	switch state {
	case "free":
		s.Free += n
	case "allocated", "allocating", "deallocating", "allocation_failed", "deallocation_failed":
		s.Given += n
	default:
		s.Rest += n
	}
}

// parts are the share as parts of a bar, which counts in thousandths.
func (s share) parts() []ui.Part {
	if s.All == 0 {
		return nil
	}
	of := func(n int64) int { return int(float64(n) / float64(s.All) * 1000) }
	return []ui.Part{{Tone: ui.Used, Word: "allocated", Count: of(s.Given)}, {Tone: ui.Shut, Word: "closed", Count: of(s.Rest)}, {Tone: ui.Free, Word: "free", Count: of(s.Free)}}
}

// place is one region and zone, or all of them.
type place struct {
	Region, Zone        string
	HostStates, Units   []count
	Hosts, Ready        int
	CPUs, Memory, Count share
	List                []api.CapacityHost
}

func (p place) name() string {
	switch {
	case p.Region == "" && p.Zone == "":
		return "Hosts"
	case p.Zone == "":
		return p.Region
	case p.Region == "":
		return p.Zone
	default:
		return p.Region + ", " + p.Zone
	}
}

// over tells whether hosts in this state are no longer part of the fleet.
func over(state string) bool { return state == "decommissioned" || state == "lost" }

// placeOf adds up some places.
func placeOf(some ...api.CapacityPlace) place {
	p := place{}
	hosts, units := map[string]int{}, map[string]int{}
	for _, s := range some {
		p.Region, p.Zone = s.Region, s.Zone
		for state, n := range s.Hosts {
			hosts[state] += n
			if !over(state) {
				p.Hosts += n
			}
		}
		for state, u := range s.Units {
			units[state] += u.Units
			p.CPUs.add(state, int64(u.CPUs))
			p.Memory.add(state, u.MemoryBytes)
			p.Count.add(state, int64(u.Units))
		}
	}
	p.Ready = hosts["ready"]
	for _, s := range states.Hosts {
		if hosts[s] > 0 {
			p.HostStates = append(p.HostStates, count{states.Host(s), s, hosts[s], "/hosts?state=" + s})
		}
	}
	p.Units = unitCounts(units)
	return p
}

func unitCounts(n map[string]int) []count {
	var all []count
	for _, s := range []string{"allocated", "free", "allocating", "deallocating", "preparing", "removing", "unavailable", "allocation_failed", "deallocation_failed", "preparation_failed"} {
		if n[s] > 0 {
			all = append(all, count{states.Unit(s), s, n[s], "/compute-units?state=" + s})
		}
	}
	return all
}

// outOfReach is how many free units are on hosts that do not answer.
func (v view) outOfReach() (n int) {
	for _, h := range v.Hosts {
		if h.State == "ready" && h.Health == "unreachable" {
			n += h.Units["free"]
		}
	}
	return n
}

func (v view) total() place { return placeOf(v.Places...) }

// places are those with hosts, each with its hosts.
func (v view) places() []place {
	by := map[[2]string][]api.CapacityHost{}
	for _, h := range v.Hosts {
		if !over(h.State) {
			key := [2]string{h.Region, h.Zone}
			by[key] = append(by[key], h)
		}
	}
	var all []place
	for _, c := range v.Places {
		p := placeOf(c)
		p.List = by[[2]string{c.Region, c.Zone}]
		sortByName(p.List)
		if p.Hosts > 0 {
			all = append(all, p)
		}
	}
	return all
}

func parts(counts []count) []ui.Part {
	var all []ui.Part
	for _, c := range counts {
		all = append(all, ui.Part{Tone: c.Tone, Word: c.State, Count: c.Count})
	}
	return all
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
