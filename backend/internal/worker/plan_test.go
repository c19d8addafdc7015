package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// changes are events of a check, as the callback plugin sends them.
func changes(all ...ansible.Change) (events []ansible.Event) {
	for _, c := range all {
		events = append(events, ansible.Event{Kind: ansible.EventChange, Role: "role", Task: "a task", Change: &c})
	}
	return append(events, ansible.Event{Kind: ansible.EventChanged, Task: "a task", Changed: true})
}

// TestPlansOfEveryAction: each is checked on the host, changes no row but its
// own and its jobs', and can be applied.
func TestPlansOfEveryAction(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	host := p.laidOut("h1")
	_, key := site.NewKey(t)
	var a uuid.UUID
	for _, c := range []struct {
		name   string
		ask    func() ask
		files  []string
		fenced []bool
	}{
		{"initialize", func() ask { return p.askInitialize(host) }, []string{"bootstrap.yml", "playbook.yml"}, []bool{false, false}},
		{"initialize again (is ready)", func() ask { return p.askInitialize(host) }, []string{"bootstrap.yml", "playbook.yml"}, []bool{true, true}},
		{"allocate", func() ask { return p.askAllocate(intent.CreateAllocation{CPUs: 1, LoginUser: "tenant1"}) }, []string{"playbook.yml"}, []bool{true}},
		{"keys", func() ask { return p.askKeys(a, key) }, []string{"playbook.yml"}, []bool{true}},
		{"relayout (a neighbour stays)", func() ask { return p.askRelayout(host, 2) }, []string{"playbook.yml"}, []bool{true}},
		{"relayout once more", func() ask { return p.askRelayout(host, 3) }, []string{"playbook.yml"}, []bool{true}},
		{"deallocate", func() ask { return p.askDeallocate(a) }, []string{"playbook.yml"}, []bool{true}},
		{"decommission", func() ask { return p.askDecommission(host) }, []string{"bootstrap.yml", "playbook.yml"}, []bool{true, true}},
	} {
		of := c.ask()
		before, calls := p.dump(), len(p.Runner.Calls())
		got := p.planned(of)
		if diff := cmp.Diff(before, p.dump()); diff != "" {
			t.Errorf("%s: a plan changed rows:\n%s", c.name, diff)
		}
		checks := p.Runner.Calls()[calls:]
		var files []string
		var fenced []bool
		for _, call := range checks {
			files = append(files, call.Play.Playbook)
			fenced = append(fenced, call.Play.Hosts[0].Fence != nil)
			if !call.Play.Check || !call.Play.Diff {
				t.Errorf("%s: a plan ran %s for real", c.name, call.Play.Playbook)
			}
			if f := call.Play.Hosts[0].Fence; f != nil && f.Number != p.Host(host).FenceNumber {
				t.Errorf("%s: fence %+v, the host's number is %d", c.name, f, p.Host(host).FenceNumber)
			}
		}
		if diff := cmp.Diff(c.files, files); diff != "" {
			t.Errorf("%s: plays %s", c.name, diff)
		}
		if diff := cmp.Diff(c.fenced, fenced); diff != "" {
			t.Errorf("%s: fenced %s", c.name, diff)
		}
		if got.State != domain.PlanReady || got.Result == nil || !got.Counts.NothingChanges() || got.VariablesSHA256 == "" || got.RowsSHA256 == "" ||
			got.CheckedAt == nil || got.Expired || got.HostID != host || p.Job(got.JobID).Outcome != "Nothing would change." {
			t.Errorf("%s: %+v", c.name, got)
		}
		job := p.Ended(p.mustApply(got.ID, of), domain.JobSucceeded)
		if job.PlanID == nil || *job.PlanID != got.ID || *job.PlaybookVersionID != got.PlaybookVersionID {
			t.Errorf("%s: job %+v", c.name, job)
		}
		// What was done is what was checked.
		done := p.Runner.Calls()[calls+len(checks):]
		if len(done) != len(checks) {
			t.Fatalf("%s: %d plays were checked, %d run", c.name, len(checks), len(done))
		}
		for i := range done {
			if withoutNumber(done[i].Vars) != withoutNumber(checks[i].Vars) || done[i].Play.Check {
				t.Errorf("%s: %s was given\n%s\nnot\n%s", c.name, done[i].Play.Playbook, done[i].Vars, checks[i].Vars)
			}
		}
		if c.name == "allocate" {
			a = *got.AllocationID
			row := p.Allocation(a)
			if row.LoginUser != "tenant1" || row.UID != got.Proposal.UID || row.Address != got.Proposal.Address || row.UnitID != *got.UnitID {
				t.Errorf("allocated %+v, proposed %+v", row, got.Proposal)
			}
		}
		if _, err := p.apply(got.ID, of); err == nil {
			t.Errorf("%s: a plan was applied twice", c.name)
		}
		if err := intent.PlanOperations(p.thePlan(got.ID), nil, intent.PlanApproval{}, intent.Decider{})[0]; err.Allowed || !strings.Contains(err.Prevents, "already applied") {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
	want := []string{"plan.create", "job.plan succeeded"}
	plans, err := p.DB.Plans(t.Context(), store.PlanFilter{WorkspaceID: domain.DefaultWorkspace, State: "applied", HostID: &host, Limit: 50})
	if err != nil || len(plans) != 8 || plans[0].Result != nil || plans[7].Action != domain.ActionInitialize {
		t.Fatalf("plans %+v, %v", plans, err)
	}
	if diff := cmp.Diff(want, actions(p.Events(plans[7].ID))); diff != "" {
		t.Errorf("events of a plan:\n%s", diff)
	}
}

// withoutNumber leaves out what is another with each run.
func withoutNumber(vars json.RawMessage) string {
	return regexp.MustCompile(`"host_bootstrap_number":\d+`).ReplaceAllString(string(vars), "")
}

// TestPlansAreRefusedAsTheirActionsAre, before any check.
func TestPlansAreRefusedAsTheirActionsAre(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	before := p.dump()
	refused := func(a ask, version int) error {
		t.Helper()
		_, _, err := p.Intents.Plan(t.Context(), p.Call, a.PlanRequest, version, a.do)
		if err == nil {
			t.Error("it was planned")
		}
		return err
	}
	p.conflict(refused(p.askInitialize(host), 0), "no_layout")
	p.conflict(refused(p.askDecommission(host), 0), "host_state")
	var full *intent.NoCapacity
	if err := refused(p.askAllocate(intent.CreateAllocation{CPUs: 1}), 0); !errors.As(err, &full) {
		t.Errorf("no unit: %v", err)
	}
	var invalid *domain.Invalid
	if err := refused(p.askAllocate(intent.CreateAllocation{}), 0); !errors.As(err, &invalid) {
		t.Errorf("no size: %v", err)
	}
	p.conflict(refused(ask{intent.PlanRequest{Action: "probe-host"}, func(ctx context.Context, call intent.Call) error {
		_, err := p.Intents.ProbeHost(ctx, call, host, 0)
		return err
	}}, 0), "nothing_to_plan")
	if diff := cmp.Diff(before, p.dump()); diff != "" {
		t.Errorf("a refused plan changed rows:\n%s", diff)
	}
	if _, err := p.Intents.SetLayout(t.Context(), p.Call, host, 0, domain.LayoutRequest{Count: 2, CPUsEach: 3, Devices: []string{site.Disk}}); err != nil {
		t.Fatal(err)
	}
	if err := refused(p.askInitialize(host), 9); !errors.As(err, &invalid) || invalid.Fields[0].Field != "playbook_version" {
		t.Errorf("no such version: %v", err)
	}
	plans, err := p.DB.Plans(t.Context(), store.PlanFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 9})
	if err != nil || len(plans) != 0 {
		t.Errorf("plans %v, %v", plans, err)
	}
}

// TestTakeoverOfAPlan: the backend that checks is cut off; another one ends it.
func TestTakeoverOfAPlan(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
	first := p.BackendWith(p.Work(), queue.Config{Lease: time.Second})
	host := p.ready("h1")
	begun, checked := make(chan struct{}), 0
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if checked++; checked > 1 {
			return site.Play(ctx, play, sink, scripted.Script{Events: changes(ansible.Change{Kind: "file", Name: "/etc/x", Action: "create"})})
		}
		close(begun)
		return site.Play(ctx, play, sink, scripted.Script{Events: changes(ansible.Change{Kind: "file", Name: "/etc/half", Action: "create"}), Wait: make(chan struct{})})
	})
	plan, job := p.plan(p.askInitialize(host))
	site.Await(t, "the check to begin", begun)
	first.Kill()
	site.Await(t, "the backend to end", first.Stopped())
	if got := p.thePlan(plan); got.State != domain.PlanChecking || got.Result != nil {
		t.Errorf("half a plan: %+v", got)
	}
	p.Backend()
	j := p.Ended(job, domain.JobSucceeded)
	got := p.thePlan(plan)
	if j.Attempt < 2 || got.State != domain.PlanReady || got.Counts.Create != 1 || got.Result.Changes[0].Name != "/etc/x" {
		t.Errorf("attempt %d, %+v", j.Attempt, got.Result)
	}
}

// TestChecksThatFail leave the plan failed and all else as it was; they are
// tried again.
func TestChecksThatFail(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	of := p.askInitialize(host)
	before := p.dump()
	p.Runner.Handle("host_initialize", taskFailed)
	plan, job := p.plan(of)
	if j := p.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeTaskFailed {
		t.Errorf("%+v", j.Error)
	}
	_, err := p.apply(plan, of)
	p.conflict(err, "plan_not_ready")
	p.conflict(p.Intents.RetryJob(t.Context(), p.Call, job, true), "plan_version")
	if _, err := p.Intents.GiveUpJob(t.Context(), p.Call, job); err == nil {
		t.Error("there is something to clean after a check")
	}
	if got := p.thePlan(plan); got.State != domain.PlanFailed {
		t.Errorf("%+v", got)
	}

	running := make(chan struct{})
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		close(running)
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the check to begin", running)
	if got := p.thePlan(plan); got.State != domain.PlanChecking {
		t.Errorf("%+v", got)
	}
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobCancelled)
	if got := p.thePlan(plan); got.State != domain.PlanFailed {
		t.Errorf("cancelled: %+v", got)
	}

	p.Succeed()
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	if got := p.thePlan(plan); got.State != domain.PlanReady {
		t.Errorf("%+v", got)
	}
	if diff := cmp.Diff(before, p.dump()); diff != "" {
		t.Errorf("checks that failed changed rows:\n%s", diff)
	}
	p.Ended(p.mustApply(plan, of), domain.JobSucceeded)

	_, job = p.plan(of)
	if err := p.Intents.DeclareHostLost(t.Context(), p.Call, host, 0, "h1"); err != nil {
		t.Fatal(err)
	}
	j := p.Job(job)
	if got := p.thePlan(*j.PlanID); j.State == domain.JobFailed && got.State != domain.PlanFailed || got.State == domain.PlanChecking {
		t.Errorf("lost: job %s, plan %s", j.State, got.State)
	}
}

// TestWhatAPlanTells: the changes as they were told, cut where they are too
// many, and nothing to apply where a run would stop.
func TestWhatAPlanTells(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	of := p.askInitialize(host)
	long := strings.Repeat("x", domain.MaxPlanText+1)
	p.Runner.Handle("host_initialize",
		scripted.Script{},
		scripted.Script{Events: changes(
			ansible.Change{Kind: "file", Name: "/etc/<script>alert(1)</script>", Action: "create", After: "a\n"},
			ansible.Change{Kind: "file", Name: "/etc/b", Action: "change", Before: "a\n", After: long},
			ansible.Change{Kind: "user", Name: "x", Action: "remove"},
			ansible.Change{Kind: "task", Name: "t", Action: "follows", Note: "no group yet"},
		)})
	got := p.planned(of)
	want := domain.PlanCounts{Create: 1, Change: 1, Remove: 1, Follows: 1}
	if *got.Counts != want || got.Result.Tasks != 1 || len(got.Result.Changes) != 4 {
		t.Fatalf("%+v", got.Result)
	}
	first, second := got.Result.Changes[0], got.Result.Changes[1]
	if first.Name != "/etc/<script>alert(1)</script>" || first.Play != "playbook.yml" || first.Role != "role" || first.After != "a\n" {
		t.Errorf("%+v", first)
	}
	if second.After != "" || second.Before != "a\n" || !strings.Contains(second.Note, "too long") || !got.Result.Cut {
		t.Errorf("%+v", second)
	}
	log, err := p.DB.JobLog(t.Context(), got.JobID, 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := json.Marshal(log); strings.Contains(string(text), `"kind":"change"`) {
		t.Error("changes stand in the log, which has the diff already")
	}

	var many []ansible.Change
	for i := range domain.MaxPlanChanges + 10 {
		many = append(many, ansible.Change{Kind: "file", Name: fmt.Sprint(i), Action: "create", After: strings.Repeat("y", 1000)})
	}
	p.Runner.Handle("host_initialize", scripted.Script{}, scripted.Script{Events: changes(many...)})
	got = p.planned(of)
	if got.Counts.Create != len(many) || got.Result.LeftOut != 10 || !got.Result.Cut || len(got.Result.Changes) != domain.MaxPlanChanges {
		t.Errorf("%d changes, %d left out", len(got.Result.Changes), got.Result.LeftOut)
	}
	if raw, _ := json.Marshal(got.Result); len(raw) > 4*domain.MaxPlanBytes {
		t.Errorf("a plan of %d bytes", len(raw))
	}

	p.Runner.Handle("host_initialize", scripted.Script{}, scripted.Script{Events: changes(ansible.Change{Kind: "task", Name: "t", Action: "stops", Note: "disk in use"})})
	got = p.planned(of)
	_, err = p.apply(got.ID, of)
	p.conflict(err, "plan_stops")
}

// TestTrialOfAVersion: a version is tried on one host before it becomes the
// default, and applied only afterwards.
func TestTrialOfAVersion(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	version := p.newVersion("host_initialize", false, false)
	of := p.askInitialize(host)
	plan, job, err := p.Intents.Plan(t.Context(), p.Call, of.PlanRequest, version, of.do)
	if err != nil {
		t.Fatal(err)
	}
	if j := p.Ended(job, domain.JobSucceeded); *j.PlaybookVersion != version {
		t.Errorf("checked version %d", *j.PlaybookVersion)
	}
	_, err = p.apply(plan, of)
	p.stale(err, domain.MovedPlaybook)
	p.sql(`UPDATE playbooks SET default_version = $2 WHERE name = $1`, "host_initialize", version)
	if j := p.Ended(p.mustApply(plan, of), domain.JobSucceeded); *j.PlaybookVersion != version {
		t.Errorf("applied version %d", *j.PlaybookVersion)
	}

	// On a host without a fence only what came with a release is checked.
	bare := p.laidOut("h2")
	calls := len(p.Runner.Calls())
	got := p.planned(p.askInitialize(bare))
	if checks := p.Runner.Calls()[calls:]; len(checks) != 1 || checks[0].Play.Playbook != "bootstrap.yml" || checks[0].Play.Hosts[0].Fence != nil {
		t.Errorf("%d checks", len(checks))
	}
	if got.Counts.Follows != 1 || !strings.Contains(got.Result.Changes[0].Note, "did not come with a release") {
		t.Errorf("%+v", got.Result)
	}
}

// TestDecommissionOfAHostWithoutItsFence: the real run brings the fence first;
// a check finds out that it would, and goes on without.
func TestDecommissionOfAHostWithoutItsFence(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.ready("h1")
	p.Runner.HandleFunc("host_decommission", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		switch {
		case play.Hosts[0].Fence != nil:
			return site.Play(ctx, play, sink, noFence)
		case play.Playbook == "bootstrap.yml":
			return site.Play(ctx, play, sink, scripted.Script{Events: changes(ansible.Change{Kind: "file", Name: "/usr/local/lib/kloigos/fence-python", Action: "create"})})
		default:
			return site.Play(ctx, play, sink, scripted.Script{})
		}
	})
	before := p.dump()
	got := p.planned(p.askDecommission(host))
	want := []string{"bootstrap.yml fenced", "bootstrap.yml unfenced", "playbook.yml unfenced"}
	if plays := p.plays("host_decommission"); !slices.Equal(plays, want) {
		t.Errorf("plays %v", plays)
	}
	if got.Counts.Create != 1 {
		t.Errorf("%+v", got.Counts)
	}
	if diff := cmp.Diff(before, p.dump()); diff != "" {
		t.Errorf("a plan changed rows:\n%s", diff)
	}
}
