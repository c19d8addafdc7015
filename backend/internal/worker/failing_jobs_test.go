package worker_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestFailuresOfAnAllocation: retry goes on where it stopped, giving up cleans.
func TestFailuresOfAnAllocation(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	p.ready("h1")
	p.Runner.Handle("unit_allocate", taskFailed, scripted.Script{}, taskFailed)

	a, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	j := p.Ended(job, domain.JobFailed)
	if j.Error.Code != domain.ErrCodeTaskFailed || j.Error.Task != "Make the volume" || j.Error.Message != "no space left on device" || j.Error.Host != "h1" ||
		j.Error.NextStep == "" || j.Steps[0].State != domain.StepFailed {
		t.Errorf("%+v, %+v", j.Error, j.Steps)
	}
	p.wantStates(a, domain.AllocationAllocationFailed, domain.UnitAllocationFailed, domain.AddressReserved)
	if got := p.Allocation(a); got.StateMessage != "no space left on device" {
		t.Errorf("nobody says why: %+v", got)
	}
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err != nil {
		t.Fatal(err)
	}
	j = p.Ended(job, domain.JobSucceeded)
	p.wantStates(a, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	if j.Attempt != 2 || p.Allocation(a).StateMessage != "" {
		t.Errorf("%+v", j)
	}
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err == nil {
		t.Error("a job that succeeded was retried")
	}

	b, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobFailed)
	clean, err := p.Intents.GiveUpJob(t.Context(), p.Call, job)
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(clean, domain.JobSucceeded)
	p.wantStates(b, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err == nil {
		t.Error("a create was retried on a unit that is somebody else's by now")
	}
	p.wantStates(b, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
	p.noSecrets()
}

// TestAnAddressThatTheHostHas fails with a code of its own, and giving up closes it, so that nobody gets it next.
func TestAnAddressThatTheHostHas(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	p.ready("h1")
	p.Runner.Handle("unit_allocate", scripted.Script{Failure: &ansible.Failure{
		Code: ansible.CodeAddressOnHost, Task: "Claim the unit", Message: "the host has 10.0.0.1/24 already, on ens3",
	}})
	a, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	if j := p.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeAddressOnHost || j.Error.NextStep == "" {
		t.Errorf("%+v", j.Error)
	}
	p.Ended(p.must(p.Intents.GiveUpJob(t.Context(), p.Call, job)), domain.JobSucceeded)
	all, err := p.DB.Addresses(t.Context(), store.AddressFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 9})
	if err != nil || len(all) != 1 || all[0].State != domain.AddressUnavailable {
		t.Errorf("%v, %+v", err, all)
	}
	if got := p.Allocation(a); got.State != domain.AllocationDeallocated {
		t.Errorf("allocation is %s", got.State)
	}
}

func TestFailuresOfADeallocation(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 1)
	p.ready("h1")
	a := p.allocated()
	p.Runner.Handle("unit_deallocate", taskFailed, scripted.Script{Result: map[string]any{"wipe": map[string]any{"method": "discard", "device": "/dev/kloigos-vg/cu99"}}})
	if _, err := p.Intents.Deallocate(t.Context(), p.Call, a, 0, "someone"); err == nil {
		t.Error("deallocated without the login user being typed")
	}
	p.Ended(p.deallocate(a), domain.JobFailed)
	p.wantStates(a, domain.AllocationDeallocationFailed, domain.UnitDeallocationFailed, domain.AddressReleasing)
	// It says that it succeeded, but shows no evidence: the unit stays closed.
	j := p.Ended(p.deallocate(a), domain.JobFailed)
	if j.Error.Code != domain.ErrCodePlaybookError {
		t.Errorf("%+v", j.Error)
	}
	p.wantStates(a, domain.AllocationDeallocationFailed, domain.UnitDeallocationFailed, domain.AddressReleasing)
	p.Runner.HandleFunc("unit_deallocate", site.Wiped)
	if err := p.Intents.RetryJob(t.Context(), p.Call, j.ID, false); err != nil {
		t.Fatal(err)
	}
	p.Ended(j.ID, domain.JobSucceeded)
	p.wantStates(a, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
}

func TestFailuresOfAnInitialize(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.laidOut("h1")
	p.Runner.Handle("host_initialize", scripted.Script{}, taskFailed, scripted.Script{}) // bootstrap, initialize, initialize
	j := p.Ended(p.initialize(host), domain.JobFailed)
	h := p.Host(host)
	if h.State != domain.HostInitFailed || h.Units["preparation_failed"] != 2 || !h.Fenced {
		t.Errorf("%+v", h)
	}
	if err := p.Intents.RetryJob(t.Context(), p.Call, j.ID, true); err != nil {
		t.Fatal(err)
	}
	p.Ended(j.ID, domain.JobSucceeded)
	var files []string
	for _, c := range p.Runner.Calls() {
		if c.Play.Name == "host_initialize" {
			files = append(files, c.Play.Playbook)
		}
	}
	if diff := cmp.Diff([]string{"bootstrap.yml", "playbook.yml", "playbook.yml"}, files); diff != "" {
		t.Errorf("a step that was done is done again:\n%s", diff)
	}
	if h = p.Host(host); h.State != domain.HostReady || h.Units["free"] != 2 {
		t.Errorf("%+v", h)
	}
	// Again, on a ready host: the fence guards the bootstrap, too. It fails, and is given up.
	p.Runner.Handle("host_initialize", taskFailed)
	j = p.Ended(p.initialize(host), domain.JobFailed)
	if last := p.Runner.Calls()[len(p.Runner.Calls())-1]; last.Play.Playbook != "bootstrap.yml" || last.Play.Hosts[0].Fence == nil {
		t.Errorf("%+v", last.Play)
	}
	if h = p.Host(host); h.State != domain.HostInitFailed || h.Units["free"] != 2 {
		t.Errorf("%+v", h)
	}
	clean := p.must(p.Intents.GiveUpJob(t.Context(), p.Call, j.ID))
	p.Ended(clean, domain.JobSucceeded)
	if h = p.Host(host); h.State != domain.HostDecommissioned {
		t.Errorf("%+v", h)
	}
}

func TestFailuresOfADecommission(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	p.Runner.Handle("host_decommission", taskFailed, scripted.Script{})
	p.Ended(p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
	if h := p.Host(host); h.State != domain.HostDecommissionFailed || h.Units["unavailable"] != 2 {
		t.Errorf("%+v", h)
	}
	p.Ended(p.must(p.Intents.DecommissionHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	if h := p.Host(host); h.State != domain.HostDecommissioned {
		t.Errorf("%+v", h)
	}
}

// TestFailedProbeOfAPlannedHost leaves nothing that hinders its removal.
func TestFailedProbeOfAPlannedHost(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.laidOut("h1")
	p.Runner.Handle("host_probe", taskFailed)
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobFailed)
	if h := p.Host(host); h.State != domain.HostRegistered {
		t.Fatalf("%+v", h)
	}
	if err := p.Intents.RemoveHost(t.Context(), p.Call, host, 0); err != nil {
		t.Fatal(err)
	}
	p.Succeed()
	p.ready("h1")
}

// A retry may begin with a step that is done, and not with one that nobody has
// come to.
func TestARetryFromAnEarlierStep(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.laidOut("h1")
	p.Runner.Handle("host_initialize", taskFailed, scripted.Script{}, taskFailed, scripted.Script{})
	j := p.Ended(p.initialize(host), domain.JobFailed) // in the bootstrap
	from := func(step string) error {
		return p.Intents.RetryJobFrom(t.Context(), p.Call, j.ID, false, step)
	}
	p.conflict(from("initialize"), "step_not_reached")
	var bad *domain.Invalid
	if err := from("wipe"); !errors.As(err, &bad) || bad.Fields[0].Field != "from_step" {
		t.Errorf("a step that there is none of: %v", err)
	}
	if now := p.Job(j.ID); now.State != domain.JobFailed || p.Host(host).State != domain.HostInitFailed {
		t.Errorf("what was refused has left traces: the job is %s", now.State)
	}
	if err := from("bootstrap"); err != nil { // the one that failed, by its name
		t.Fatal(err)
	}
	p.Ended(j.ID, domain.JobFailed) // in the next one
	if err := from("bootstrap"); err != nil {
		t.Fatal(err)
	}
	j = p.Ended(j.ID, domain.JobSucceeded)
	var files []string
	for _, c := range p.Runner.Calls() {
		if c.Play.Name == "host_initialize" {
			files = append(files, c.Play.Playbook)
		}
	}
	if diff := cmp.Diff([]string{"bootstrap.yml", "bootstrap.yml", "playbook.yml", "bootstrap.yml", "playbook.yml"}, files); diff != "" {
		t.Error(diff)
	}
	if j.Steps[0].Attempt != j.Attempt || j.Steps[0].StartedAt.Before(*j.StartedAt) {
		t.Errorf("the repeated step is told of as before: %+v", j.Steps[0])
	}
	var told []string
	for _, e := range p.Events(j.ID) {
		if e.Action == "job.retry" {
			told = append(told, string(e.After))
		}
	}
	if len(told) != 2 || !strings.Contains(told[0], `"from_step": "bootstrap"`) && !strings.Contains(told[0], `"from_step":"bootstrap"`) {
		t.Errorf("the events tell %v", told)
	}
}
