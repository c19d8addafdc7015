package worker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// settles waits until no job of the host is left that could run.
func (f *fleet) settles(what string, host uuid.UUID) {
	f.T.Helper()
	site.Eventually(f.T, what+" to end", func() bool { return f.ShownHost(host).ActiveJob == nil })
}

// rows reads what no person is shown.
func (f *fleet) rows(sql string, args ...any) (all []string) {
	f.T.Helper()
	conn, err := pgx.Connect(f.T.Context(), f.URL)
	if err != nil {
		f.T.Fatal(err)
	}
	defer func() { _ = conn.Close(f.T.Context()) }()
	rows, err := conn.Query(f.T.Context(), sql, args...)
	if err == nil {
		all, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	if err != nil {
		f.T.Fatalf("%s: %v", sql, err)
	}
	return all
}

const everythingOfAHost = `
SELECT 'host ' || h.state FROM hosts h WHERE h.id = $1
UNION ALL SELECT 'unit ' || u.name || ' ' || u.state FROM compute_units u WHERE u.host_id = $1
UNION ALL SELECT 'allocation ' || a.id::TEXT || ' ' || a.state FROM allocations a WHERE a.host_id = $1
UNION ALL SELECT 'address ' || p.address || ' ' || p.state FROM addresses p JOIN allocations a ON a.id = p.allocation_id WHERE a.host_id = $1
UNION ALL SELECT 'cpu ' || c.cpu::TEXT || ' ' || c.unit_id::TEXT FROM unit_cpus c WHERE c.host_id = $1
UNION ALL SELECT 'job ' || j.id::TEXT || ' ' || j.state FROM jobs j WHERE j.host_id = $1
ORDER BY 1`

// picture is the state of everything about a host.
func (f *fleet) picture(host uuid.UUID) string {
	f.T.Helper()
	return strings.Join(f.rows(everythingOfAHost, host), "\n")
}

func rests[S ~string](l domain.Lifecycle[S], s S) bool { return l.Info(s).Deadline == 0 }

// unitOf and addressOf are what an allocation that rests in a state goes with.
var (
	unitOf = map[domain.AllocationState]domain.UnitState{
		domain.AllocationAllocated: domain.UnitAllocated, domain.AllocationAllocationFailed: domain.UnitAllocationFailed,
		domain.AllocationDeallocationFailed: domain.UnitDeallocationFailed,
	}
	addressOf = map[domain.AllocationState]domain.AddressState{
		domain.AllocationAllocated: domain.AddressAllocated, domain.AllocationAllocationFailed: domain.AddressReserved,
		domain.AllocationDeallocationFailed: domain.AddressReleasing, domain.AllocationLost: domain.AddressQuarantined,
	}
)

// agrees looks at everything about a host on which no job is at work: nothing
// is in flight, and all of it fits together.
func (f *fleet) agrees(what string, host uuid.UUID) {
	f.T.Helper()
	ctx, wrong := f.T.Context(), func(format string, args ...any) {
		f.T.Helper()
		f.T.Errorf("%s: %s\n%s", what, fmt.Sprintf(format, args...), f.picture(host))
	}
	h := f.ShownHost(host)
	if h.ActiveJob != nil || !rests(domain.HostLifecycle, h.State) {
		wrong("the host is in flight: %s", h.State)
	}
	allocations, err := f.DB.Allocations(ctx, store.AllocationFilter{WorkspaceID: domain.DefaultWorkspace, HostID: &host, Limit: 100})
	if err != nil {
		f.T.Fatal(err)
	}
	tenants := map[uuid.UUID]bool{}
	for _, a := range allocations {
		if !rests(domain.AllocationLifecycle, a.State) {
			wrong("the allocation is in flight: %s", a.State)
		}
		u, err := f.DB.Unit(ctx, a.UnitID)
		if err != nil {
			f.T.Fatal(err)
		}
		if want := unitOf[a.State]; a.EndedAt == nil && u.State != want {
			wrong("the allocation is %s, its unit %s", a.State, u.State)
		}
		tenants[u.ID] = tenants[u.ID] || a.EndedAt == nil
		p, err := f.DB.AddressOfAllocation(ctx, a.ID)
		if want, has := addressOf[a.State]; has && (err != nil || p.State != want) || !has && !errors.Is(err, domain.ErrNotFound) {
			wrong("the allocation is %s, its address %s, %v", a.State, p.State, err)
		}
	}
	cpus := map[string]bool{}
	owned := 0
	for _, u := range f.Units(host) {
		if !rests(domain.UnitLifecycle, u.State) || u.State == domain.UnitPreparing && h.State != domain.HostProbed && h.State != domain.HostRegistered {
			wrong("%s is in flight: %s", u.Name, u.State)
		}
		if hasTenant := slices.Contains([]domain.UnitState{domain.UnitAllocated, domain.UnitAllocationFailed, domain.UnitDeallocationFailed}, u.State); hasTenant != tenants[u.ID] {
			wrong("%s is %s and has a tenant: %v", u.Name, u.State, tenants[u.ID])
		}
		set, err := domain.ParseCPUSet(u.CPUs)
		if err != nil {
			f.T.Fatal(err)
		}
		for _, c := range set {
			owned++
			cpus[fmt.Sprintf("%d %s", c, u.ID)] = true
		}
	}
	rows := f.rows(`SELECT c.cpu::TEXT || ' ' || c.unit_id::TEXT FROM unit_cpus c WHERE c.host_id = $1`, host)
	for _, row := range rows {
		if !cpus[row] {
			wrong("CPU %s is not of a unit that has it", row)
		}
	}
	if len(rows) != owned || len(cpus) != owned {
		wrong("units have %d CPUs, %d are owned", owned, len(rows))
	}
	if h.State == domain.HostLost && (len(f.Units(host)) > 0 || h.LiveAllocations > 0) {
		wrong("on a lost host there are units")
	}
	if held := f.rows(`SELECT l.job_id::TEXT FROM host_locks l WHERE l.host_id = $1 AND l.job_id IS NOT NULL`, host); len(held) > 0 {
		wrong("the host is held by %v", held)
	}
	if open := f.rows(`SELECT j.kind || ' ' || s.name FROM job_steps s JOIN jobs j ON j.id = s.job_id WHERE j.host_id = $1 AND s.state = 'running'`, host); len(open) > 0 {
		wrong("steps of jobs that ended still run: %v", open)
	}
	for _, text := range f.rows(`SELECT j.kind FROM jobs j WHERE j.host_id = $1 AND j.state = 'failed' AND COALESCE(j.error ->> 'message', '') = ''`, host) {
		wrong("a %s failed without a reason", text)
	}
}

// leavesLost: what a lost host had comes free by a person's hand, and the
// machine is refused should it answer again.
func (f *fleet) leavesLost(what, name string, host uuid.UUID) {
	f.T.Helper()
	ctx := f.T.Context()
	addresses, err := f.DB.Addresses(ctx, store.AddressFilter{WorkspaceID: domain.DefaultWorkspace, State: string(domain.AddressQuarantined), Limit: 100})
	if err != nil {
		f.T.Fatal(err)
	}
	for _, p := range addresses {
		if err := f.Intents.ReleaseAddress(ctx, f.Call, p.ID, 0); err != nil {
			f.T.Errorf("%s: release %s: %v", what, p.Address, err)
		}
		if now, err := f.DB.Address(ctx, p.ID); err != nil || now.State != domain.AddressFree || now.AllocationID != nil {
			f.T.Errorf("%s: released, it is %+v, %v", what, now, err)
		}
	}
	if err := f.Intents.RemoveHost(ctx, f.Call, host, 0); err != nil {
		f.T.Errorf("%s: remove the lost host: %v", what, err)
	}
	again, job := f.register(name+"-again", true)
	if j := f.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeMachineLost || j.Error.NextStep == "" {
		f.T.Errorf("%s: the machine answers again: %+v", what, j.Error)
	}
	if err := f.Intents.RemoveHost(ctx, f.Call, again, 0); err != nil {
		f.T.Errorf("%s: remove the refused host: %v", what, err)
	}
}
