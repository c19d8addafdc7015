package queue_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// TestHalfDoneGoesOnFirst: what a backend that stops hands over waits neither for
// what is older in the queue, nor for the end of a pause.
func TestHalfDoneGoesOnFirst(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 2)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	begun, goOn := make(chan struct{}, 1), make(chan struct{})
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, p, sink, scripted.Script{Wait: goOn})
	})
	first := s.BackendWith(s.Work(), queue.Config{Lease: 10 * time.Minute, Slots: 1})
	_, half, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	_, waits, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "new switches"); err != nil {
		t.Fatal(err)
	}
	first.Stop()
	first.Kill()
	site.Await(t, "the backend", first.Stopped())
	if got := claim(s, time.Minute, 9); len(got) != 0 {
		t.Fatalf("claimed while the queue is paused: %+v", got)
	}
	s.Tx(func(tx *store.Tx) error { // another job does not come in between
		if _, err := tx.LockHost(t.Context(), *s.Job(half).HostID, waits, 1); !errors.Is(err, store.ErrHostBusy) {
			t.Errorf("the host was let go of: %v", err)
		}
		return nil
	})
	s.BackendWith(s.Work(), queue.Config{Lease: 10 * time.Minute, Slots: 1})
	site.Await(t, "the play elsewhere", begun)
	close(goOn)
	if j := s.Ended(half, domain.JobSucceeded); j.Attempt != 2 || j.Failures != 0 {
		t.Errorf("%+v", j)
	}
	if j := s.Job(waits); j.State != domain.JobQueued || j.Attempt != 0 {
		t.Errorf("%+v", j)
	}
	log, err := s.DB.JobLog(t.Context(), half, 0, 10_000)
	if err != nil || !slices.ContainsFunc(log, func(e store.LogEntry) bool { return strings.Contains(e.Message, "stopped, and handed it over") }) {
		t.Errorf("nobody tells of it: %v, %+v", err, log)
	}
}

// TestHalfDoneDoesNotWaitForABacklog: a worker whose slots are never free for long
// takes over as well.
func TestHalfDoneDoesNotWaitForABacklog(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	_, half, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	c := claim(s, time.Hour, 1)
	const backlog = 300
	other := s.ReadyHost(site.HostSpec{}).ID
	for range backlog {
		enqueue(s, job.HostProbe{HostID: other})
	}
	var probed atomic.Int64
	s.BackendWith(func(ctx context.Context, c store.Claim, log *queue.Log) queue.Result {
		if c.Kind == domain.KindHostProbe {
			time.Sleep(10 * time.Millisecond) // it takes a while, as all work does
			probed.Add(1)
			return queue.Result{End: queue.Succeeded}
		}
		return s.Work()(ctx, c, log)
	}, queue.Config{Lease: 10 * time.Minute, Slots: 1, Poll: 50 * time.Millisecond})
	site.Eventually(t, "the backlog to be begun", func() bool { return probed.Load() > 10 })
	s.Tx(func(tx *store.Tx) error { return tx.HandOver(t.Context(), half, c[0].Attempt, 0) })
	s.Ended(half, domain.JobSucceeded)
	if n := probed.Load(); n >= backlog {
		t.Errorf("%d others went first", n)
	}
}

// TestCancelInTheMomentOfTheClaim is one of a running job, and not refused.
func TestCancelInTheMomentOfTheClaim(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	id := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, err = tx.Exec(t.Context(), `UPDATE jobs SET state = 'running', attempt = 1, worker_id = $1, lease_expires_at = now() + INTERVAL '1 hour' WHERE id = $2`, uuid.New(), id)
	if err != nil {
		t.Fatal(err)
	}
	cancelled := make(chan error, 1)
	go func() { cancelled <- s.Intents.CancelJob(t.Context(), s.Call, id) }()
	if !testkit.IsCockroach(t) {
		site.Eventually(t, "the cancel to wait", func() bool {
			var waiting int
			err := tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
			return err == nil && waiting > 0
		})
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-cancelled; err != nil {
		t.Errorf("refused: %v", err)
	}
	if j := s.Job(id); j.State != domain.JobCancelling {
		t.Errorf("%+v", j)
	}
}

// TestCancelMeetsTheEndOfAnAttempt: a job cancelled in the moment in which its
// attempt ends is cancelled by whoever has it next, however it ended: handed
// over, or failed and to be tried again only much later.
func TestCancelMeetsTheEndOfAnAttempt(t *testing.T) {
	t.Parallel()
	for name, result := range map[string]queue.Result{
		"handed over": {End: queue.HandOver},
		"to be tried again": {
			End: queue.Retry, Error: &domain.JobError{Code: domain.ErrCodeUnreachable}, After: 10 * time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site.New(t)
			s.AddAddresses("default", 1)
			s.ReadyHost(site.HostSpec{Units: []string{"1"}})
			_, id, err := s.Allocate(intent.CreateAllocation{})
			if err != nil {
				t.Fatal(err)
			}
			asked := make(chan struct{})
			first := s.BackendWith(func(context.Context, store.Claim, *queue.Log) queue.Result {
				<-asked
				return result
			}, queue.Config{Lease: 10 * time.Minute})
			site.Eventually(t, "a claim", func() bool { return s.Job(id).State == domain.JobRunning })
			if err := s.Intents.CancelJob(t.Context(), s.Call, id); err != nil {
				t.Fatal(err)
			}
			first.Stop()
			close(asked)
			site.Await(t, "the first backend", first.Stopped())
			s.BackendWith(s.Work(), queue.Config{Lease: time.Second})
			s.Ended(id, domain.JobCancelled)
		})
	}
}

// TestStopHandsOver: what has not begun goes back at once; what runs has until
// the second signal, and then goes on elsewhere at its step.
func TestStopHandsOver(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID
	begun := make(chan struct{}, 9)
	goOn := make(chan struct{})
	s.Runner.HandleFunc("host_initialize", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, p, sink, scripted.Script{Wait: goOn})
	})
	first := s.BackendWith(s.Work(), queue.Config{Lease: 10 * time.Minute})
	id, err := s.Intents.InitializeHost(t.Context(), s.Call, host, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	first.Stop()
	other := s.ReadyHost(site.HostSpec{}).ID
	waits := enqueue(s, job.HostProbe{HostID: other})
	select {
	case <-first.Stopped():
		t.Fatal("did not wait for what runs")
	default:
	}
	if j := s.Job(waits); j.State != domain.JobQueued {
		t.Errorf("a backend that stops claimed: %+v", j)
	}
	first.Kill()
	since := time.Now()
	site.Await(t, "the backend", first.Stopped())
	if took := time.Since(since); took > 5*time.Second {
		t.Errorf("the second signal took %s", took)
	}
	j := s.Job(id)
	if j.State != domain.JobRunning || j.Worker != nil || j.Failures != 0 || j.Error != nil || j.Steps[0].State != domain.StepRunning {
		t.Errorf("handed over: %+v, %+v", j, j.Error)
	}
	if h := s.Host(host); h.State != domain.HostInitializing {
		t.Errorf("%+v", h)
	}
	close(goOn)
	s.Backend()
	if j := s.Ended(id, domain.JobSucceeded); j.Attempt != 2 {
		t.Errorf("%+v", j)
	}
}

// TestNoStepBeginsAfterStop: the step that runs may end, the next is another's.
func TestNoStepBeginsAfterStop(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID
	begun, goOn := make(chan struct{}), make(chan struct{})
	s.Runner.HandleFunc("host_initialize", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		if p.Playbook == "bootstrap.yml" {
			close(begun)
		}
		return site.Play(ctx, p, sink, scripted.Script{Wait: goOn})
	})
	first := s.Backend()
	id, err := s.Intents.InitializeHost(t.Context(), s.Call, host, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	first.Stop()
	close(goOn)
	site.Await(t, "the backend", first.Stopped())
	j := s.Job(id)
	if j.State != domain.JobRunning || j.Worker != nil || j.Steps[0].State != domain.StepSucceeded || j.Steps[1].State != domain.StepPending || len(s.Runner.Calls()) != 1 {
		t.Errorf("%+v, %d plays", j, len(s.Runner.Calls()))
	}
	s.Backend()
	s.Ended(id, domain.JobSucceeded)
	if n := len(s.Runner.Calls()); n != 2 {
		t.Errorf("%d plays", n)
	}
}

// TestStopInTheMiddleOfAClaim: what is claimed while the backend stops goes back
// at once, instead of waiting for its lease to run out.
func TestStopInTheMiddleOfAClaim(t *testing.T) {
	t.Parallel()
	if testkit.IsCockroach(t) {
		t.Skip("CockroachDB has no LOCK TABLE")
	}
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	id := enqueue(s, job.HostProbe{HostID: host})
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `LOCK TABLE jobs IN EXCLUSIVE MODE`); err != nil {
		t.Fatal(err)
	}
	b := s.BackendWith(func(context.Context, store.Claim, *queue.Log) queue.Result {
		t.Error("begun by a backend that stops")
		return queue.Result{End: queue.HandOver}
	}, queue.Config{Lease: 10 * time.Minute})
	site.Eventually(t, "the claim", func() bool {
		var waiting int
		err := tx.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
		return err == nil && waiting > 0
	})
	b.Stop()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	since := time.Now()
	site.Await(t, "the backend", b.Stopped())
	if took := time.Since(since); took > 5*time.Second { // a second, on a machine that has nothing else to do
		t.Errorf("it took %s", took)
	}
	if j := s.Job(id); j.State != domain.JobQueued || j.Attempt != 1 || j.Worker != nil {
		t.Errorf("%+v", j)
	}
}
