package policy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

const day = 24 * time.Hour

func sql(s *site.Site, statement string, args ...any) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(s.T.Context(), statement, args...); err != nil {
		s.T.Fatalf("%s: %v", statement, err)
	}
}

func count(s *site.Site, query string, args ...any) (n int) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if err := conn.QueryRow(s.T.Context(), query, args...).Scan(&n); err != nil {
		s.T.Fatalf("%s: %v", query, err)
	}
	return n
}

// run runs the policy of this name as often as it takes, and tells how much it did.
func run(s *site.Site, keep policy.Retention, name string) (changed int64) {
	s.T.Helper()
	for _, p := range policy.Policies(s.DB, keep) {
		if p.Name != name {
			continue
		}
		out, err := p.Run(s.T.Context(), reconcile.Item{})
		if err != nil {
			s.T.Fatal(err)
		}
		return out.Changed
	}
	return -1
}

// ended makes a job with a log that ended so long ago.
func ended(s *site.Site, host uuid.UUID, ago time.Duration, chunks int) (id uuid.UUID) {
	s.T.Helper()
	s.Tx(func(tx *store.Tx) (err error) {
		id, err = tx.Enqueue(s.T.Context(), s.Actor, domain.DefaultWorkspace, job.HostProbe{HostID: host})
		return err
	})
	sql(s, `UPDATE jobs SET state = 'failed', error = '{"code": "x", "message": "y"}', attempt = 1, finished_at = now() - $2::INT8 * INTERVAL '1 second' WHERE id = $1`, id, int64(ago/time.Second))
	sql(s, `INSERT INTO job_log (job_id, first_seq, last_seq, attempt, entries) SELECT $1, n, n, 1, '' FROM generate_series(1, $2::INT8) AS n`, id, chunks)
	return id
}

// Logs go when their time is over, whatever their size, and nothing else does.
func TestOldLogsGo(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	long, young := ended(s, host, 31*day, 1200), ended(s, host, 29*day, 3)
	for range 120 {
		ended(s, host, 40*day, 1)
	}
	running := ended(s, host, 0, 3)
	sql(s, `UPDATE jobs SET state = 'running', finished_at = NULL, worker_id = gen_random_uuid(), lease_expires_at = now(), created_at = now() - INTERVAL '90 days' WHERE id = $1`, running)
	keep := policy.Retention{Logs: 30 * day}
	if n := run(s, keep, "old_job_logs"); n != 1200+120 {
		t.Errorf("%d chunks were removed", n)
	}
	if n := count(s, `SELECT count(*) FROM job_log`); n != 6 {
		t.Errorf("%d chunks are left", n)
	}
	for id, want := range map[uuid.UUID]bool{long: true, young: false, running: false} {
		j := s.Job(id)
		if expired := j.LogExpiredAt != nil; expired != want || len(j.Steps) == 0 {
			t.Errorf("%+v", j)
		}
	}
	if n := run(s, keep, "old_job_logs"); n != 0 {
		t.Errorf("the second run removed %d", n)
	}
	// A job that is tried again has a log of its own again.
	if err := s.Intents.RetryJob(t.Context(), s.Call, long, false); err != nil {
		t.Fatal(err)
	}
	if j := s.Job(long); j.LogExpiredAt != nil || j.State != domain.JobQueued {
		t.Errorf("%+v", j)
	}
}

// The audit trail stays for ever, unless an operator says otherwise; then it
// tells that a part of it is gone.
func TestOldEventsGoOnlyWhenAsked(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	for _, never := range []string{"old_events", "old_job_logs"} {
		if n := run(s, policy.Retention{}, never); n != -1 {
			t.Errorf("there is a policy %s, though nobody asked for it", never)
		}
	}
	sql(s, `INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind)
	        SELECT gen_random_uuid(), now() - n * INTERVAL '12 hours', $1, 'account', 'ada', 'x', 'host' FROM generate_series(1, 150) AS n`, domain.DefaultWorkspace)
	if n := run(s, policy.Retention{Events: 10 * day}, "old_events"); n != 0 {
		t.Errorf("%d were removed that nobody had sealed", n)
	}
	sealed(s)
	before := count(s, `SELECT count(*) FROM events`)
	if n := run(s, policy.Retention{Events: 10 * day}, "old_events"); n < 150-20-3 || n > 150-20+1 {
		t.Errorf("%d were removed", n)
	}
	if n := count(s, `SELECT count(*) FROM events WHERE at < now() - INTERVAL '12 days'`); n != 0 {
		t.Errorf("%d old ones are left", n)
	}
	events, err := s.DB.Events(t.Context(), store.EventFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 1})
	if err != nil || len(events) != 1 {
		t.Fatalf("%v, %v", events, err)
	}
	if e := events[0]; e.Action != "event.expire" || e.ActorName != "old_events" || !strings.Contains(string(e.After), fmt.Sprint(before-count(s, `SELECT count(*) FROM events`)+1)) {
		t.Errorf("%+v: %s", e, e.After)
	}
	if n := run(s, policy.Retention{Events: 10 * day}, "old_events"); n != 0 {
		t.Errorf("the second run removed %d", n)
	}
}
