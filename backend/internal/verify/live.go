package verify

import (
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

func oneAllocationAUnit(g *ground) (rows []string) {
	have := map[uuid.UUID]store.AllocationSeen{}
	for _, a := range g.Allocations {
		if other, taken := have[a.UnitID]; taken {
			rows = append(rows, fmt.Sprintf("allocations %s (%s) and %s (%s) have unit %s", other.ID, other.LoginUser, a.ID, a.LoginUser, a.UnitID))
		}
		have[a.UnitID] = a
	}
	return rows
}

func oneAllocationAnAddress(g *ground) (rows []string) {
	have := map[string]store.AllocationSeen{}
	for _, a := range g.Allocations {
		if other, taken := have[a.Address]; taken {
			rows = append(rows, fmt.Sprintf("allocations %s (%s) and %s (%s) have address %s", other.ID, other.LoginUser, a.ID, a.LoginUser, a.Address))
		}
		have[a.Address] = a
	}
	for _, p := range g.Addresses {
		if p.ItsAddress != nil && *p.ItsAddress != p.Address {
			rows = append(rows, fmt.Sprintf("address %s is that of allocation %s, which is told of %s", p.Address, p.AllocationID, *p.ItsAddress))
		}
	}
	return rows
}

func oneAllocationAUID(g *ground) (rows []string) {
	have := map[int64]store.AllocationSeen{}
	for _, a := range g.Allocations {
		if other, taken := have[a.UID]; taken {
			rows = append(rows, fmt.Sprintf("allocations %s (%s) and %s (%s) have UID %d", other.ID, other.LoginUser, a.ID, a.LoginUser, a.UID))
		}
		have[a.UID] = a
	}
	for _, u := range g.UIDs {
		rows = append(rows, fmt.Sprintf("UID %d is given to %s, and had by %s", u.UID, textOr(u.Given, "nobody"), textOr(u.Allocation, "nobody")))
	}
	return rows
}

func textOr(id *uuid.UUID, none string) string {
	if id == nil {
		return none
	}
	return "allocation " + id.String()
}

// together is what an allocation, its unit and its address are at one moment.
type together struct {
	allocation domain.AllocationState
	unit       domain.UnitState
	address    domain.AddressState
}

// agreeing walks all jobs of the joint table from a placement on and returns
// every combination that can come about.
func agreeing() map[together]bool {
	first := together{domain.AllocationLifecycle.Initial, domain.UnitAllocating, domain.AddressReserved}
	seen := map[together]bool{first: true}
	for todo := []together{first}; len(todo) > 0; todo = todo[1:] {
		for _, j := range domain.JointTable {
			for _, e := range []domain.Effect{j.Start, j.Success, j.Failure} {
				if next, moves := todo[0].after(e); moves && !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
	}
	return seen
}

// after tells where an effect that is about all three takes them.
func (t together) after(e domain.Effect) (together, bool) {
	allocation, unit, address := e.On(domain.OfAllocation), e.On(domain.OfUnit), e.On(domain.OfAddress)
	if allocation == "" || unit == "" || address == "" {
		return t, false
	}
	a, errA := domain.AllocationLifecycle.Next(t.allocation, allocation)
	u, errU := domain.UnitLifecycle.Next(t.unit, unit)
	p, errP := domain.AddressLifecycle.Next(t.address, address)
	return together{a, u, p}, errA == nil && errU == nil && errP == nil
}

func statesAgree(g *ground) (rows []string) {
	may := agreeing()
	units := map[uuid.UUID]store.UnitSeen{}
	for _, u := range g.Units {
		units[u.ID] = u
	}
	addresses := map[uuid.UUID]store.AddressSeen{}
	for _, p := range g.Addresses {
		if p.AllocationID != nil {
			addresses[*p.AllocationID] = p
		}
	}
	taken := map[uuid.UUID]bool{}
	for _, a := range g.Allocations {
		taken[a.UnitID] = true
		u, p := units[a.UnitID], addresses[a.ID]
		if !may[together{a.State, u.State, p.State}] {
			rows = append(rows, fmt.Sprintf("allocation %s (%s) is %s, its unit %s, its address %s", a.ID, a.LoginUser, a.State, orNone(u.State), orNone(p.State)))
		}
		if u.ID != uuid.Nil && u.HostID != a.HostID {
			rows = append(rows, fmt.Sprintf("allocation %s (%s) is on host %s, its unit %s on %s", a.ID, a.LoginUser, a.HostID, u.Name, u.HostID))
		}
	}
	needs := map[domain.UnitState]bool{}
	for t := range may {
		needs[t.unit] = t.allocation != domain.AllocationDeallocated || needs[t.unit]
	}
	for _, u := range g.Units {
		if needs[u.State] && !taken[u.ID] {
			rows = append(rows, fmt.Sprintf("unit %s is %s and has no live allocation", u.Name, u.State))
		}
	}
	return append(rows, addressesAgree(g)...)
}

// addressesAgree looks from the other side: an address is somebody's who lives,
// or in quarantine since its host was lost.
func addressesAgree(g *ground) (rows []string) {
	for _, p := range g.Addresses {
		switch {
		case p.AllocationID == nil:
			rows = append(rows, fmt.Sprintf("address %s is %s and nobody's", p.Address, p.State))
		case p.ItsState == nil:
			rows = append(rows, fmt.Sprintf("address %s is %s for allocation %s, which is not there", p.Address, p.State, p.AllocationID))
		case (p.State == domain.AddressQuarantined) != (*p.ItsState == domain.AllocationLost) || *p.ItsState == domain.AllocationDeallocated:
			rows = append(rows, fmt.Sprintf("address %s is %s for allocation %s, which is %s", p.Address, p.State, p.AllocationID, *p.ItsState))
		}
	}
	return rows
}

func orNone[S ~string](s S) string {
	if s == "" {
		return "none"
	}
	return string(s)
}

func runningHasALease(g *ground) (rows []string) {
	for _, j := range g.Jobs {
		switch {
		case j.State == domain.JobQueued && j.Overdue != nil:
			rows = append(rows, job(j)+" and has a lease")
		case j.State == domain.JobQueued:
		case j.Overdue == nil || j.Worker == nil:
			rows = append(rows, job(j)+" has no worker or no lease")
		case *j.Overdue > g.options.Overdue.Seconds():
			rows = append(rows, fmt.Sprintf("%s: its lease ran out %.0f s ago and nobody took it over", job(j), *j.Overdue))
		}
	}
	return rows
}

func job(j store.JobSeen) string { return fmt.Sprintf("job %s (%s) is %s", j.ID, j.Kind, j.State) }

func locksAreHeldByRuns(g *ground) (rows []string) {
	jobs := map[uuid.UUID]store.JobSeen{}
	for _, j := range g.Jobs {
		jobs[j.ID] = j
	}
	for _, h := range g.Hosts {
		if h.Holder == nil {
			continue
		}
		switch j, there := jobs[*h.Holder]; {
		case !there:
			rows = append(rows, fmt.Sprintf("host %s is held by job %s, which has ended or was never there", h.Name, h.Holder))
		case j.State == domain.JobQueued:
			rows = append(rows, fmt.Sprintf("host %s is held, and %s", h.Name, job(j)))
		case j.HostID == nil || *j.HostID != h.ID:
			rows = append(rows, fmt.Sprintf("host %s is held by job %s, which is about another host", h.Name, j.ID))
		case h.HolderAttempt > j.Attempt:
			rows = append(rows, fmt.Sprintf("host %s is held by attempt %d of job %s, which has come to %d", h.Name, h.HolderAttempt, j.ID, j.Attempt))
		}
	}
	return rows
}
