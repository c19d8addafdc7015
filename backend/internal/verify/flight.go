package verify

import (
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// moves tells whether an effect takes one of the parts out of its state.
func moves(e domain.Effect, state string, parts ...domain.Part) bool {
	return slices.ContainsFunc(parts, func(p domain.Part) bool { return p.Leaves(state, e.On(p)) })
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
				func(f domain.Effect) bool { return moves(f, string(h.State), domain.OfHost) }))
		}
	}
	for _, u := range g.Units {
		// Those of a host that is being prepared are on their way as well.
		inFlight := domain.UnitLifecycle.Info(u.State).Deadline != 0 ||
			u.State == domain.UnitPreparing && hosts[u.HostID].State == domain.HostInitializing
		if inFlight {
			e.wantOneJob("unit "+u.Name, u.State, g.who(u.HostID,
				func(j store.JobSeen) bool { return j.UnitID == nil || *j.UnitID == u.ID },
				func(f domain.Effect) bool { return moves(f, string(u.State), domain.OfUnit, domain.OfReplaced) }))
		}
	}
	for _, a := range g.Allocations {
		if domain.AllocationLifecycle.Info(a.State).Deadline != 0 {
			e.wantOneJob(fmt.Sprintf("allocation %s (%s)", a.ID, a.LoginUser), a.State, g.who(a.HostID, func(j store.JobSeen) bool { return isID(j.AllocationID, a.ID) },
				func(f domain.Effect) bool { return moves(f, string(a.State), domain.OfAllocation) }))
		}
	}
	for _, p := range g.Plans {
		e.wantOneJob("plan "+p.ID.String(), p.State, g.who(p.HostID, func(j store.JobSeen) bool { return j.ID == p.JobID && isID(j.PlanID, p.ID) },
			func(f domain.Effect) bool { return moves(f, string(p.State), domain.OfPlan) }))
	}
	return e.rows
}

// takes tells what keeps a part from taking an event; "" if nothing does.
func takes(p domain.PartInfo, state string, on domain.Event) string {
	if _, err := p.Next(state, on); err != nil {
		return fmt.Sprintf("its %s is %s, which does not take %q", p.Noun, orNone(state), on)
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
			if why := states.refuse(j, e); why != "" {
				rows = append(rows, job(j)+", but "+why)
			}
		}
	}
	return rows
}

// states are those of all objects that jobs name, by part and id; of an address, by the id of its allocation.
type states map[domain.Part]map[uuid.UUID]string

func (g *ground) states() states {
	s := states{}
	for _, p := range domain.Parts {
		s[p.Part] = map[uuid.UUID]string{}
	}
	for _, h := range g.Hosts {
		s[domain.OfHost][h.ID] = string(h.State)
	}
	for _, u := range g.Units {
		s[domain.OfUnit][u.ID] = string(u.State)
	}
	for _, a := range g.Allocations {
		s[domain.OfAllocation][a.ID] = string(a.State)
	}
	for _, p := range g.Plans {
		s[domain.OfPlan][p.ID] = string(p.State)
	}
	for _, p := range g.Addresses {
		if p.AllocationID != nil {
			s[domain.OfAddress][*p.AllocationID] = string(p.State)
		}
	}
	return s
}

// refuse tells what that a job is about does not take its event of an effect; "" if all do.
func (s states) refuse(j store.JobSeen, e domain.Effect) string {
	of := map[domain.Part]*uuid.UUID{domain.OfHost: j.HostID, domain.OfUnit: j.UnitID, domain.OfAllocation: j.AllocationID, domain.OfAddress: j.AllocationID, domain.OfPlan: j.PlanID}
	for _, x := range e {
		id := of[x.Of]
		if id == nil && (x.Of == domain.OfUnit || x.Of == domain.OfReplaced) { // units of a whole host
			continue
		}
		if why := takes(x.Of.Info(), s[x.Of][idOf(id)], x.On); why != "" {
			return why
		}
	}
	return ""
}

func idOf(id *uuid.UUID) uuid.UUID {
	if id == nil {
		return uuid.Nil
	}
	return *id
}
