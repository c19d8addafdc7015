package policy_test

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/testkit/site"
)

// Eight schedulers for which everything is due at one moment part the work:
// all of it is done, each thing once, and the trail tells of each once.
func TestEightSchedulersAndOneDueTime(t *testing.T) {
	t.Parallel()
	const logs, events, stuck, waiting = 130, 1500, 12, 6
	s := site.New(t)
	s.AddAddresses("default", stuck+waiting)
	host := s.ReadyHost(site.HostSpec{}).ID
	for range logs {
		ended(s, host, 40*day, 2)
	}
	sql(s, `INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind)
	        SELECT gen_random_uuid(), now() - INTERVAL '400 days', $1, 'account', 'ada', 'x', 'host' FROM generate_series(1, $2::INT8)`, domain.DefaultWorkspace, events)
	sealed(s)
	sql(s, `INSERT INTO login_failures (name_hash, failures, last_at, blocked_until)
	        SELECT decode(md5(n::TEXT), 'hex'), 1, now() - INTERVAL '2 days', now() - INTERVAL '2 days' FROM generate_series(1, 50) AS n`)
	ahead := allocations(s, waiting)
	sql(s, `UPDATE jobs SET run_after = now() + INTERVAL '1 hour' WHERE state = 'queued'`)
	inFlight := allocations(s, stuck)
	sql(s, `UPDATE jobs SET state = 'failed', error = '{"code": "x", "message": "y"}', attempt = 1, finished_at = now() WHERE allocation_id = ANY ($1)`, inFlight)
	for _, table := range []string{"allocations", "compute_units", "hosts"} {
		sql(s, `UPDATE `+table+` SET updated_at = now() - INTERVAL '1 day'`)
	}

	var mu sync.Mutex
	changed := map[string]int64{}
	linted := map[string]int{}
	want := map[string]int64{
		"old_job_logs": 2 * logs, "old_events": events, "old_logins": 50, "playbook_lint": int64(len(site.Playbooks)), "allocation_deadline": stuck, "clock_went_back": waiting,
	}
	allDone := func() bool {
		mu.Lock()
		defer mu.Unlock()
		for name, n := range want {
			if changed[name] < n {
				return false
			}
		}
		return true
	}
	ctx, end := context.WithTimeout(t.Context(), 2*time.Minute)
	defer end()
	var all sync.WaitGroup
	var more atomic.Int64 // policies that have yet to run once more after all was done
	last := map[string]*sync.Once{}
	for range 8 {
		eyes := &linter{able: true, says: domain.Lint{State: domain.LintDone, Tool: "x"}}
		policies := append(policy.Policies(s.DB, policy.Retention{Logs: 30 * day, Events: 300 * day}),
			policy.LintPlaybooks(s.Intents, eyes))
		for _, p := range reconcile.InFlight(s.DB.DB, s.Intents.InFlight()) {
			if p.Noun == "allocation" { // its units and addresses end with it
				policies = append(policies, p)
			}
		}
		for i, p := range policies {
			if last[p.Name] == nil {
				last[p.Name] = &sync.Once{}
				more.Add(1)
			}
			once := last[p.Name]
			policies[i].Interval, policies[i].Jitter, policies[i].Timeout = time.Millisecond, 20*time.Millisecond, time.Minute
			policies[i].Run = func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
				over := allDone()
				out, err := p.Run(ctx, item)
				if err != nil && ctx.Err() == nil {
					t.Errorf("%s: %v", p.Name, err)
				}
				mu.Lock()
				changed[p.Name] += out.Changed
				mu.Unlock()
				if over {
					once.Do(func() {
						if more.Add(-1) == 0 {
							end()
						}
					})
				}
				return out, err
			}
		}
		registry, err := reconcile.NewRegistry(policy.NotReconciled(), policies...)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			cfg := reconcile.Config{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Poll: 20 * time.Millisecond}
			reconcile.New(s.DB.DB, registry, cfg).Run(ctx)
			mu.Lock()
			defer mu.Unlock()
			for _, content := range eyes.seen {
				linted[content]++
			}
		})
	}
	all.Wait()

	for name, n := range want {
		if changed[name] != n && (changed[name] < n || name != "clock_went_back") { // a job that two set right is right
			t.Errorf("%s changed %d, want %d", name, changed[name], n)
		}
	}
	if n := count(s, `SELECT count(*) FROM events WHERE action LIKE '%.end_stuck'`); int64(n) != changed["allocation_deadline"] {
		t.Errorf("%d events tell of %d things that were stuck and ended", n, changed["allocation_deadline"])
	}
	if n := count(s, `SELECT count(*) FROM (SELECT object_id FROM events WHERE action LIKE '%.end_stuck' GROUP BY object_id HAVING count(*) > 1) AS twice`); n != 0 {
		t.Errorf("%d things were ended twice", n)
	}
	if n := count(s, `SELECT count(*) FROM job_log`); n != 0 {
		t.Errorf("%d chunks of logs are left", n)
	}
	told := count(s, `SELECT COALESCE(sum((state_after->>'removed')::INT8), 0) FROM events WHERE action = 'event.expire'`)
	if told != events {
		t.Errorf("the trail tells of %d events that were removed, there were %d", told, events)
	}
	for _, id := range inFlight {
		if n := count(s, `SELECT count(*) FROM events WHERE object_id = $1 AND action = 'allocation.end_stuck'`, id); n != 1 {
			t.Errorf("%d events tell that allocation %s was ended", n, id)
		}
		if state := s.Allocation(id).State; state != domain.AllocationAllocationFailed {
			t.Errorf("an allocation that was stuck is %s", state)
		}
	}
	for _, id := range ahead {
		if state := s.Allocation(id).State; state != domain.AllocationAllocating {
			t.Errorf("an allocation that has a job is %s", state)
		}
	}
	if n := count(s, `SELECT count(*) FROM jobs WHERE state = 'queued' AND run_after > now()`); n != 0 {
		t.Errorf("%d jobs still wait for a clock that was set back", n)
	}
	for content, n := range linted {
		if n != 1 {
			t.Errorf("a version of %d bytes was looked at %d times", len(content), n)
		}
	}
}

// allocations asks for so many, on hosts of their own.
func allocations(s *site.Site, n int) (all []uuid.UUID) {
	s.T.Helper()
	for len(all) < n {
		h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3", "4", "5", "6"}}).ID
		for range min(6, n-len(all)) {
			id, _, err := s.Allocate(intent.CreateAllocation{HostID: &h})
			if err != nil {
				s.T.Fatal(err)
			}
			all = append(all, id)
		}
	}
	return all
}
