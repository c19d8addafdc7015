package queue_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
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
	"kloigos/backend/internal/testkit/site"
)

// TestHandedOverIsNotRenewed: a renewal that waited for the row, and comes behind the hand-over, would keep everyone else
// from the job for a whole lease.
func TestHandedOverIsNotRenewed(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	id := enqueue(s, job.HostDecommission{HostID: s.ReadyHost(site.HostSpec{}).ID})
	worker := uuid.New()
	var c store.Claim
	s.Tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(t.Context(), worker, time.Minute, 1)
		if len(claims) == 1 {
			c = claims[0]
		}
		return err
	})
	if c.ID != id || c.Begun == nil {
		t.Fatalf("claimed %+v", c)
	}
	renew := func() error {
		_, err := s.DB.RenewLease(t.Context(), id, c.Attempt, worker, time.Minute)
		return err
	}
	if err := renew(); err != nil {
		t.Fatal(err)
	}
	s.Tx(func(tx *store.Tx) error { return tx.HandOver(t.Context(), id, c.Attempt, 0) })
	if err := renew(); !errors.Is(err, store.ErrLost) {
		t.Errorf("the lease of a job that was handed over is renewed: %v", err)
	}
	if got := takeOver(s); len(got) != 1 || got[0].ID != id || !got[0].HandedOver {
		t.Errorf("%+v", got)
	}
}

// TestLeaseIsGivenUpInTime: at three quarters of it, also where the last renewal was being waited for until then.
func TestLeaseIsGivenUpInTime(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	const lease = 6 * time.Second // renewed every second
	id := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	worker := uuid.New()
	s.Tx(func(tx *store.Tx) error { _, err := tx.ClaimJobs(t.Context(), worker, lease, 1); return err })
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	given := make(chan error, 1)
	work := func(ctx context.Context, _ store.Claim, _ *queue.Log) queue.Result {
		<-ctx.Done()
		given <- context.Cause(ctx)
		return queue.Result{End: queue.HandOver}
	}
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT id FROM jobs WHERE id = '`+id.String()+`' FOR UPDATE`); err != nil {
		t.Fatal(err)
	}
	q := queue.New(s.DB, work, queue.NewSignals(), queue.Config{Worker: worker, Lease: lease})
	begun := time.Now()
	go q.Attempt(t.Context(), t.Context(), store.Claim{ID: id, Attempt: 1, State: "running"})
	select {
	case err := <-given:
		if took := time.Since(begun); !errors.Is(err, queue.ErrLeaseLost) || took < lease*3/4 || took > lease {
			t.Errorf("after %s: %v", took, err)
		}
	case <-time.After(2 * lease):
		t.Error("it is never given up")
	}
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Error(err)
	}
}

// TestPausedWorkerCanNotWrite: every write of an attempt whose job was taken
// over is refused.
func TestPausedWorkerCanNotWrite(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	id := enqueue(s, job.HostInitialize{HostID: host})
	ctx, worker := t.Context(), uuid.New()
	var old store.Claim
	s.Tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(ctx, worker, time.Millisecond, 1)
		old = claims[0]
		return err
	})
	var number int64
	s.Tx(func(tx *store.Tx) (err error) {
		if err := tx.StartStep(ctx, id, old.Attempt, 0); err != nil {
			return err
		}
		number, err = tx.LockHost(ctx, host, id, old.Attempt)
		return err
	})
	taken := takeOver(s)
	if len(taken) != 1 || taken[0].Attempt != 2 || !taken[0].Takeover {
		t.Fatalf("%+v", taken)
	}
	writes := map[string]func(tx *store.Tx) error{
		"OwnJob":     func(tx *store.Tx) error { return tx.OwnJob(ctx, id, old.Attempt) },
		"StartStep":  func(tx *store.Tx) error { return tx.StartStep(ctx, id, old.Attempt, 0) },
		"EndStep":    func(tx *store.Tx) error { return tx.EndStep(ctx, id, old.Attempt, 0, domain.StepSucceeded) },
		"AppendLog":  func(tx *store.Tx) error { return tx.AppendLog(ctx, id, old.Attempt, []store.LogEntry{{Sequence: 1}}) },
		"FinishJob":  func(tx *store.Tx) error { return tx.FinishJob(ctx, id, old.Attempt, domain.JobSucceeded, nil, "") },
		"RequeueJob": func(tx *store.Tx) error { return tx.RequeueJob(ctx, id, old.Attempt, 0, nil) },
		"HandOver":   func(tx *store.Tx) error { return tx.HandOver(ctx, id, old.Attempt, 0) },
	}
	if _, err := s.DB.RenewLease(ctx, id, old.Attempt, worker, time.Minute); !errors.Is(err, store.ErrLost) {
		t.Errorf("RenewLease: %v", err)
	}
	for name, write := range writes {
		if err := s.DB.InTx(ctx, write); !errors.Is(err, store.ErrLost) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := s.DB.InTx(ctx, func(tx *store.Tx) error { _, err := tx.LockHost(ctx, host, id, old.Attempt); return err }); !errors.Is(err, store.ErrHostBusy) {
		t.Errorf("LockHost: %v", err)
	}
	// The new attempt locks under a higher number; its end lets go of the host.
	s.Tx(func(tx *store.Tx) error {
		higher, err := tx.LockHost(ctx, host, id, 2)
		if err == nil && higher <= number {
			t.Errorf("number %d after %d", higher, number)
		}
		return err
	})
	if j := s.Job(id); j.State != domain.JobRunning || j.Steps[0].State != domain.StepRunning || j.Steps[0].Attempt != 1 {
		t.Errorf("%+v", j)
	}
}

// TestTakeover: a backend that dies in a play is followed by another, at the
// step where it stood, and what the dead one still says is not heard.
func TestTakeover(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{Units: []string{"1"}}).ID
	begun, dead := make(chan struct{}), make(chan struct{})
	var plays []string
	var mu sync.Mutex
	s.Runner.HandleFunc("host_initialize", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		mu.Lock()
		plays = append(plays, p.Playbook)
		n := len(plays)
		mu.Unlock()
		sink(ansible.Event{Kind: ansible.EventOutput, Output: "one"})
		if n == 2 { // initialize: the process is paused from here on
			close(begun)
			<-dead
			sink(ansible.Event{Kind: ansible.EventOutput, Output: "from the dead"})
		}
		return site.Play(ctx, p, sink, scripted.Script{})
	})
	// Its leases run out: it is as if it could not reach the database in time.
	stuck := func(ctx context.Context, c store.Claim, log *queue.Log) queue.Result { return s.Work()(ctx, c, log) }
	first := s.BackendWith(stuck, queue.Config{Lease: time.Minute})
	id, err := s.Intents.InitializeHost(t.Context(), s.Call, host, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	first.Stop()
	site.Eventually(t, "what the first attempt told", func() bool {
		last, err := s.DB.LastSequence(t.Context(), id)
		return err == nil && last > 0
	})
	// Not his any more, or a renewal makes it last again.
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second', worker_id = gen_random_uuid() WHERE id = $1`, id)
	second := s.BackendWith(s.Work(), queue.Config{Lease: time.Second})
	j := s.Ended(id, domain.JobSucceeded)
	close(dead)
	site.Await(t, "the paused backend", first.Stopped())
	if j.Attempt < 2 || *j.Host == "" {
		t.Errorf("%+v", j)
	}
	mu.Lock()
	if want := []string{"bootstrap.yml", "playbook.yml", "playbook.yml"}; !slices.Equal(plays, want) {
		t.Errorf("plays %v", plays)
	}
	mu.Unlock()
	after := s.Job(id)
	if after.State != domain.JobSucceeded || after.Attempt != j.Attempt {
		t.Errorf("after the dead came back: %+v", after)
	}
	log, err := s.DB.JobLog(t.Context(), id, 0, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	attempts := map[int]bool{}
	for i, e := range log {
		attempts[e.Attempt] = true
		if e.Sequence != int64(i+1) || e.Output == "from the dead" || i > 0 && e.Attempt < log[i-1].Attempt {
			t.Errorf("entry %d: %+v", i, e)
		}
	}
	if len(attempts) < 2 || !slices.ContainsFunc(log, func(e store.LogEntry) bool { return strings.Contains(e.Message, "took the job over") }) {
		t.Errorf("nobody tells of the takeover: %v", attempts)
	}
	_ = second
}

// TestCancelledJobOfADeadBackend is ended by who takes it over, without a play.
func TestCancelledJobOfADeadBackend(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	a, id, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	claim(s, time.Millisecond, 1)
	if err := s.Intents.CancelJob(t.Context(), s.Call, id); err != nil {
		t.Fatal(err)
	}
	if j := s.Job(id); j.State != domain.JobCancelling {
		t.Fatalf("%+v", j)
	}
	s.BackendWith(s.Work(), queue.Config{Lease: time.Second})
	s.Ended(id, domain.JobCancelled)
	if got := s.Allocation(a); got.State != domain.AllocationAllocationFailed {
		t.Errorf("%+v", got)
	}
	if n := len(s.Runner.Calls()); n != 0 {
		t.Errorf("%d plays for a job that was cancelled", n)
	}
}
