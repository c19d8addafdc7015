package reconcile_test

import (
	"sync"
	"testing"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/reconcile"
	"kloigos/backend/internal/testkit/site"
)

// Eight schedulers for which everything is due at one moment part the work:
// all of it is done, each thing once, and the trail tells of each once.
func TestEightSchedulersAndOneDueTime(t *testing.T) {
	t.Parallel()
	const logs, events = 130, 1500
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	for range logs {
		ended(s, host, 40*day, 2)
	}
	sql(s, `INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind)
	        SELECT gen_random_uuid(), now() - INTERVAL '400 days', $1, 'account', 'ada', 'x', 'host' FROM generate_series(1, $2::INT8)`, domain.DefaultWorkspace, events)
	sql(s, `INSERT INTO login_failures (name_hash, failures, last_at, blocked_until)
	        SELECT decode(md5(n::TEXT), 'hex'), 1, now() - INTERVAL '2 days', now() - INTERVAL '2 days' FROM generate_series(1, 50) AS n`)
	keep := reconcile.Retention{Logs: 30 * day, Events: 300 * day}

	var mu sync.Mutex
	changed := map[string]int64{}
	linted := map[string]int{}
	due := make(chan struct{})
	var all sync.WaitGroup
	for range 8 {
		eyes := &linter{able: true, says: domain.Lint{State: domain.LintDone, Tool: "x"}}
		policies := append(reconcile.Policies(keep), reconcile.LintPlaybooks(s.Intents, eyes))
		var one sync.WaitGroup
		for _, p := range policies {
			f := func() {
				<-due
				for range 20 { // until nothing is left for this one
					n, err := p.Run(t.Context(), s.DB)
					if err != nil {
						t.Errorf("%s: %v", p.Name, err)
					}
					mu.Lock()
					changed[p.Name] += n
					mu.Unlock()
					if n == 0 {
						return
					}
				}
			}
			one.Go(f)
		}
		all.Go(func() {
			one.Wait()
			mu.Lock()
			defer mu.Unlock()
			for _, content := range eyes.seen {
				linted[content]++
			}
		})
	}
	close(due)
	all.Wait()

	for name, want := range map[string]int64{"old_job_logs": 2 * logs, "old_events": events, "old_logins": 50, "playbook_lint": int64(len(site.Playbooks))} {
		if changed[name] != want {
			t.Errorf("%s changed %d, want %d", name, changed[name], want)
		}
	}
	if n := count(s, `SELECT count(*) FROM job_log`); n != 0 {
		t.Errorf("%d chunks of logs are left", n)
	}
	told := count(s, `SELECT COALESCE(sum((state_after->>'removed')::INT8), 0) FROM events WHERE action = 'event.expire'`)
	if told != events {
		t.Errorf("the trail tells of %d events that were removed, there were %d", told, events)
	}
	for content, n := range linted {
		if n != 1 {
			t.Errorf("a version of %d bytes was looked at %d times", len(content), n)
		}
	}
}
