package worker_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestPlansThatNoLongerHold: each of the three, moved between the check and the
// asking.
func TestPlansThatNoLongerHold(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 3)
	host := p.ready("h1")
	of := p.askInitialize(host)

	got := p.planned(of)
	p.newVersion("host_initialize", true, true)
	_, err := p.apply(got.ID, of)
	p.stale(err, domain.MovedPlaybook)

	got = p.planned(of)
	p.sql(`UPDATE hosts SET profile = 'standard' WHERE id = $1`, host)
	_, err = p.apply(got.ID, of)
	p.stale(err, domain.MovedVariables, domain.MovedState)

	got = p.planned(of)
	p.sql(`UPDATE hosts SET facts = jsonb_set(facts, '{kernel}', '"6.2.0"') WHERE id = $1`, host)
	_, err = p.apply(got.ID, of)
	p.stale(err, domain.MovedState)

	// Another job that changed the host moves it, one that only reads does not.
	got = p.planned(of)
	p.Ended(p.must(p.Intents.ProbeHost(t.Context(), p.Call, host, 0)), domain.JobSucceeded)
	p.sql(`UPDATE hosts SET facts = jsonb_set(facts, '{kernel}', '"6.2.0"') WHERE id = $1`, host)
	if stale, err := p.Intents.PlanMoved(t.Context(), p.thePlan(got.ID)); err != nil || !slices.Equal(stale.Moved, []string{domain.MovedState}) {
		t.Errorf("the probe read the volume groups anew: %+v, %v", stale, err)
	}
	got = p.planned(of)
	p.planned(of)
	if stale, err := p.Intents.PlanMoved(t.Context(), p.thePlan(got.ID)); err != nil || stale != nil {
		t.Errorf("two plans: %+v, %v", stale, err)
	}
	p.Ended(p.initialize(host), domain.JobSucceeded)
	stale, err := p.Intents.PlanMoved(t.Context(), p.thePlan(got.ID))
	if err != nil || stale == nil || stale.Moved[0] != domain.MovedState {
		t.Errorf("another job began: %+v, %v", stale, err)
	}
	for _, o := range intent.PlanOperations(p.thePlan(got.ID), stale, intent.PlanApproval{}, intent.Decider{}) {
		if o.Allowed || o.Prevents == "" {
			t.Errorf("%+v", o)
		}
	}
	_, err = p.apply(got.ID, of)
	p.stale(err, domain.MovedState)
	if h := p.Host(host); h.State != domain.HostReady {
		t.Errorf("a refused plan moved the host: %s", h.State)
	}

	got = p.planned(of)
	_, err = p.apply(got.ID, p.askDecommission(host))
	p.conflict(err, "plan_mismatch")
	p.sql(`UPDATE plans SET expires_at = now() - INTERVAL '1 second' WHERE id = $1`, got.ID)
	_, err = p.apply(got.ID, of)
	p.conflict(err, "plan_expired")
	expired, err := p.DB.Plans(t.Context(), store.PlanFilter{WorkspaceID: domain.DefaultWorkspace, State: "expired", Limit: 9})
	if err != nil || len(expired) != 1 || expired[0].ID != got.ID || !expired[0].Expired {
		t.Errorf("expired %+v, %v", expired, err)
	}
}

// TestRelayoutPlansThatNoLongerHold: what a layout was planned around has moved.
func TestRelayoutPlansThatNoLongerHold(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 3)
	host := p.ready("h1")
	of := p.askRelayout(host, 2)
	got := p.planned(of)
	if len(got.Proposal.Units) != 1 || len(got.Proposal.Replaced) != 2 || got.Proposal.Layout == nil {
		t.Fatalf("proposal %+v", got.Proposal)
	}
	if stale, err := p.Intents.PlanMoved(t.Context(), p.thePlan(got.ID)); err != nil || stale != nil {
		t.Errorf("nothing moved: %+v, %v", stale, err)
	}
	a, job, err := p.Allocate(intent.CreateAllocation{CPUs: 1})
	if err != nil {
		t.Fatal(err)
	}
	p.Ended(job, domain.JobSucceeded)
	if stale, err := p.Intents.PlanMoved(t.Context(), p.thePlan(got.ID)); err != nil || stale == nil || !slices.Contains(stale.Moved, domain.MovedVariables) {
		t.Errorf("one of the units that would go has a tenant: %+v, %v", stale, err)
	}
	_, err = p.apply(got.ID, of)
	p.stale(err, domain.MovedVariables, domain.MovedState)
	if units := p.Units(host); len(units) != 2 || p.Allocation(a).State != domain.AllocationAllocated {
		t.Errorf("a refused plan changed %d units", len(units))
	}
	_, err = p.apply(got.ID, p.askRelayout(host, 1))
	p.conflict(err, "plan_mismatch")
}

// newVersion adds a version of a playbook; as a seed it becomes the default.
func (p place) newVersion(name string, seeded, byDefault bool) int {
	p.T.Helper()
	content := []byte("another content of " + name + uuid.NewString())
	v := store.PlaybookVersion{
		Playbook: name, SHA256: fmt.Sprintf("%x", sha256.Sum256(content)), SizeBytes: 1, DecodedBytes: 1, Files: 1, Seeded: seeded, CreatedBy: "ada",
	}
	var version int
	was, err := p.DB.Playbook(p.T.Context(), name)
	if err != nil {
		p.T.Fatal(err)
	}
	p.Tx(func(tx *store.Tx) (err error) {
		version, _, err = tx.SeedPlaybook(p.T.Context(), name, v, content)
		return err
	})
	if !byDefault {
		p.sql(`UPDATE playbooks SET default_version = $2 WHERE name = $1`, name, was.DefaultVersion)
	}
	return version
}

// TestTwoPlansOfOneUnit: neither takes it; the first to be applied gets it.
func TestTwoPlansOfOneUnit(t *testing.T) {
	t.Parallel()
	p := setup(t)
	p.AddAddresses("default", 2)
	host := p.ready("h1")
	unit := p.Units(host)[0].ID
	one, two := p.askAllocate(intent.CreateAllocation{UnitID: &unit}), p.askAllocate(intent.CreateAllocation{UnitID: &unit})
	first, second := p.planned(one), p.planned(two)
	if *first.UnitID != unit || *second.UnitID != unit || first.Proposal.UID == second.Proposal.UID {
		t.Fatalf("%+v, %+v", first.Proposal, second.Proposal)
	}
	other := p.askAllocate(intent.CreateAllocation{UnitID: &unit, LoginUser: "mallory"})
	_, err := p.apply(second.ID, other)
	p.conflict(err, "plan_mismatch")
	p.Ended(p.mustApply(second.ID, two), domain.JobSucceeded)
	_, err = p.apply(first.ID, one)
	p.stale(err, domain.MovedState)
	p.wantStates(*second.AllocationID, domain.AllocationAllocated, domain.UnitAllocated, domain.AddressAllocated)
	if _, err := p.DB.Allocation(t.Context(), *first.AllocationID); !errors.Is(err, domain.ErrNotFound) {
		t.Errorf("the plan that was refused left an allocation: %v", err)
	}
	// The address and the UID that a plan proposed can be gone as well.
	rest := p.askAllocate(intent.CreateAllocation{CPUs: 1})
	third := p.planned(rest)
	p.sql(`UPDATE addresses SET state = 'unavailable' WHERE address = $1`, third.Proposal.Address)
	p.AddAddresses("more", 1)
	_, err = p.apply(third.ID, rest)
	var full *intent.PlanStale
	if !errors.As(err, &full) {
		t.Errorf("the address is gone: %v", err)
	}
	p.sql(`UPDATE addresses SET state = 'free' WHERE address = $1`, third.Proposal.Address)
	p.sql(`INSERT INTO uids (uid, allocation_id) VALUES ($1, $2)`, third.Proposal.UID, uuid.New())
	_, err = p.apply(third.ID, rest)
	p.stale(err, domain.MovedState)
	if u := p.Units(host)[1]; u.State != domain.UnitFree {
		t.Errorf("a refused plan left the unit %s", u.State)
	}
}

// TestBoundJobsLookAgain: what moves between the asking and the first step.
func TestBoundJobsLookAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		move  func(p place, host uuid.UUID, plan store.Plan, job uuid.UUID)
		moved string
	}{
		"playbook": {func(p place, _ uuid.UUID, _ store.Plan, job uuid.UUID) {
			v := p.newVersion("host_initialize", true, false)
			p.sql(`UPDATE jobs SET playbook_version_id = (SELECT id FROM playbook_versions WHERE playbook = 'host_initialize' AND version = $2) WHERE id = $1`, job, v)
		}, domain.MovedPlaybook},
		"content": {func(p place, _ uuid.UUID, plan store.Plan, _ uuid.UUID) {
			p.sql(`UPDATE playbook_versions SET content = 'other' WHERE id = $1`, plan.PlaybookVersionID)
		}, domain.MovedPlaybook},
		"variables": {func(p place, host uuid.UUID, _ store.Plan, _ uuid.UUID) {
			p.sql(`UPDATE hosts SET profile = 'build' WHERE id = $1`, host)
		}, domain.MovedVariables},
		"state": {func(p place, host uuid.UUID, _ store.Plan, _ uuid.UUID) {
			p.sql(`UPDATE hosts SET port = port + 0, admin_user = 'other' WHERE id = $1`, host)
		}, domain.MovedState},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := place{Site: site.New(t), ssh: site.NewSSHServer(t)}
			first := p.Backend()
			host := p.ready("h1")
			of := p.askInitialize(host)
			plan := p.planned(of)
			first.Stop()
			site.Await(t, "the backend to stop", first.Stopped())
			job := p.mustApply(plan.ID, of)
			c.move(p, host, plan, job)
			calls := len(p.Runner.Calls())
			p.Backend()
			j := p.Ended(job, domain.JobFailed)
			if j.Error.Code != domain.ErrCodePlanStale || !strings.Contains(j.Error.Message, c.moved) || j.Error.NextStep == "" {
				t.Errorf("%+v", j.Error)
			}
			if len(p.Runner.Calls()) != calls {
				t.Error("a play was run although the plan no longer holds")
			}
			if name == "content" { // and it stays so
				return
			}
			// Who has read why may go on without the plan.
			if err := p.Intents.RetryJob(t.Context(), p.Call, job, false); err != nil {
				t.Fatal(err)
			}
			if j = p.Ended(job, domain.JobSucceeded); j.PlanID != nil || p.Host(host).State != domain.HostReady {
				t.Errorf("%+v, host %s", j, p.Host(host).State)
			}
		})
	}
}
