package verify

import (
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// moves tells whether one of the events takes an object out of its state.
func moves[S ~string](l domain.Lifecycle[S], s S, events ...domain.Event) bool {
	for _, on := range events {
		if to, err := l.Next(s, on); on != "" && err == nil && to != s {
			return true
		}
	}
	return false
}

// ends collects the objects that not exactly one job can bring out of their
// states.
type ends struct{ rows []string }

// wantOneJob notes an object if its jobs are not one.
func (e *ends) wantOneJob(what string, state any, by []store.JobSeen) {
	switch {
	case len(by) == 0:
		e.rows = append(e.rows, fmt.Sprintf("%s is %s and no job brings that to an end", what, state))
	case len(by) > 1:
		e.rows = append(e.rows, fmt.Sprintf("%s is %s and %d jobs would end that: %s (%s), %s (%s), ...", what, state, len(by),
			by[0].ID, by[0].Kind, by[1].ID, by[1].Kind))
	}
}

func isID(id *uuid.UUID, other uuid.UUID) bool { return id != nil && *id == other }

// who returns the jobs of a host that are about something and move it.
func (g *ground) who(host uuid.UUID, about func(store.JobSeen) bool, moved func(domain.Effect) bool) (by []store.JobSeen) {
	for _, j := range g.jobsOf[host] {
		joint, known := domain.JointOf(j.Kind)
		if known && about(j) && (moved(joint.Success) || moved(joint.Failure)) {
			by = append(by, j)
		}
	}
	return by
}

// A state that has a deadline is in flight: something must be under way.
func inFlightHasAJob(g *ground) []string {
	var e ends
	hosts := map[uuid.UUID]store.HostSeen{}
	for _, h := range g.Hosts {
		hosts[h.ID] = h
		if domain.HostLifecycle.Info(h.State).Deadline != 0 {
			e.wantOneJob("host "+h.Name, h.State, g.who(h.ID, func(store.JobSeen) bool { return true },
				func(f domain.Effect) bool { return moves(domain.HostLifecycle, h.State, f.Host) }))
		}
	}
	for _, u := range g.Units {
		// Those of a host that is being prepared are on their way as well.
		inFlight := domain.UnitLifecycle.Info(u.State).Deadline != 0 ||
			u.State == domain.UnitPreparing && hosts[u.HostID].State == domain.HostInitializing
		if inFlight {
			e.wantOneJob("unit "+u.Name, u.State, g.who(u.HostID,
				func(j store.JobSeen) bool { return j.UnitID == nil || *j.UnitID == u.ID },
				func(f domain.Effect) bool { return moves(domain.UnitLifecycle, u.State, f.Unit, f.Replaced) }))
		}
	}
	for _, a := range g.Allocations {
		if domain.AllocationLifecycle.Info(a.State).Deadline != 0 {
			e.wantOneJob(fmt.Sprintf("allocation %s (%s)", a.ID, a.LoginUser), a.State, g.who(a.HostID, func(j store.JobSeen) bool { return isID(j.AllocationID, a.ID) },
				func(f domain.Effect) bool { return moves(domain.AllocationLifecycle, a.State, f.Allocation) }))
		}
	}
	for _, p := range g.Plans {
		e.wantOneJob("plan "+p.ID.String(), p.State, g.who(p.HostID, func(j store.JobSeen) bool { return j.ID == p.JobID && isID(j.PlanID, p.ID) },
			func(f domain.Effect) bool { return moves(domain.PlanLifecycle, p.State, f.Plan) }))
	}
	return e.rows
}

// takes tells what keeps an object from taking an event; "" if nothing does.
func takes[S ~string](l domain.Lifecycle[S], s S, on domain.Event) string {
	if on == "" {
		return ""
	}
	if _, err := l.Next(s, on); err != nil {
		return fmt.Sprintf("its %s is %s, which does not take %q", l.Noun, orNone(s), on)
	}
	return ""
}

// jobsFitTheirObjects looks at every job that has not ended: whatever it comes
// to must be takeable by all that it is about. Units of a whole host are left
// out: only those take its events that are in a state for them.
func jobsFitTheirObjects(g *ground) (rows []string) {
	states := g.states()
	for _, j := range g.Jobs {
		joint, known := domain.JointOf(j.Kind)
		if !known && j.HostID == nil { // of an area: it names its objects in rows of their own
			continue
		}
		if !known {
			rows = append(rows, job(j)+", and nobody knows such jobs")
			continue
		}
		for _, e := range []domain.Effect{joint.Success, joint.Failure, joint.Withdrawn} {
			why := takes(domain.HostLifecycle, domain.HostState(states.stateOf(j.HostID)), e.Host)
			if why == "" && j.UnitID != nil {
				why = takes(domain.UnitLifecycle, domain.UnitState(states.stateOf(j.UnitID)), e.Unit)
			}
			if why == "" {
				why = takes(domain.AllocationLifecycle, domain.AllocationState(states.stateOf(j.AllocationID)), e.Allocation)
			}
			if why == "" {
				why = takes(domain.AddressLifecycle, states.addresses[idOf(j.AllocationID)], e.Address)
			}
			if why == "" {
				why = takes(domain.PlanLifecycle, domain.PlanState(states.stateOf(j.PlanID)), e.Plan)
			}
			if why != "" {
				rows = append(rows, job(j)+", but "+why)
			}
		}
	}
	return rows
}

// states are those of all objects, by their ids.
type states struct {
	objects   map[uuid.UUID]string
	addresses map[uuid.UUID]domain.AddressState // by allocation
}

func (g *ground) states() states {
	s := states{map[uuid.UUID]string{}, map[uuid.UUID]domain.AddressState{}}
	for _, h := range g.Hosts {
		s.objects[h.ID] = string(h.State)
	}
	for _, u := range g.Units {
		s.objects[u.ID] = string(u.State)
	}
	for _, a := range g.Allocations {
		s.objects[a.ID] = string(a.State)
	}
	for _, p := range g.Plans {
		s.objects[p.ID] = string(p.State)
	}
	for _, p := range g.Addresses {
		if p.AllocationID != nil {
			s.addresses[*p.AllocationID] = p.State
		}
	}
	return s
}

func (s states) stateOf(id *uuid.UUID) string { return s.objects[idOf(id)] }

func idOf(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
