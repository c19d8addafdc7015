package worker_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

func TestCancel(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t)}
	p.AddAddresses("default", 2)
	p.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	a, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	// Queued: ended at once, with what that means for its objects.
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	if j := p.Job(job); j.State != domain.JobCancelled || j.Attempt != 0 {
		t.Errorf("%+v", j)
	}
	p.wantStates(a, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err == nil {
		t.Error("cancelled twice")
	}
	a, job, err = p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	// Running: the play is stopped.
	begun := make(chan struct{}, 1)
	p.Runner.HandleFunc("unit_allocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	p.Backend()
	site.Await(t, "the play", begun)
	asked := time.Now()
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	j := p.Ended(job, domain.JobCancelled)
	if took := time.Since(asked); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if j.Error.Code != domain.ErrCodeCancelled || j.Steps[0].State != domain.StepFailed {
		t.Errorf("%+v", j)
	}
	// What it began goes on on a host without its play: the fence is told to end it.
	calls, ends := p.Runner.Calls(), p.Runner.Ends()
	if len(ends) != 1 || ends[0].Fence == nil || ends[0].Fence.Number <= calls[len(calls)-1].Play.Hosts[0].Fence.Number {
		t.Errorf("told to end: %+v", ends)
	}
	p.wantStates(a, domain.AllocationAllocationFailed, domain.UnitAllocationFailed, domain.AddressReserved)
	p.Succeed()
	p.Ended(p.must(p.Intents.GiveUpJob(t.Context(), p.Call, job)), domain.JobSucceeded)
	p.wantStates(a, domain.AllocationDeallocated, domain.UnitFree, domain.AddressFree)
}

// TestCancelBetweenTries: what waits for its next try may have left something on
// its host, which is ended as that of a running job is, also while the queue is
// paused.
func TestCancelBetweenTries(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t)}
	p.AddAddresses("default", 1)
	p.ReadyHost(site.HostSpec{Units: []string{"1"}})
	p.Runner.Handle("unit_allocate", scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "Broken pipe."}})
	p.Backend()
	a, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	site.Eventually(t, "a failed attempt", func() bool { return p.Job(job).Failures == 1 })
	if err := p.Intents.PauseQueue(t.Context(), p.Call, "new switches"); err != nil {
		t.Fatal(err)
	}
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	j := p.Ended(job, domain.JobCancelled)
	if j.Attempt != 2 || j.Error.Code != domain.ErrCodeCancelled || len(p.Runner.Calls()) != 1 || len(p.Runner.Ends()) != 1 {
		t.Errorf("%+v, %d plays, told to end: %+v", j, len(p.Runner.Calls()), p.Runner.Ends())
	}
	p.wantStates(a, domain.AllocationAllocationFailed, domain.UnitAllocationFailed, domain.AddressReserved)
	events := p.Events(job)
	if i := slices.IndexFunc(events, func(e store.Event) bool { return e.Action == "job.cancel" }); i < 0 || !strings.Contains(string(events[i].After), `"cancelling"`) {
		t.Errorf("%+v", events)
	}
}

// TestSupersededJobLeavesNothing: what a job began on another backend goes on on the host; if there is nothing left to do
// for the job by the time it is taken over, that is ended all the same.
func TestSupersededJobLeavesNothing(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t)}
	p.AddAddresses("default", 1)
	p.ReadyHost(site.HostSpec{Units: []string{"1"}})
	first := p.BackendWith(p.Work(), queue.Config{})
	a, job, err := p.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	begun := make(chan struct{}, 1)
	p.Runner.HandleFunc("unit_allocate", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, play, sink, scripted.Script{Wait: make(chan struct{})})
	})
	_, public := site.NewKey(t)
	keys := p.must(p.Intents.ReplaceKeys(t.Context(), p.Call, a, 0, []string{public}))
	site.Await(t, "the play", begun)
	first.Stop()
	first.Kill()
	site.Await(t, "the backend", first.Stopped())
	before := p.Runner.Calls()
	p.Runner.HandleFunc("unit_deallocate", site.Wiped)
	gone := p.must(p.Intents.Deallocate(t.Context(), p.Call, a, 0, p.Allocation(a).LoginUser))
	p.BackendWith(p.Work(), queue.Config{Slots: 1}) // or the deallocation may hold the host first, and ends it instead
	if j := p.Ended(keys, domain.JobFailed); j.Error.Code != domain.ErrCodeSuperseded {
		t.Errorf("%+v", j.Error)
	}
	ends := p.Runner.Ends()
	if len(ends) != 1 || ends[0].Fence.Run != keys.String() || ends[0].Fence.Number <= before[len(before)-1].Play.Hosts[0].Fence.Number {
		t.Errorf("told to end: %+v", ends)
	}
	p.Ended(gone, domain.JobSucceeded)
}

// TestCancelOfADeadBackendsJob: nobody waits for a long lease; but where no fence
// checks a play, the lease is all that keeps two from the host.
func TestCancelOfADeadBackendsJob(t *testing.T) {
	t.Parallel()
	allocate := func(p place, _ uuid.UUID) (uuid.UUID, error) {
		_, job, err := p.Allocate(intent.CreateAllocation{})
		return job, err
	}
	initialize := func(refence bool) func(place, uuid.UUID) (uuid.UUID, error) {
		return func(p place, host uuid.UUID) (uuid.UUID, error) {
			return p.Intents.InitializeHost(t.Context(), p.Call, host, 0, refence)
		}
	}
	for _, c := range []struct {
		name   string
		fenced bool
		ask    func(p place, host uuid.UUID) (uuid.UUID, error)
		soon   bool
		ends   int // how often the host is told to end what runs
	}{
		{"allocate", true, allocate, true, 1},
		{"allocate without a fence", false, allocate, false, 0},
		{"initialize again", true, initialize(false), true, 1},
		{"initialize for the first time", false, initialize(false), false, 0},
		{"refence", true, initialize(true), false, 0},
		{"decommission", true, func(p place, host uuid.UUID) (uuid.UUID, error) {
			return p.Intents.DecommissionHost(t.Context(), p.Call, host, 0)
		}, false, 0},
		{"probe", false, func(p place, host uuid.UUID) (uuid.UUID, error) {
			return p.Intents.ProbeHost(t.Context(), p.Call, host, 0)
		}, true, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := place{Site: site.New(t)}
			p.AddAddresses("default", 1)
			host := p.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID
			p.Tx(func(tx *store.Tx) error { return tx.SetFenced(t.Context(), host, c.fenced) })
			job := p.must(c.ask(p, host))
			p.Tx(func(tx *store.Tx) error { // its worker dies in the middle of the step
				claims, err := tx.ClaimJobs(t.Context(), uuid.New(), 10*time.Minute, 1)
				if err == nil && len(claims) != 1 {
					t.Errorf("%+v", claims)
				}
				return err
			})
			p.Backend()
			asked := time.Now()
			if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
				t.Fatal(err)
			}
			if !c.soon {
				if left := p.Job(job).LeaseExpiresAt.Sub(asked); left < 9*time.Minute {
					t.Errorf("the lease lasts for %s", left)
				}
				return
			}
			p.Ended(job, domain.JobCancelled)
			if took := time.Since(asked); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if n := len(p.Runner.Ends()); n != c.ends {
				t.Errorf("told %d times to end what runs", n)
			}
		})
	}
}

// TestCancelBetweenSteps: a play that ends well in the moment in which it should
// be stopped is not followed by the next step, and a retry goes on there.
func TestCancelBetweenSteps(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t)}
	host := p.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID
	begun := make(chan struct{})
	var plays atomic.Int64
	p.Runner.HandleFunc("host_initialize", func(ctx context.Context, play ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if plays.Add(1) == 1 {
			close(begun)
			<-ctx.Done()
		}
		return site.Play(context.WithoutCancel(ctx), play, sink, scripted.Script{})
	})
	p.Backend()
	job := p.must(p.Intents.InitializeHost(t.Context(), p.Call, host, 0, false))
	site.Await(t, "the first step", begun)
	if err := p.Intents.CancelJob(t.Context(), p.Call, job); err != nil {
		t.Fatal(err)
	}
	j := p.Ended(job, domain.JobCancelled)
	if j.Steps[1].State != domain.StepPending || plays.Load() != 1 {
		t.Errorf("%+v after %d plays", j.Steps, plays.Load())
	}
	if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
}

// TestUnreachableHostsAreTriedAgain later, until the attempts are used up.
func TestUnreachableHostsAreTriedAgain(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	gone := scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "No route to host."}}
	p.Runner.Handle("host_probe", gone, gone, gone)
	job := p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0))
	failures := 0
	for range 2 {
		failures++
		site.Eventually(t, "a failed attempt", func() bool { return p.Job(job).Failures == failures })
		j := p.Job(job)
		if j.State != domain.JobQueued || j.Error.Code != domain.ErrCodeUnreachable || j.Steps[1].State != domain.StepFailed {
			t.Fatalf("%+v", j)
		}
		if h := p.Host(host); h.Health != domain.HealthUnreachable || h.HealthMessage != "No route to host." || h.State != domain.HostProbing {
			t.Errorf("%+v", h)
		}
		if wait := j.RunAfter.Sub(*j.StartedAt).Seconds(); wait < 1 || wait > 30 {
			t.Errorf("the next try is %.1f s after the first", wait)
		}
		p.now(job)
	}
	if j := p.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeUnreachable || j.Failures > 3 {
		t.Errorf("%+v", j)
	}
	if h := p.Host(host); h.State != domain.HostRegistered {
		t.Errorf("%+v", h)
	}
	// The next probe that succeeds makes it healthy again.
	p.Succeed()
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	if h := p.Host(host); h.Health != domain.HealthHealthy {
		t.Errorf("%+v", h)
	}
}

// TestAHostThatAnswersIsNotUnreachable any more, whatever the job came to.
func TestAHostThatAnswersIsNotUnreachable(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 3)
	host := p.ready("h1")
	gone := scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "No route to host."}}
	p.Runner.Handle("unit_allocate", gone, scripted.Script{}, gone, taskFailed)
	for _, want := range []struct {
		job    domain.JobState
		health domain.HostHealth
	}{{domain.JobSucceeded, domain.HealthHealthy}, {domain.JobFailed, domain.HealthUnknown}} {
		_, job, err := p.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		site.Eventually(t, "a failed attempt", func() bool { return p.Job(job).Failures == 1 })
		if h := p.Host(host); h.Health != domain.HealthUnreachable {
			t.Errorf("%+v", h)
		}
		if _, _, err := p.Allocate(intent.CreateAllocation{}); err == nil {
			t.Error("a unit of a host that does not answer was handed out")
		}
		p.now(job)
		p.Ended(job, want.job)
		if h := p.Host(host); h.Health != want.health || h.HealthMessage != "" {
			t.Errorf("%s: %s, %q", want.job, h.Health, h.HealthMessage)
		}
	}
}

// TestNobodyListens: the refused connection is the host's, not ours.
func TestNobodyListens(t *testing.T) {
	t.Parallel()
	p := place{Site: site.New(t), ssh: &site.SSHServer{Port: 1}} // nobody listens there
	p.Backend()
	_, job := p.register("h1", true)
	site.Eventually(t, "a failed attempt", func() bool { return p.Job(job).Failures == 1 })
	if j := p.Job(job); j.Error.Code != domain.ErrCodeUnreachable || !strings.Contains(j.Error.Message, "connection refused") {
		t.Errorf("%+v", j.Error)
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	p := setup(t)
	host := p.probed("h1")
	gone := scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "No route to host."}}
	p.Runner.Handle("host_probe", gone)
	job := p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0))
	site.Eventually(t, "a failed attempt", func() bool { return p.Job(job).Failures == 1 })
	p.sql(`UPDATE jobs SET deadline_at = now(), run_after = now() WHERE id = $1`, job)
	j := p.Ended(job, domain.JobFailed)
	if j.Error.Code != domain.ErrCodeDeadline || !strings.Contains(j.Error.Message, "No route to host.") {
		t.Errorf("%+v", j.Error)
	}
}
