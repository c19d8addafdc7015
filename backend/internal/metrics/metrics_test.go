package metrics_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/metrics"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

func setup(t *testing.T) (*site.Site, *prometheus.Registry) {
	t.Helper()
	s := site.New(t)
	r := metrics.NewRegistry("test")
	metrics.Watch(r, s.DB, s.DB)
	return s, r
}

// wants compares series with what a scrape tells.
func wants(t *testing.T, r *prometheus.Registry, want map[string]float64) {
	t.Helper()
	got := testkit.Scrape(t, r)
	for series, n := range want {
		if have, ok := got[series]; !ok || have != n {
			t.Errorf("%s is %v (there: %v), want %v", series, have, ok, n)
		}
	}
}

func sql(s *site.Site, statement string, args ...any) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(s.T.Context(), statement, args...); err != nil {
		s.T.Fatal(err)
	}
}

// TestAJobsLifeIsCounted: one job that is tried again, one that fails, one that
// is stopped by a person.
func TestAJobsLifeIsCounted(t *testing.T) {
	t.Parallel()
	s, r := setup(t)
	s.AddAddresses("default", 4)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3"}})
	var plays atomic.Int64
	begun := make(chan struct{})
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		sink(ansible.Event{Kind: ansible.EventOutput, Output: "one"})
		switch plays.Add(1) {
		case 1:
			return site.Play(ctx, p, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeUnreachable, Message: "no route"}})
		case 2:
			return site.Play(ctx, p, sink, scripted.Script{})
		case 3:
			return site.Play(ctx, p, sink, scripted.Script{Failure: &ansible.Failure{Code: ansible.CodeTaskFailed, Message: "disk full"}})
		default:
			close(begun)
			return site.Play(ctx, p, sink, scripted.Script{Wait: make(chan struct{})})
		}
	})
	s.BackendWith(s.WorkCounted(r), queue.Config{Metrics: r, Slots: 3})
	allocate := func() uuid.UUID {
		t.Helper()
		_, id, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	healed := allocate()
	site.Eventually(t, "the retry", func() bool { j := s.Job(healed); return j.Failures == 1 && j.State == domain.JobQueued })
	site.Eventually(t, "the end of the first attempt", func() bool { return testkit.Scrape(t, r)["kloigos_jobs_running"] == 0 })
	wants(t, r, map[string]float64{
		`kloigos_job_attempts_ended_total{code="unreachable",end="retry",kind="unit_allocate"}`:       1,
		`kloigos_play_seconds_count{end="unreachable",kind="unit_allocate",playbook="unit_allocate"}`: 1,
	})
	// Its host counts as unreachable now, on which nothing is placed.
	sql(s, `UPDATE jobs SET run_after = now() WHERE id = $1`, healed)
	s.Ended(healed, domain.JobSucceeded)
	s.Ended(allocate(), domain.JobFailed)
	stopped := allocate()
	site.Await(t, "the last play", begun)
	wants(t, r, map[string]float64{"kloigos_jobs_running": 1, "kloigos_job_slots": 3})
	if err := s.Intents.CancelJob(t.Context(), s.Call, stopped); err != nil {
		t.Fatal(err)
	}
	s.Ended(stopped, domain.JobCancelled)
	site.Eventually(t, "the end of the last attempt", func() bool { return testkit.Scrape(t, r)["kloigos_jobs_running"] == 0 })
	wants(t, r, map[string]float64{
		`kloigos_job_claims_total{kind="unit_allocate"}`:                                              4,
		`kloigos_job_attempts_ended_total{code="",end="succeeded",kind="unit_allocate"}`:              1,
		`kloigos_job_attempts_ended_total{code="task_failed",end="failed",kind="unit_allocate"}`:      1,
		`kloigos_job_attempts_ended_total{code="cancelled",end="cancelled",kind="unit_allocate"}`:     1,
		`kloigos_job_attempt_seconds_count{end="succeeded",kind="unit_allocate"}`:                     1,
		`kloigos_play_seconds_count{end="ok",kind="unit_allocate",playbook="unit_allocate"}`:          1,
		`kloigos_play_seconds_count{end="task_failed",kind="unit_allocate",playbook="unit_allocate"}`: 1,
		`kloigos_job_stop_seconds_count`:                                                              1,
	})
	var rows int64
	for _, id := range []uuid.UUID{healed, stopped} {
		last, err := s.DB.LastSequence(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		rows += last
	}
	if got := testkit.Scrape(t, r)["kloigos_job_log_rows_total"]; got < float64(rows) || rows == 0 {
		t.Errorf("%v rows counted; two of the three jobs have %d", got, rows)
	}
}

// TestCountersBeginAtNothing: of a series that appears with its first event, no
// alert would see that event.
func TestCountersBeginAtNothing(t *testing.T) {
	t.Parallel()
	r := prometheus.NewRegistry()
	queue.New(&store.DB{}, nil, queue.NewSignals(), queue.Config{Metrics: r})
	wants(t, r, map[string]float64{
		`kloigos_job_takeovers_total{kind="host_probe"}`:                                        0,
		`kloigos_job_lease_misses_total{why="taken"}`:                                           0,
		`kloigos_job_lease_misses_total{why="unrenewed"}`:                                       0,
		`kloigos_job_attempts_ended_total{code="fenced",end="failed",kind="unit_deallocate"}`:   0,
		`kloigos_job_attempts_ended_total{code="unreachable",end="retry",kind="host_relayout"}`: 0,
		`kloigos_job_attempts_ended_total{code="",end="handed_over",kind="plan"}`:               0,
		`kloigos_job_logs_lost_total`:                                                           0,
	})
	if n := len(testkit.Scrape(t, r)); n > 400 {
		t.Errorf("%d series before anything has happened", n)
	}
}

// TestTakeoversAndMissesAreCounted, each by the backend that met them.
func TestTakeoversAndMissesAreCounted(t *testing.T) {
	t.Parallel()
	s, first := setup(t)
	second := prometheus.NewRegistry()
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	begun := make(chan struct{}, 2)
	var plays atomic.Int64
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if plays.Add(1) == 1 {
			begun <- struct{}{}
			return site.Play(ctx, p, sink, scripted.Script{Wait: make(chan struct{})})
		}
		return site.Play(ctx, p, sink, scripted.Script{})
	})
	paused := s.BackendWith(s.WorkCounted(first), queue.Config{Metrics: first, Lease: time.Minute})
	_, id, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	paused.Stop()
	// Not his any more, or a renewal makes it last again.
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second', worker_id = gen_random_uuid() WHERE id = $1`, id)
	s.BackendWith(s.WorkCounted(second), queue.Config{Metrics: second, Lease: time.Second})
	s.Ended(id, domain.JobSucceeded)
	site.Await(t, "the first backend to let go", paused.Stopped())
	wants(t, first, map[string]float64{
		`kloigos_job_claims_total{kind="unit_allocate"}`:                            1,
		`kloigos_job_lease_misses_total{why="taken"}`:                               1,
		`kloigos_job_attempts_ended_total{code="",end="lost",kind="unit_allocate"}`: 1,
	})
	wants(t, second, map[string]float64{
		`kloigos_job_takeovers_total{kind="unit_allocate"}`:                              1,
		`kloigos_job_attempts_ended_total{code="",end="succeeded",kind="unit_allocate"}`: 1,
	})
}

// TestHandOversAreCounted: a backend that stops gives its job back.
func TestHandOversAreCounted(t *testing.T) {
	t.Parallel()
	s, r := setup(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	begun := make(chan struct{}, 2)
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, p, sink, scripted.Script{Wait: make(chan struct{})})
	})
	b := s.BackendWith(s.WorkCounted(r), queue.Config{Metrics: r})
	if _, _, err := s.Allocate(intent.CreateAllocation{}); err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	b.Kill()
	site.Await(t, "the backend", b.Stopped())
	// A claim that was under way in that moment is handed over too.
	if n := testkit.Scrape(t, r)[`kloigos_job_attempts_ended_total{code="",end="handed_over",kind="unit_allocate"}`]; n < 1 || n > 2 {
		t.Errorf("%v hand-overs", n)
	}
}

// TestTheQueueIsShown as it stands in the database, whoever is asked.
func TestTheQueueIsShown(t *testing.T) {
	t.Parallel()
	s, r := setup(t)
	s.AddAddresses("default", 4)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3", "4"}})
	var ids []uuid.UUID
	for range 4 {
		_, id, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	sql(s, `UPDATE jobs SET run_after = now() - INTERVAL '90 seconds' WHERE id = $1`, ids[0])
	sql(s, `UPDATE jobs SET run_after = now() + INTERVAL '1 hour' WHERE id = $1`, ids[2])
	sql(s, `UPDATE jobs SET state = 'running', attempt = 1, worker_id = gen_random_uuid(), started_at = now() - INTERVAL '30 seconds', lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, ids[3])
	for name, roles := range map[string]string{"b": "api,worker", "c": "api"} {
		if _, err := s.DB.SeenBackend(t.Context(), store.Backend{ID: uuid.New(), Name: name, Version: "1", Roles: roles}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "new switches"); err != nil {
		t.Fatal(err)
	}
	wants(t, r, map[string]float64{
		`kloigos_queue_known`:                                            1,
		`kloigos_queue_paused`:                                           1,
		`kloigos_queue_overdue_leases`:                                   1,
		`kloigos_queue_jobs{kind="unit_allocate",state="queued"}`:        2,
		`kloigos_queue_jobs{kind="unit_allocate",state="delayed"}`:       1,
		`kloigos_queue_jobs{kind="unit_allocate",state="running"}`:       1,
		`kloigos_queue_jobs{kind="unit_allocate",state="cancelling"}`:    0,
		`kloigos_queue_jobs{kind="host_probe",state="queued"}`:           0,
		`kloigos_queue_oldest_seconds{kind="host_probe",state="queued"}`: 0,
		`kloigos_backends_alive{role="api"}`:                             2,
		`kloigos_backends_alive{role="worker"}`:                          1,
		`kloigos_backends_alive{role="reconciler"}`:                      0,
	})
	got := testkit.Scrape(t, r)
	if age := got[`kloigos_queue_oldest_seconds{kind="unit_allocate",state="queued"}`]; age < 90 || age > 150 {
		t.Errorf("the oldest has waited %v s", age)
	}
	if age := got[`kloigos_queue_oldest_seconds{kind="unit_allocate",state="running"}`]; age < 30 || age > 90 {
		t.Errorf("the oldest runs for %v s", age)
	}
	// A second scrape within a moment does not ask again.
	sql(s, `UPDATE jobs SET run_after = now() + INTERVAL '1 hour' WHERE id = $1`, ids[0])
	wants(t, r, map[string]float64{`kloigos_queue_jobs{kind="unit_allocate",state="queued"}`: 2})
}

// TestADatabaseThatIsAwayIsSaid, instead of old numbers.
func TestADatabaseThatIsAwayIsSaid(t *testing.T) {
	t.Parallel()
	s, r := setup(t)
	s.DB.Close()
	got := testkit.Scrape(t, r)
	if known, ok := got["kloigos_queue_known"]; !ok || known != 0 {
		t.Errorf("known is %v, %v", known, ok)
	}
	if _, ok := got["kloigos_queue_paused"]; ok {
		t.Error("tells what it can't know")
	}
}

// TestTransactionsAreCounted: those that begin again, and those of which nobody
// knows whether they were applied.
func TestTransactionsAreCounted(t *testing.T) {
	t.Parallel()
	s, r := setup(t)
	wants(t, r, map[string]float64{"kloigos_database_retries_total": 0, "kloigos_database_unknown_commits_total": 0})
	tries := 0
	err := s.DB.InTx(t.Context(), func(*store.Tx) error {
		if tries++; tries < 3 {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	})
	if err != nil || tries != 3 {
		t.Fatalf("%d tries, %v", tries, err)
	}
	wants(t, r, map[string]float64{"kloigos_database_retries_total": 2})
	if err := s.DB.InTx(t.Context(), func(*store.Tx) error { return store.ErrCommitUnknown }); err == nil {
		t.Fatal("no error")
	}
	wants(t, r, map[string]float64{"kloigos_database_unknown_commits_total": 1})
	if max := testkit.Scrape(t, r)[`kloigos_database_connections{pool="jobs",state="max"}`]; max < 16 {
		t.Errorf("at most %v connections", max)
	}
}
