package worker_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// fleet is a site on whose hosts a test decides, host by host, how plays end.
type fleet struct {
	place
	mu    sync.Mutex
	play  map[string]string // host -> fail, unreachable, hold; else it succeeds
	begun map[string]chan struct{}
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	f := &fleet{place: place{Site: site.New(t), ssh: site.NewSSHServer(t)}, play: map[string]string{}, begun: map[string]chan struct{}{}}
	good := scripted.New()
	good.Handle("host_initialize", scripted.Script{Result: map[string]any{"volume_group": map[string]any{"size_bytes": 64 << 30, "free_bytes": 1 << 30}}})
	good.Handle("host_decommission")
	good.Handle("unit_allocate")
	good.HandleFunc("unit_deallocate", site.Wiped)
	good.HandleFunc("host_measure", site.Measured)
	good.HandleFunc("host_probe", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		machine, _, _ := strings.Cut(p.Hosts[0].Name, "-again")
		return site.Play(ctx, p, sink, scripted.Script{Result: site.Facts(machine)})
	})
	for _, name := range site.Playbooks {
		f.Runner.HandleFunc(name, func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
			f.mu.Lock()
			how, begun := f.play[p.Hosts[0].Name], f.begun[p.Hosts[0].Name]
			f.mu.Unlock()
			switch how {
			case "fail":
				return site.Play(ctx, p, sink, taskFailed)
			case "unreachable":
				return site.Play(ctx, p, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "No route to host."}})
			case "hold":
				begun <- struct{}{}
				return site.Play(ctx, p, sink, scripted.Script{Wait: make(chan struct{})})
			default:
				return good.Run(ctx, p, sink)
			}
		})
	}
	f.AddAddresses("default", 250)
	f.Backend()
	return f
}

func (f *fleet) lets(host, how string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.play[host], f.begun[host] = how, make(chan struct{}, 8)
}

func (f *fleet) begins(host string) {
	f.T.Helper()
	f.mu.Lock()
	begun := f.begun[host]
	f.mu.Unlock()
	site.Await(f.T, "a play on "+host, begun)
}

// ground is what a job of a kind needs before it can be asked for, and how it
// is asked for.
type ground struct {
	ready func(f *fleet, name string) (host uuid.UUID)
	ask   func(f *fleet, host uuid.UUID) (job uuid.UUID, err error)
}

func withTenant(f *fleet, name string) uuid.UUID {
	f.T.Helper()
	h := f.ReadyHost(site.HostSpec{Name: name, Units: []string{"1", "2", "3"}})
	a, job, err := f.Allocate(intent.CreateAllocation{UnitID: &f.Units(h.ID)[0].ID})
	if err != nil {
		f.T.Fatal(err)
	}
	f.Ended(job, domain.JobSucceeded)
	f.wantStates(a, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	return h.ID
}

func (f *fleet) tenant(host uuid.UUID) store.Allocation {
	f.T.Helper()
	live, err := f.DB.LiveAllocationsOfHost(f.T.Context(), host)
	if err != nil || len(live) != 1 {
		f.T.Fatalf("%d live allocations, %v", len(live), err)
	}
	return live[0]
}

// grounds are by kind of job; the test fails for a kind that has none.
var grounds = map[domain.JobKind]ground{
	domain.KindHostProbe: {
		ready: func(f *fleet, name string) uuid.UUID { return f.laidOut(name) },
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			return f.Intents.ProbeHost(f.T.Context(), f.Call, host, 0)
		},
	},
	domain.KindHostsProbe: {
		ready: func(f *fleet, name string) uuid.UUID { return f.ready(name) },
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			return f.Intents.ProbeHosts(f.T.Context(), f.Call, []uuid.UUID{host})
		},
	},
	domain.KindHostMeasure: {
		ready: withTenant,
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			return f.Intents.MeasureHost(f.T.Context(), f.Call, host, 0, 2)
		},
	},
	domain.KindHostInitialize: {
		ready: func(f *fleet, name string) uuid.UUID { return f.laidOut(name) },
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			return f.Intents.InitializeHost(f.T.Context(), f.Call, host, 0, false)
		},
	},
	domain.KindHostRelayout: {
		ready: withTenant,
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			return f.Intents.RelayoutHost(f.T.Context(), f.Call, host, 0, domain.LayoutRequest{Count: 1, CPUsEach: 4})
		},
	},
	domain.KindHostDecommission: {
		ready: func(f *fleet, name string) uuid.UUID {
			return f.ReadyHost(site.HostSpec{Name: name, Units: []string{"1", "2"}}).ID
		},
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			return f.Intents.DecommissionHost(f.T.Context(), f.Call, host, 0)
		},
	},
	domain.KindPlan: {
		ready: func(f *fleet, name string) uuid.UUID {
			return f.ReadyHost(site.HostSpec{Name: name, Units: []string{"1", "2"}}).ID
		},
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			_, job, err := f.Intents.Plan(f.T.Context(), f.Call, intent.PlanRequest{Action: domain.ActionDecommission}, 0, func(ctx context.Context, call intent.Call) error {
				_, err := f.Intents.DecommissionHost(ctx, call, host, 0)
				return err
			})
			return job, err
		},
	},
	domain.KindUnitAllocate: {
		ready: func(f *fleet, name string) uuid.UUID {
			return f.ReadyHost(site.HostSpec{Name: name, Units: []string{"1", "2"}}).ID
		},
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			_, job, err := f.Allocate(intent.CreateAllocation{HostID: &host})
			return job, err
		},
	},
	domain.KindUnitDeallocate: {
		ready: withTenant,
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			a := f.tenant(host)
			return f.Intents.Deallocate(f.T.Context(), f.Call, a.ID, 0, a.LoginUser)
		},
	},
	domain.KindAllocationKeys: {
		ready: withTenant,
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			_, key := site.NewKey(f.T)
			return f.Intents.ReplaceKeys(f.T.Context(), f.Call, f.tenant(host).ID, 0, []string{key})
		},
	},
	domain.KindAllocationNetwork: {
		ready: withTenant,
		ask: func(f *fleet, host uuid.UUID) (uuid.UUID, error) {
			facts := *f.Host(host).Facts
			facts.Capabilities.UnitNetworks = domain.Possible
			f.Tx(func(tx *store.Tx) error { return tx.SetHostFacts(f.T.Context(), host, facts) })
			moves := intent.New(f.DB, intent.Config{UnitNetwork: domain.NetworkOfUnit})
			return moves.MoveToOwnNetwork(f.T.Context(), f.Call, f.tenant(host).ID, 0)
		},
	},
}

// failures bring a job that is asked for into its failed state.
var failures = map[string]func(f *fleet, host uuid.UUID, name string, ask func() uuid.UUID) (job uuid.UUID){
	"a task fails": func(f *fleet, _ uuid.UUID, name string, ask func() uuid.UUID) uuid.UUID {
		f.lets(name, "fail")
		job := ask()
		f.Ended(job, domain.JobFailed)
		return job
	},
	"cancelled while it runs": func(f *fleet, _ uuid.UUID, name string, ask func() uuid.UUID) uuid.UUID {
		f.lets(name, "hold")
		job := ask()
		f.begins(name)
		if err := f.Intents.CancelJob(f.T.Context(), f.Call, job); err != nil {
			f.T.Fatal(err)
		}
		f.Ended(job, domain.JobCancelled)
		return job
	},
	"cancelled while it waits for its next try": func(f *fleet, _ uuid.UUID, name string, ask func() uuid.UUID) uuid.UUID {
		f.lets(name, "unreachable")
		job := ask()
		site.Eventually(f.T, "a failed try", func() bool { j := f.Job(job); return j.Failures > 0 && j.State == domain.JobQueued })
		if err := f.Intents.CancelJob(f.T.Context(), f.Call, job); err != nil {
			f.T.Fatal(err)
		}
		f.Ended(job, domain.JobCancelled)
		return job
	},
	"unreachable until the deadline": func(f *fleet, _ uuid.UUID, name string, ask func() uuid.UUID) uuid.UUID {
		f.lets(name, "unreachable")
		job := ask()
		site.Eventually(f.T, "a failed try", func() bool { j := f.Job(job); return j.Failures > 0 && j.State == domain.JobQueued })
		f.sql(`UPDATE jobs SET deadline_at = now() - INTERVAL '1 second', run_after = now() WHERE id = $1`, job)
		if j := f.Ended(job, domain.JobFailed); j.Error.Code != domain.ErrCodeDeadline {
			f.T.Errorf("%+v", j.Error)
		}
		return job
	},
	"the host is lost in the middle": func(f *fleet, host uuid.UUID, name string, ask func() uuid.UUID) uuid.UUID {
		f.lets(name, "hold")
		job := ask()
		f.begins(name)
		err := f.Intents.DeclareHostLost(f.T.Context(), f.Call, host, 0, name)
		if _, takes := domain.HostLifecycle.Next(f.Host(host).State, domain.DeclaredLost); takes == nil || err != nil || f.Job(job).HostID == nil {
			// While it is probed there is nothing of ours on it: first the job ends. One of
			// several hosts goes on with the others.
			if f.Job(job).HostID != nil {
				f.refused(err)
			}
			if err := f.Intents.CancelJob(f.T.Context(), f.Call, job); err != nil {
				f.T.Fatal(err)
			}
			f.Ended(job, domain.JobCancelled)
			return job
		}
		if j := f.Ended(job, domain.JobFailed); j.Error.Code != "host_lost" {
			f.T.Errorf("%+v", j.Error)
		}
		return job
	},
}

// refused holds a refusal against what a person must be told.
func (f *fleet) refused(err error) {
	f.T.Helper()
	var c *domain.Conflict
	if !errors.As(err, &c) || c.Code == "" || !strings.Contains(c.Detail, " ") {
		f.T.Errorf("refused without a reason: %v", err)
	}
}

// ways are what a person can try after a failure. accepted says, from the
// tables, whether it must be taken.
var ways = []struct {
	name     string
	accepted func(j store.Job, h store.Host) bool
	try      func(f *fleet, job uuid.UUID, h store.Host) error
}{
	{"retry", func(_ store.Job, h store.Host) bool { return h.State != domain.HostLost }, func(f *fleet, job uuid.UUID, _ store.Host) error {
		return f.Intents.RetryJob(f.T.Context(), f.Call, job, false)
	}},
	{"give up", func(j store.Job, h store.Host) bool {
		joint, _ := domain.JointOf(j.Kind)
		return joint.GiveUp != "" && h.State != domain.HostLost
	}, func(f *fleet, job uuid.UUID, _ store.Host) error {
		_, err := f.Intents.GiveUpJob(f.T.Context(), f.Call, job)
		return err
	}},
	{"declare lost", func(_ store.Job, h store.Host) bool {
		_, err := domain.HostLifecycle.Next(h.State, domain.DeclaredLost)
		return err == nil
	}, func(f *fleet, _ uuid.UUID, h store.Host) error {
		return f.Intents.DeclareHostLost(f.T.Context(), f.Call, h.ID, 0, h.Name)
	}},
	{"refence", func(_ store.Job, h store.Host) bool {
		_, err := domain.HostLifecycle.Next(h.State, domain.InitializeRequested)
		return err == nil
	}, func(f *fleet, _ uuid.UUID, h store.Host) error {
		_, err := f.Intents.InitializeHost(f.T.Context(), f.Call, h.ID, 0, true)
		return err
	}},
}

// TestEveryFailureHasAWayOut walks the joint table: a job of each kind is made
// to fail in each way through the queue and the worker, and then everything
// that a person can do is tried. What is accepted ends with all objects at rest
// and in agreement; what is refused says why and changes nothing.
func TestEveryFailureHasAWayOut(t *testing.T) {
	t.Parallel()
	for failure, fail := range failures {
		t.Run(failure, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t)
			tried := 0
			for k, joint := range domain.JointTable {
				g, ok := grounds[joint.Kind]
				if !ok {
					t.Errorf("nobody knows how to ask for a %s", joint.Kind)
					continue
				}
				for w, way := range ways {
					tried++
					name := fmt.Sprintf("h%d-%d", k, w)
					host := g.ready(f, name)
					job := fail(f, host, name, func() uuid.UUID {
						id, err := g.ask(f, host)
						if err != nil {
							t.Fatalf("%s: %v", joint.Kind, err)
						}
						return id
					})
					f.lets(name, "")
					what := fmt.Sprintf("%s of %s", way.name, joint.Kind)
					f.agrees(what+", before", host)
					before := f.picture(host)
					h := f.Host(host)
					must := way.accepted(f.Job(job), h)
					err := way.try(f, job, h)
					if (err == nil) != must {
						t.Errorf("%s: %v; by the tables it is accepted: %v (host %s)", what, err, must, h.State)
					}
					if err != nil {
						f.refused(err)
						if after := f.picture(host); after != before {
							t.Errorf("%s was refused, and changed\n%s\ninto\n%s", what, before, after)
						}
					}
					if f.Job(job).HostID == nil { // no host tells that it has one of several
						site.Eventually(t, what+" to end", func() bool { return f.Job(job).FinishedAt != nil })
					}
					f.settles(what, host)
					f.agrees(what, host)
					if now := f.Job(job); way.name == "retry" && err == nil && now.State != domain.JobSucceeded {
						t.Errorf("%s: the job is %s: %v", what, now.State, now.Error)
					}
					if f.Host(host).State == domain.HostLost {
						f.leavesLost(what, name, host)
					}
				}
			}
			if tried != len(domain.JointTable)*len(ways) {
				t.Errorf("only %d were tried", tried)
			}
		})
	}
}

// TestEndThatFitsNothingIsToldOf: objects that take neither the success nor the
// failure of a job stay as they are, and its end has an event like any other.
func TestEndThatFitsNothingIsToldOf(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{})
	s.Backend()
	id, first, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(first, domain.JobSucceeded)
	a := s.Allocation(id)
	var again uuid.UUID
	s.Tx(func(tx *store.Tx) (err error) { // as no intent would
		again, err = tx.Enqueue(t.Context(), s.Actor, domain.DefaultWorkspace, job.UnitAllocate{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID})
		return err
	})
	if j := s.Ended(again, domain.JobFailed); j.Error == nil || j.Error.Code != "unit_state" || j.Steps[0].State != domain.StepFailed {
		t.Errorf("%+v", j)
	}
	if now := s.Allocation(id); now.State != domain.AllocationAllocated {
		t.Errorf("%+v", now)
	}
	ends := 0
	for _, e := range s.Events(id) {
		if e.JobID != nil && *e.JobID == again && e.Action == "job.unit_allocate" && strings.Contains(string(e.After), `"failed"`) {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("%d events tell of its end", ends)
	}
}
