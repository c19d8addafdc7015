package policy_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// endStuck runs what is due of each noun with deadlines, hosts before what belongs to them.
func endStuck(s *site.Site) int64 {
	s.T.Helper()
	n, err := runInFlight(s)
	if err != nil {
		s.T.Fatal(err)
	}
	return n
}

func runInFlight(s *site.Site) (changed int64, failed error) {
	s.T.Helper()
	all := reconcile.InFlight(s.DB.DB, s.Intents.InFlight())
	slices.SortFunc(all, func(a, b reconcile.Policy) int {
		order := []string{"host", "allocation", "unit", "plan"}
		return slices.Index(order, a.Noun) - slices.Index(order, b.Noun)
	})
	for _, p := range all {
		ids, err := p.Objects(s.T.Context(), uuid.Nil, 1000)
		if err != nil {
			s.T.Fatal(err)
		}
		for _, id := range ids {
			out, err := p.Run(s.T.Context(), reconcile.Item{ObjectID: id})
			changed += out.Changed
			failed = errors.Join(failed, err)
		}
	}
	return changed, failed
}

// told holds that an event of an object tells what its noun's policy did.
func told(s *site.Site, object uuid.UUID, action string) {
	s.T.Helper()
	if !slices.ContainsFunc(s.Events(object), func(e store.Event) bool {
		return e.Action == action && e.ActorKind == domain.ActorPolicy && e.ActorName == strings.TrimSuffix(action, ".end_stuck")+"_deadline"
	}) {
		s.T.Errorf("no event tells of %s", action)
	}
}

// Whatever is in flight, of whatever noun, is ended once it has been so for too
// long and no job is left; it then is where a person can act.
func TestNothingStaysInFlight(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	unit := s.Units(h.ID)[0].ID
	for _, state := range first(domain.HostLifecycle.Deadlines()) {
		sql(s, `UPDATE hosts SET state = $2, updated_at = now() - INTERVAL '1 day' WHERE id = $1`, h.ID, state)
		if n := endStuck(s); n != 1 {
			t.Errorf("host %s: %d were ended", state, n)
		}
		if now := s.Host(h.ID).State; domain.HostLifecycle.Info(now).Deadline > 0 {
			t.Errorf("host %s became %s", state, now)
		}
		told(s, h.ID, "host.end_stuck")
	}
	sql(s, `UPDATE hosts SET state = 'ready' WHERE id = $1`, h.ID)
	for _, state := range first(domain.UnitLifecycle.Deadlines()) {
		sql(s, `UPDATE compute_units SET state = $2, updated_at = now() - INTERVAL '1 day' WHERE id = $1`, unit, state)
		if n := endStuck(s); n != 1 {
			t.Errorf("unit %s: %d were ended", state, n)
		}
		if n := count(s, `SELECT count(*) FROM compute_units WHERE id = $1 AND NOT state = ANY ($2) AND state_message <> ''`, unit, first(domain.UnitLifecycle.Deadlines())); n != 1 {
			t.Errorf("unit %s is still in flight, or does not say why it is not", state)
		}
		told(s, unit, "unit.end_stuck")
	}
}

func first[A, B any](a A, _ B) A { return a }

// An allocation ends together with its unit and its address, and not while it
// is young, or while a job is there.
func TestStuckAllocation(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 2)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	id, job, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	age := func() {
		for _, table := range []string{"allocations", "compute_units", "hosts"} {
			sql(s, `UPDATE `+table+` SET updated_at = now() - INTERVAL '1 day'`)
		}
	}
	age()
	if n := endStuck(s); n != 0 {
		t.Errorf("%d were ended, and a job is there", n)
	}
	sql(s, `UPDATE jobs SET state = 'failed', error = '{"code": "x", "message": "y"}', attempt = 1, finished_at = now() WHERE id = $1`, job)
	sql(s, `UPDATE allocations SET updated_at = now() - INTERVAL '59 minutes'`)
	sql(s, `UPDATE compute_units SET updated_at = now() - INTERVAL '59 minutes'`)
	if n := endStuck(s); n != 0 {
		t.Errorf("%d were ended before their time", n)
	}
	age()
	if n := endStuck(s); n != 1 {
		t.Errorf("%d were ended", n)
	}
	told(s, id, "allocation.end_stuck")
	a := s.Allocation(id)
	if a.State != domain.AllocationAllocationFailed {
		t.Errorf("the allocation is %s", a.State)
	}
	if n := count(s, `SELECT count(*) FROM compute_units WHERE id = $1 AND state = 'allocation_failed'`, a.UnitID); n != 1 {
		t.Error("its unit does not agree")
	}
	if n := count(s, `SELECT count(*) FROM addresses WHERE allocation_id = $1 AND state = 'reserved'`, id); n != 1 {
		t.Error("its address does not agree")
	}
	// A person goes on from there.
	if _, err := s.Intents.Deallocate(t.Context(), s.Call, id, 0, a.LoginUser); err != nil {
		t.Errorf("it can't be given back: %v", err)
	}
	// One whose unit does not fit ends alone.
	id, job, err = s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	sql(s, `UPDATE jobs SET state = 'failed', error = '{"code": "x", "message": "y"}', attempt = 1, finished_at = now() WHERE id = $1`, job)
	sql(s, `UPDATE compute_units SET state = 'unavailable' WHERE id = $1`, s.Allocation(id).UnitID)
	age()
	if n := endStuck(s); n != 1 || s.Allocation(id).State != domain.AllocationAllocationFailed {
		t.Errorf("%d were ended; it is %s", n, s.Allocation(id).State)
	}
}

// A plan whose job is over is not checked any more.
func TestStuckPlan(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	plan, job, err := s.Intents.Plan(t.Context(), s.Call, intent.PlanRequest{Action: domain.ActionInitialize}, 0, func(ctx context.Context, call intent.Call) error {
		_, err := s.Intents.InitializeHost(ctx, call, host, 0, false)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sql(s, `UPDATE plans SET created_at = now() - INTERVAL '1 hour'`)
	if n := endStuck(s); n != 0 {
		t.Errorf("%d were ended, and a job is there", n)
	}
	sql(s, `UPDATE jobs SET state = 'failed', error = '{"code": "x", "message": "y"}', attempt = 1, finished_at = now() WHERE id = $1`, job)
	if n := endStuck(s); n != 1 {
		t.Errorf("%d were ended", n)
	}
	p, err := s.DB.Plan(t.Context(), plan)
	if err != nil || p.State != domain.PlanFailed {
		t.Errorf("%+v, %v", p.State, err)
	}
	told(s, plan, "plan.end_stuck")
}

// A transaction that is tried again may find that somebody else was faster: then
// nothing was ended, and nothing is told.
func TestStuckByTheSecondTry(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	sql(s, `UPDATE hosts SET state = 'initializing', updated_at = now() - INTERVAL '1 day' WHERE id = $1`, host)
	s.DB.TryTwice()
	refused := 0
	s.DB.OnRetry(func() {
		if refused++; refused == 1 {
			sql(s, `UPDATE hosts SET state = 'ready' WHERE id = $1`, host)
		}
	})
	if n, err := runInFlight(s); err != nil || n != 0 || refused == 0 {
		t.Errorf("%d were ended, after %d tries that were refused: %v", n, refused, err)
	}
	if e := s.Events(host); len(e) > 0 && e[0].Action == "host.end_stuck" {
		t.Errorf("it is told: %+v", e[0])
	}
}

// What can't be ended does not hold up what comes after it.
func TestOneThatStaysStuckIsPassed(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	hosts := []uuid.UUID{s.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID, s.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID}
	slices.SortFunc(hosts, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }) // as they are looked for
	sql(s, `UPDATE hosts SET state = 'initializing', updated_at = now() - INTERVAL '1 day'`)
	sql(s, `ALTER TABLE hosts ADD CONSTRAINT stays CHECK (id <> '`+hosts[0].String()+`' OR state = 'initializing')`)
	unit := s.Units(hosts[1])[0].ID
	sql(s, `UPDATE compute_units SET state = 'deallocating', updated_at = now() - INTERVAL '1 day' WHERE id = $1`, unit)
	if n, err := runInFlight(s); n != 2 || err == nil || !strings.Contains(err.Error(), hosts[0].String()) {
		t.Errorf("%d were ended: %v", n, err)
	}
	if a, b := s.Host(hosts[0]).State, s.Host(hosts[1]).State; a != domain.HostInitializing || b != domain.HostInitFailed {
		t.Errorf("the hosts are %s and %s", a, b)
	}
	told(s, hosts[1], "host.end_stuck")
	told(s, unit, "unit.end_stuck")
	if len(s.Events(hosts[0])) > 0 && s.Events(hosts[0])[0].Action == "host.end_stuck" {
		t.Error("an event tells of what did not happen")
	}
}

// A unit ends with the allocation or the host that it moves with, whichever item is due first.
func TestAUnitWaitsForItsAllocation(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	id, job, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	unit := s.Allocation(id).UnitID
	sql(s, `UPDATE jobs SET state = 'failed', error = '{"code": "x", "message": "y"}', attempt = 1, finished_at = now() WHERE id = $1`, job)
	sql(s, `UPDATE compute_units SET updated_at = now() - INTERVAL '1 day'`)
	run := func(noun string, object uuid.UUID) reconcile.Outcome {
		t.Helper()
		for _, p := range reconcile.InFlight(s.DB.DB, s.Intents.InFlight()) {
			if p.Noun == noun {
				out, err := p.Run(t.Context(), reconcile.Item{ObjectID: object})
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
		}
		t.Fatalf("no policy of %s", noun)
		return reconcile.Outcome{}
	}
	if out := run("unit", unit); out.Changed != 0 || out.AtRest || out.Again > time.Minute || out.Conditions[0].Reason != "no_job" {
		t.Errorf("%+v", out)
	}
	sql(s, `UPDATE allocations SET updated_at = now() - INTERVAL '1 day'`)
	if out := run("allocation", id); out.Changed != 1 || !out.AtRest {
		t.Errorf("%+v", out)
	}
	if out := run("unit", unit); out.Changed != 0 || !out.AtRest {
		t.Errorf("%+v", out)
	}
	if n := count(s, `SELECT count(*) FROM addresses WHERE allocation_id = $1 AND state = 'reserved'`, id); n != 1 {
		t.Error("its address does not agree")
	}
}

// A write makes the item of what is on its way due, in its own transaction: after two minutes, for the case that its job goes.
func TestWritesMakeDeadlines(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	registry, err := reconcile.NewRegistry(nil, reconcile.InFlight(s.DB.DB, s.Intents.InFlight())...)
	if err != nil {
		t.Fatal(err)
	}
	registry.Trigger(s.DB.DB)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	if n := count(s, `SELECT count(*) FROM reconcile_items WHERE policy = 'allocation_deadline'`); n != 0 {
		t.Errorf("%d items of what is not there", n)
	}
	id, _, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	for policy, object := range map[string]uuid.UUID{"allocation_deadline": id, "unit_deadline": s.Allocation(id).UnitID} {
		if n := count(s, `SELECT count(*) FROM reconcile_items
		                   WHERE policy = $1 AND object_id = $2 AND due_at BETWEEN now() + INTERVAL '100 seconds' AND now() + INTERVAL '120 seconds'`, policy, object); n != 1 {
			t.Errorf("%s: no item is due in two minutes", policy)
		}
	}
	sql(s, `UPDATE allocations SET updated_at = now() - INTERVAL '1 day'`)
	if err := s.DB.InTx(t.Context(), func(tx *store.Tx) error { tx.Touch("allocation", id); return nil }); err != nil {
		t.Fatal(err)
	}
	if n := count(s, `SELECT count(*) FROM reconcile_items WHERE object_id = $1 AND due_at < now() - INTERVAL '23 hours' AND token = 2`, id); n != 1 {
		t.Error("a deadline that is over does not make it due")
	}
}
