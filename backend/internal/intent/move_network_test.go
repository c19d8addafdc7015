package intent_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestMoveToOwnNetwork: a unit of the old kind is moved when it is asked for, where setting and host allow it, and its kind is
// another only when the job has ended well.
func TestMoveToOwnNetwork(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 9)
	h := s.ReadyHost(site.HostSpec{Name: "h1", Units: []string{"1", "2"}})
	fails := true
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		vars, err := json.Marshal(p.Vars)
		if err != nil {
			return ansible.Outcome{}, err
		}
		if fails && strings.Contains(string(vars), `"unit_allocate_network":"unit"`) {
			return site.Play(ctx, p, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Host: "h1", Task: "Claim the unit", Message: "no"}})
		}
		return site.Play(ctx, p, sink, scripted.Script{})
	})
	s.Backend()
	a, job, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	now := intent.New(s.DB, intent.Config{UnitNetwork: domain.NetworkOfUnit})
	refused := func(in *intent.Intents, code string) {
		t.Helper()
		_, err := in.MoveToOwnNetwork(t.Context(), s.Call, a, 0)
		if conflict := (*domain.Conflict)(nil); !errors.As(err, &conflict) || conflict.Code != code {
			t.Errorf("not refused as %s but %v", code, err)
		}
		if in.RestartNeeded(s.Allocation(a)) {
			t.Errorf("a restart is offered in spite of %s", code)
		}
	}
	refused(s.Intents, "unit_network_host")
	refused(now, "host_lacks_networks")
	setUnitNetworks(s, h, "h1", domain.Possible)
	if !now.RestartNeeded(s.Allocation(a)) {
		t.Error("no restart is offered")
	}
	move := func(state domain.JobState, kind domain.UnitNetwork) {
		t.Helper()
		job, err := now.MoveToOwnNetwork(t.Context(), s.Call, a, 0)
		if err != nil {
			t.Fatal(err)
		}
		s.Ended(job, state)
		if got := s.Allocation(a); got.UnitNetwork != kind || got.State != domain.AllocationAllocated {
			t.Errorf("a job that has %s leaves a network of kind %q, %s", state, got.UnitNetwork, got.State)
		}
	}
	move(domain.JobFailed, domain.NetworkOfHost)
	fails = false
	plan, job, err := now.Plan(t.Context(), s.Call, intent.PlanRequest{Action: domain.ActionMoveNetwork}, 0, func(ctx context.Context, call intent.Call) error {
		_, err := now.MoveToOwnNetwork(ctx, call, a, 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	checked := s.Runner.Calls()[len(s.Runner.Calls())-1]
	if !checked.Play.Check || !strings.Contains(string(checked.Vars), `"unit_allocate_network":"unit"`) || s.Allocation(a).UnitNetwork != domain.NetworkOfHost {
		t.Errorf("plan %s checked %s", plan, checked.Vars)
	}
	move(domain.JobSucceeded, domain.NetworkOfUnit)
	refused(now, "own_network")
	if events := s.Events(a); !slices.ContainsFunc(events, func(e store.Event) bool { return e.Action == "allocation.move_network" }) {
		t.Errorf("no event: %+v", events)
	}
}
