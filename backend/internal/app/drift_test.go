package app_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/area/drift"
	"kloigos/backend/internal/area/drift/driftwork"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// wouldChange is a play that would change these things.
func wouldChange(names ...string) scripted.Script {
	var s scripted.Script
	for _, name := range names {
		s.Events = append(s.Events, ansible.Event{Kind: ansible.EventChange, Role: "role", Task: "a task", Change: &ansible.Change{Action: "change", Kind: "file", Name: name}})
	}
	return s
}

// pass runs the policy over a host until its pass has ended, and returns the conditions by object.
func pass(t *testing.T, s *site.Site, host uuid.UUID) map[uuid.UUID]reconcile.Condition {
	t.Helper()
	check := func(ctx context.Context, by audit.Actor, host, allocation uuid.UUID) (uuid.UUID, error) {
		return s.Intents.CrossCheck(ctx, intent.By(by), host, allocation)
	}
	var policy reconcile.Policy
	for _, p := range driftwork.Policies(driftwork.Config{DB: s.DB.DB, Check: check}) {
		if p.Name == driftwork.CrossCheck {
			policy = p
		}
	}
	said := map[uuid.UUID]reconcile.Condition{}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		out := lookAt(t, policy, host, false)
		for _, c := range out.Conditions {
			said[c.ObjectID] = c
		}
		if out.Again == 0 {
			return said
		}
		if time.Now().After(end) {
			t.Fatalf("the pass does not end: %+v", out)
		}
	}
}

// Once a day Ansible's check mode looks at a host and its units, and its answer is compared with what the agent found.
func TestAnsibleLooksAtWhatAgentsLookAt(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.Backend()
	s.AddAddresses("default", 2)
	host := s.ReadyHost(site.HostSpec{Name: "h1"})
	allocation, job, err := s.Allocate(intent.CreateAllocation{LoginUser: "tenant1"})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	unit := s.Allocation(allocation).UnitID
	pool, err := pgxpool.New(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	// Agents are not asked at once after a job, and a pass waits as well.
	if _, err := pool.Exec(t.Context(), "UPDATE jobs SET finished_at = finished_at - INTERVAL '1 hour' WHERE host_id = $1", host.ID); err != nil {
		t.Fatal(err)
	}

	said := pass(t, s, host.ID)
	if len(said) != 2 {
		t.Fatalf("conditions of %d objects: %+v", len(said), said)
	}
	for _, id := range []uuid.UUID{host.ID, unit} {
		if c := said[id]; c.Type != driftwork.CrossChecked || c.Status != reconcile.True || c.Reason != "same" || !strings.Contains(c.Message, "would change nothing") {
			t.Errorf("nothing changed: %+v", c)
		}
	}

	// Ansible finds what no agent tells.
	s.Runner.Handle("unit_allocate", wouldChange("/etc/security/limits.d/one", "two", "three", "four", "five", "six"))
	said = pass(t, s, host.ID)
	if c := said[unit]; c.Status != reconcile.False || c.Reason != "drifted" || c.Noun != drift.UnitNoun ||
		!strings.Contains(c.Message, "file /etc/security/limits.d/one, file two, file three, file four, file five, and 1 more") {
		t.Errorf("a changed file: %+v", c)
	}
	if c := said[host.ID]; c.Status != reconcile.True {
		t.Errorf("the host of a changed file: %+v", c)
	}

	// What the host calls a thing is cut between characters: the condition could not be stored otherwise.
	s.Runner.Handle("unit_allocate", wouldChange("x"+strings.Repeat("ü", 400)))
	if c := pass(t, s, host.ID)[unit]; c.Reason != "drifted" || !utf8.ValidString(c.Message) || len(c.Message) < 600 {
		t.Errorf("a long name: %q", c.Message)
	}

	// Both find it.
	h, err := drift.HostByID(t.Context(), s.DB.DB.Reader, host.ID)
	if err != nil {
		t.Fatal(err)
	}
	found := []drift.Finding{{Unit: unit, Allocation: allocation, Name: "h1-cu01", Promise: "memory", Promised: "max=1", Found: "max=2"}}
	if _, err := drift.Record(t.Context(), s.DB.DB, driftwork.Drift, h, found); err != nil {
		t.Fatal(err)
	}
	if c := pass(t, s, host.ID)[unit]; c.Status != reconcile.True || c.Reason != "same" || !strings.Contains(c.Message, "both find") {
		t.Errorf("found by both: %+v", c)
	}

	// Only the agent finds it: one of the two is wrong.
	s.Runner.Handle("unit_allocate", scripted.Script{})
	if c := pass(t, s, host.ID)[unit]; c.Status != reconcile.False || c.Reason != "only_agent" || !strings.Contains(c.Message, "memory") {
		t.Errorf("found by the agent alone: %+v", c)
	}

	// A check that fails says nothing of the host.
	s.Runner.Handle("unit_allocate", scripted.Script{Failure: &ansible.Failure{Task: "a task", Message: "no space left on device"}})
	if c := pass(t, s, host.ID)[unit]; c.Status != reconcile.Unknown || c.Reason != "check_failed" {
		t.Errorf("a failed check: %+v", c)
	}

	// Its plans are left out of the list, ask nobody for approvals, and nobody applies them.
	plans := func(action string) []store.Plan {
		found, err := s.DB.Plans(t.Context(), store.PlanFilter{WorkspaceID: domain.DefaultWorkspace, Action: action, Limit: 50})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	made := plans(domain.ActionCrossCheck)
	if len(plans("")) != 0 || len(made) != 12 || made[0].RequestedBy != driftwork.CrossCheck {
		t.Fatalf("%d plans are listed, %d were made", len(plans("")), len(made))
	}
	bound, err := s.Call.BoundTo(made[11].ID, intent.PlanRequest{Action: domain.ActionInitialize})
	if err != nil {
		t.Fatal(err)
	}
	var conflict *fault.Conflict
	if _, err = s.Intents.InitializeHost(t.Context(), bound, host.ID, 0, false); !errors.As(err, &conflict) {
		t.Errorf("applied: %v", err)
	}
	if on := intent.PlanOperations(made[11], nil, intent.PlanApproval{}, intent.Decider{})[0]; on.Allowed || !strings.Contains(on.Prevents, "a policy made the plan") {
		t.Errorf("%+v", on)
	}
}
