package policy_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/testkit/site"
)

// lateNow is what the policies say of objects that are late or were so, by their ids. They only look.
func lateNow(s *site.Site) map[uuid.UUID]reconcile.Condition {
	s.T.Helper()
	by := map[uuid.UUID]reconcile.Condition{}
	for _, p := range reconcile.InFlight(s.DB.DB, s.Intents.InFlight()) {
		ids, err := p.Objects(s.T.Context(), uuid.Nil, 1000)
		if err != nil {
			s.T.Fatal(err)
		}
		for _, id := range ids {
			out, err := p.Run(s.T.Context(), reconcile.Item{ObjectID: id, Observe: true})
			if err != nil || out.Changed != 0 || len(out.Conditions) != 1 {
				s.T.Fatalf("%+v, %v", out, err)
			}
			if c := out.Conditions[0]; c.Status != reconcile.True || out.AtRest {
				by[id] = c
			}
		}
	}
	return by
}

// TestInFlightIsSaid: of each noun, past the deadline with a job, or soon without one. A condition that was false is taken back.
func TestInFlightIsSaid(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 2)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	allocation, job, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	unit := s.Allocation(allocation).UnitID
	if all := lateNow(s); len(all) != 0 {
		t.Errorf("what has just begun is late: %+v", all)
	}
	older := func(by string) {
		t.Helper()
		sql(s, `UPDATE allocations SET updated_at = now() - $2::INTERVAL WHERE id = $1`, allocation, by)
		sql(s, `UPDATE compute_units SET updated_at = now() - $2::INTERVAL WHERE id = $1`, unit, by)
	}
	older("5 minutes")
	if all := lateNow(s); len(all) != 0 {
		t.Errorf("what has a job and time is late: %+v", all)
	}
	older("2 hours")
	all := lateNow(s)
	for _, id := range []uuid.UUID{allocation, unit} {
		if c := all[id]; c.Reason != "past_deadline" || c.Status != reconcile.False || !strings.Contains(c.Message, job.String()) || !strings.Contains(c.Message, "60 minutes") {
			t.Errorf("%+v", c)
		}
	}
	older("5 minutes")
	sql(s, `UPDATE jobs SET state = 'cancelled', finished_at = now() WHERE id = $1`, job)
	all = lateNow(s)
	for _, id := range []uuid.UUID{allocation, unit} {
		if c := all[id]; c.Reason != "no_job" || !strings.Contains(c.Message, "This policy ends it") {
			t.Errorf("%+v", c)
		}
	}
	sql(s, `INSERT INTO conditions (noun, object_id, type, status, reason, message, fault, retry_helps, failing, results, flapping, since, observed_at, policy, history)
	        VALUES ('host', $1, 'moves_on', 'false', 'no_job', '', '', false, 1, 'f', false, now(), now(), 'in_flight', '[]')`, h.ID)
	if c := lateNow(s)[h.ID]; c.Status != reconcile.True {
		t.Errorf("a host that is ready: %+v", c)
	}
	for _, state := range first(domain.HostLifecycle.Deadlines()) {
		sql(s, `UPDATE hosts SET state = $2, updated_at = now() - INTERVAL '5 minutes' WHERE id = $1`, h.ID, state)
		if c := lateNow(s)[h.ID]; c.Reason != "no_job" {
			t.Errorf("host %s: %+v", state, c)
		}
	}
}
