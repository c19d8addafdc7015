package worker_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

func (p place) relayout(host uuid.UUID, r domain.LayoutRequest) uuid.UUID {
	p.T.Helper()
	return p.must(p.Intents.RelayoutHost(p.T.Context(), p.Call, host, 0, r))
}

// inFirst has a tenant in the first unit of a host.
func (p place) inFirst(host uuid.UUID) uuid.UUID {
	p.T.Helper()
	a, job, err := p.Allocate(intent.CreateAllocation{UnitID: &p.Units(host)[0].ID, LoginUser: "tenant1"})
	if err != nil {
		p.T.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	return a
}

// untouched compares what a relayout must not change of a unit.
var untouched = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".HostState" }, cmp.Ignore())

// lastInitialize is what the last run of the playbook host_initialize was given.
func (p place) lastInitialize() (file string, fenced bool, units, keep []string) {
	p.T.Helper()
	calls := slices.DeleteFunc(p.Runner.Calls(), func(c scripted.Call) bool { return c.Play.Name != "host_initialize" })
	last := calls[len(calls)-1]
	var vars struct {
		Units []struct {
			ID, Name string
		} `json:"host_initialize_units"`
		Keep []string `json:"host_initialize_keep"`
	}
	if err := json.Unmarshal(last.Vars, &vars); err != nil {
		p.T.Fatal(err)
	}
	for _, u := range vars.Units {
		units = append(units, u.Name)
		if slices.Contains(vars.Keep, u.ID) {
			keep = append(keep, u.Name)
		}
	}
	return last.Play.Playbook, last.Play.Hosts[0].Fence != nil, units, keep
}

func (p place) unitNames(host uuid.UUID) (all []string) {
	for _, u := range p.Units(host) {
		all = append(all, u.Name+" "+string(u.State)+" "+u.CPUs)
	}
	return all
}

func TestRelayoutBesideATenant(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 3)
	host := p.ready("h1")
	a := p.inFirst(host)
	unit := func() store.Unit {
		u, err := p.DB.Unit(t.Context(), p.Allocation(a).UnitID)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	before := unit()

	plays := len(p.Runner.Calls())
	j := p.Ended(p.relayout(host, domain.LayoutRequest{Count: 2, CPUsEach: 1}), domain.JobSucceeded)
	if j.Outcome != "2 new units are ready to be allocated; 1 stayed as they were." || len(p.Runner.Calls())-plays != 1 {
		t.Errorf("%q, %d plays", j.Outcome, len(p.Runner.Calls())-plays)
	}
	file, fenced, units, keep := p.lastInitialize()
	if file != "playbook.yml" || !fenced || !slices.Equal(units, []string{"h1-cu01", "h1-cu03", "h1-cu04"}) || !slices.Equal(keep, []string{"h1-cu01"}) {
		t.Errorf("%s under the fence: %v; for %v, of which %v stay", file, fenced, units, keep)
	}
	if diff := cmp.Diff(before, unit(), untouched); diff != "" {
		t.Errorf("the tenant's unit changed:\n%s", diff)
	}
	p.wantStates(a, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	if diff := cmp.Diff([]string{"h1-cu01 allocated 1-3", "h1-cu03 free 4", "h1-cu04 free 5"}, p.unitNames(host)); diff != "" {
		t.Errorf("units:\n%s", diff)
	}
	gone, err := p.DB.Units(t.Context(), store.UnitFilter{WorkspaceID: domain.DefaultWorkspace, State: "removed", Limit: 9})
	if err != nil || len(gone) != 1 || gone[0].Name != "h1-cu02" {
		t.Errorf("%+v, %v", gone, err)
	}
	// Both can be used: the new by a tenant, the old by nobody.
	_, job, err := p.Allocate(intent.CreateAllocation{CPUs: 1, LoginUser: "tenant2"})
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	p.Ended(p.deallocate(a), domain.JobSucceeded)

	// Given back, the first one's CPUs are there for the next layout, beside the second.
	p.Ended(p.relayout(host, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "1-3,6-7"}}}), domain.JobSucceeded)
	if names := p.unitNames(host); len(names) != 2 || !strings.HasPrefix(names[0], "h1-cu03 allocated") && !strings.HasPrefix(names[0], "h1-cu04 allocated") || names[1] != "h1-cu05 free 1-3,6-7" {
		t.Errorf("units %v", names)
	}
	p.noSecrets()
}

// TestFailuresOfARelayout: the tenant stays whatever happens, and from every
// failure there is a way on: retry, another layout, or to give up.
func TestFailuresOfARelayout(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	host := p.ready("h1")
	a := p.inFirst(host)
	kept, err := p.DB.Unit(t.Context(), p.Allocation(a).UnitID)
	if err != nil {
		t.Fatal(err)
	}
	failed := func(want ...string) {
		t.Helper()
		if h := p.Host(host); h.State != domain.HostInitFailed {
			t.Errorf("the host is %s", h.State)
		}
		if diff := cmp.Diff(append([]string{"h1-cu01 allocated 1-3"}, want...), p.unitNames(host)); diff != "" {
			t.Errorf("units:\n%s", diff)
		}
		now, err := p.DB.Unit(t.Context(), kept.ID)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(kept, now, untouched); diff != "" {
			t.Errorf("the tenant's unit changed:\n%s", diff)
		}
		p.wantStates(a, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	}

	p.Runner.Handle("host_initialize", taskFailed)
	j := p.Ended(p.relayout(host, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "4-5"}}}), domain.JobFailed)
	failed("h1-cu03 preparation_failed 4-5")

	// Retried: the same units.
	if err := p.Intents.RetryJob(t.Context(), p.Call, j.ID, false); err != nil {
		t.Fatal(err)
	}
	p.Ended(j.ID, domain.JobFailed)
	failed("h1-cu03 preparation_failed 4-5")

	// Laid out otherwise, with more than the free space that was read before:
	// what failed has taken none.
	space := p.Host(host).Layout.VolumeSpaceBytes - kept.VolumeBytes
	j = p.Ended(p.relayout(host, domain.LayoutRequest{Units: []domain.LayoutUnit{{CPUs: "4-7", VolumeBytes: space}}}), domain.JobFailed)
	failed("h1-cu04 preparation_failed 4-7")

	// Given up: nothing but the tenant is left, and the CPUs are nobody's.
	p.Succeed()
	clean := p.Ended(p.must(p.Intents.GiveUpJob(t.Context(), p.Call, j.ID)), domain.JobSucceeded)
	if clean.Kind != domain.KindHostRelayout || !strings.HasPrefix(clean.Outcome, "The units that could not be created were removed") {
		t.Errorf("%+v", clean)
	}
	if _, _, units, keep := p.lastInitialize(); !slices.Equal(units, []string{"h1-cu01"}) || !slices.Equal(keep, units) {
		t.Errorf("it was given %v, of which %v stay", units, keep)
	}
	if h := p.Host(host); h.State != domain.HostReady || h.Units["allocated"] != 1 || len(h.Units) != 1 {
		t.Errorf("%+v", h)
	}
	if _, err := p.Intents.GiveUpJob(t.Context(), p.Call, j.ID); err == nil {
		t.Error("given up although the host is ready")
	}
	p.Ended(p.relayout(host, domain.LayoutRequest{Count: 4, CPUsEach: 1}), domain.JobSucceeded)
	if h := p.Host(host); h.State != domain.HostReady || h.Units["free"] != 4 {
		t.Errorf("%+v", h)
	}
}

// TestACancelledRelayoutIsBroughtAboutByAnInitialization: nothing was done on the host, and an
// initialization brings the new units about.
func TestACancelledRelayoutIsBroughtAboutByAnInitialization(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t)}
	h := p.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	job := p.relayout(h.ID, domain.LayoutRequest{Count: 1, CPUsEach: 4})
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	now := p.Host(h.ID)
	if now.State != domain.HostInitFailed || now.Units["preparation_failed"] != 1 || len(now.Units) != 1 {
		t.Errorf("%+v", now)
	}
	p.Backend()
	p.Ended(p.initialize(h.ID), domain.JobSucceeded)
	if now = p.Host(h.ID); now.State != domain.HostReady || now.Units["free"] != 1 {
		t.Errorf("%+v", now)
	}
	if _, _, units, keep := p.lastInitialize(); len(units) != 1 || len(keep) != 0 {
		t.Errorf("it was given %v, of which %v stay", units, keep)
	}
}

// TestRelayoutOfAHostThatNeverHadItsFence brings it first.
func TestRelayoutOfAHostThatNeverHadItsFence(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.laidOut("h1")
	p.Runner.Handle("host_initialize", scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "no such package"}})
	p.Ended(p.initialize(host), domain.JobFailed)
	if p.Host(host).Fenced {
		t.Fatal("it has its fence")
	}
	p.Succeed()
	plays := len(p.Runner.Calls())
	p.Ended(p.relayout(host, domain.LayoutRequest{SystemCPUs: "0-1", Count: 1, CPUsEach: 2}), domain.JobSucceeded)
	var files []string
	for _, c := range p.Runner.Calls()[plays:] {
		files = append(files, c.Play.Playbook)
	}
	if h := p.Host(host); !slices.Equal(files, []string{"bootstrap.yml", "playbook.yml"}) || !h.Fenced || h.State != domain.HostReady || h.Layout.SystemCPUs != "0-1" {
		t.Errorf("%v; %+v", files, h)
	}
}
