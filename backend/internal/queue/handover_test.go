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
	if err := s.Intents.PauseQueue(t.Context(), s.Actor, "new switches"); err != nil {
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
	go func() { cancelled <- s.Intents.CancelJob(t.Context(), s.Actor, id) }()
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
