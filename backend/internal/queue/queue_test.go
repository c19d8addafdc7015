package queue_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
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

// enqueue adds a job that no intent would stand in the way of.
func enqueue(s *site.Site, args job.Args) (id uuid.UUID) {
	s.T.Helper()
	s.Tx(func(tx *store.Tx) (err error) {
		id, err = tx.Enqueue(s.T.Context(), s.Actor, domain.DefaultWorkspace, args)
		return err
	})
	return id
}

// claim claims as a worker that then does nothing.
func claim(s *site.Site, lease time.Duration, n int) (claims []store.Claim) {
	s.T.Helper()
	s.Tx(func(tx *store.Tx) (err error) {
		claims, err = tx.ClaimJobs(s.T.Context(), uuid.New(), lease, n)
		return err
	})
	return claims
}

func takeOver(s *site.Site) (claims []store.Claim) {
	s.T.Helper()
	site.Eventually(s.T, "a lease to run out", func() bool {
		s.Tx(func(tx *store.Tx) (err error) {
			claims, err = tx.TakeOverJobs(s.T.Context(), uuid.New(), time.Minute, 10)
			return err
		})
		return len(claims) > 0
	})
	return claims
}

func sql(s *site.Site, statement string, args ...any) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(s.T.Context()) }()
	if _, err := conn.Exec(s.T.Context(), statement, args...); err != nil {
		s.T.Fatalf("%s: %v", statement, err)
	}
}

func TestClaimsGoByPriorityThenAge(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	low := enqueue(s, job.HostDecommission{HostID: s.ReadyHost(site.HostSpec{}).ID})
	one := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	two := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	later := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	sql(s, `UPDATE jobs SET run_after = now() + INTERVAL '1 hour' WHERE id = $1`, later)
	var order []uuid.UUID
	for range 4 {
		for _, c := range claim(s, time.Minute, 1) {
			if c.Attempt != 1 || c.State != domain.JobRunning || c.Takeover {
				t.Errorf("%+v", c)
			}
			order = append(order, c.ID)
		}
	}
	if want := []uuid.UUID{one, two, low}; !slices.Equal(order, want) {
		t.Errorf("claimed %v, not %v", order, want)
	}
}

// TestClaimsAreNotShared: whatever the number of backends, a job is one's.
func TestClaimsAreNotShared(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	const jobs = 60
	for range jobs {
		enqueue(s, job.HostProbe{HostID: host})
	}
	var mu sync.Mutex
	seen := map[uuid.UUID]int{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for {
				var claims []store.Claim
				err := s.DB.InTx(t.Context(), func(tx *store.Tx) (err error) {
					claims, err = tx.ClaimJobs(t.Context(), uuid.New(), time.Minute, 3)
					return err
				})
				if err != nil || len(claims) > 3 {
					t.Errorf("%d claims, %v", len(claims), err)
					return
				}
				mu.Lock()
				for _, c := range claims {
					seen[c.ID]++
				}
				done := len(seen) == jobs
				mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	all.Wait()
	for id, n := range seen {
		if n != 1 {
			t.Errorf("job %s was claimed %d times", id, n)
		}
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
		"OwnJob":    func(tx *store.Tx) error { return tx.OwnJob(ctx, id, old.Attempt) },
		"StartStep": func(tx *store.Tx) error { return tx.StartStep(ctx, id, old.Attempt, 0) },
		"EndStep":   func(tx *store.Tx) error { return tx.EndStep(ctx, id, old.Attempt, 0, domain.StepSucceeded) },
		"RenewLease": func(tx *store.Tx) error {
			_, err := tx.RenewLease(ctx, id, old.Attempt, worker, time.Minute)
			return err
		},
		"AppendLog":  func(tx *store.Tx) error { return tx.AppendLog(ctx, id, old.Attempt, []store.LogEntry{{Sequence: 1}}) },
		"FinishJob":  func(tx *store.Tx) error { return tx.FinishJob(ctx, id, old.Attempt, domain.JobSucceeded, nil, "") },
		"RequeueJob": func(tx *store.Tx) error { return tx.RequeueJob(ctx, id, old.Attempt, 0, nil) },
		"HandOver":   func(tx *store.Tx) error { return tx.HandOver(ctx, id, old.Attempt, 0) },
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

// TestLockOfADeadAttemptIsLetGo when a later attempt ends without having taken
// the lock itself, or no job of this host would ever run again.
func TestLockOfADeadAttemptIsLetGo(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	for name, end := range map[string]func(tx *store.Tx, id uuid.UUID) error{
		"finished": func(tx *store.Tx, id uuid.UUID) error {
			return tx.FinishJob(t.Context(), id, 2, domain.JobFailed, &domain.JobError{Code: "x"}, "")
		},
		"handed over": func(tx *store.Tx, id uuid.UUID) error { return tx.RequeueJob(t.Context(), id, 2, time.Hour, nil) },
	} {
		id := enqueue(s, job.HostDecommission{HostID: host})
		first := claim(s, time.Millisecond, 1)[0]
		s.Tx(func(tx *store.Tx) error { _, err := tx.LockHost(t.Context(), host, id, first.Attempt); return err })
		takeOver(s)
		s.Tx(func(tx *store.Tx) error { return end(tx, id) })
		other := enqueue(s, job.HostDecommission{HostID: host})
		if got := claim(s, time.Minute, 5); len(got) != 1 || got[0].ID != other {
			t.Errorf("%s: the host is locked by nobody, and yet claimed were %+v", name, got)
		}
		s.Tx(func(tx *store.Tx) error {
			return tx.FinishJob(t.Context(), other, 1, domain.JobFailed, &domain.JobError{Code: "x"}, "")
		})
	}
}

// TestBusyHostsAreNotClaimed but by what only reads.
func TestBusyHostsAreNotClaimed(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	holder := enqueue(s, job.HostDecommission{HostID: host})
	c := claim(s, time.Minute, 1)[0]
	s.Tx(func(tx *store.Tx) error { _, err := tx.LockHost(t.Context(), host, holder, c.Attempt); return err })
	waits := enqueue(s, job.HostDecommission{HostID: host})
	reads := enqueue(s, job.HostProbe{HostID: host})
	if got := claim(s, time.Minute, 9); len(got) != 1 || got[0].ID != reads {
		t.Errorf("claimed %+v", got)
	}
	s.Tx(func(tx *store.Tx) error {
		return tx.FinishJob(t.Context(), holder, c.Attempt, domain.JobFailed, &domain.JobError{Code: "x"}, "")
	})
	if got := claim(s, time.Minute, 9); len(got) != 1 || got[0].ID != waits {
		t.Errorf("claimed %+v", got)
	}
}

// TestOneHolderAHost: jobs of one host, on two backends, never run at once, and
// the fence's number grows with each.
func TestOneHolderAHost(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 8)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3", "4", "5", "6"}})
	var inside, most atomic.Int64
	var mu sync.Mutex
	var numbers []int64
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		most.Store(max(most.Load(), inside.Add(1)))
		defer inside.Add(-1)
		mu.Lock()
		numbers = append(numbers, p.Hosts[0].Fence.Number)
		mu.Unlock()
		for i := range 50 {
			sink(ansible.Event{Kind: ansible.EventOutput, Output: fmt.Sprint(i)})
		}
		return site.Play(ctx, p, sink, scripted.Script{})
	})
	var jobs []uuid.UUID
	for range 6 {
		_, id, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, id)
	}
	s.Backend()
	s.Backend()
	for _, id := range jobs {
		s.Ended(id, domain.JobSucceeded)
	}
	if most.Load() != 1 {
		t.Errorf("%d plays at once on one host", most.Load())
	}
	for i := 1; i < len(numbers); i++ {
		if numbers[i] <= numbers[i-1] {
			t.Errorf("numbers %v", numbers)
		}
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
	id, err := s.Intents.InitializeHost(t.Context(), s.Actor, host, 0, false)
	if err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the play", begun)
	first.Stop()
	site.Eventually(t, "what the first attempt told", func() bool {
		last, err := s.DB.LastSequence(t.Context(), id)
		return err == nil && last > 0
	})
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, id)
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
	if err := s.Intents.CancelJob(t.Context(), s.Actor, id); err != nil {
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

// TestHandOverOfACancelledJob: a backend that gives a job back in the moment in
// which it is cancelled leaves it to be ended at once.
func TestHandOverOfACancelledJob(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	_, id, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	gives := s.BackendWith(func(context.Context, store.Claim, *queue.Log) queue.Result {
		<-asked
		return queue.Result{End: queue.HandOver}
	}, queue.Config{Lease: 10 * time.Minute})
	site.Eventually(t, "a claim", func() bool { return s.Job(id).State == domain.JobRunning })
	if err := s.Intents.CancelJob(t.Context(), s.Actor, id); err != nil {
		t.Fatal(err)
	}
	gives.Stop()
	close(asked)
	site.Await(t, "the first backend", gives.Stopped())
	s.BackendWith(s.Work(), queue.Config{Lease: time.Second})
	s.Ended(id, domain.JobCancelled)
}

// TestSlowEndIsWritten: an end that takes longer than the lease lasts is written
// all the same, and nobody takes the job over meanwhile.
func TestSlowEndIsWritten(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	id := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	const lease = 500 * time.Millisecond
	var ends atomic.Int64
	work := func(context.Context, store.Claim, *queue.Log) queue.Result {
		return queue.Result{End: queue.Succeeded, Apply: func(ctx context.Context, _ *store.Tx) error {
			ends.Add(1)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(3 * lease):
				return nil
			}
		}}
	}
	for range 2 {
		s.BackendWith(work, queue.Config{Lease: lease})
	}
	if j := s.Ended(id, domain.JobSucceeded); j.Attempt != 1 || ends.Load() != 1 {
		t.Errorf("attempt %d, written %d times", j.Attempt, ends.Load())
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
	id, err := s.Intents.InitializeHost(t.Context(), s.Actor, host, 0, false)
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
	id, err := s.Intents.InitializeHost(t.Context(), s.Actor, host, 0, false)
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

// TestResultDiesWithItsAttempt: what a probe read is lost with the backend, so
// the next one reads it again instead of ending with nothing.
func TestResultDiesWithItsAttempt(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	ssh := site.NewSSHServer(t)
	lost := s.BackendWith(func(ctx context.Context, c store.Claim, log *queue.Log) queue.Result {
		s.Work()(ctx, c, log)                                      // all of its steps are done ...
		return queue.Result{End: queue.HandOver, After: time.Hour} // ... and its end is never written
	}, queue.Config{})
	host, id, err := s.Intents.RegisterHost(t.Context(), s.Actor, domain.DefaultWorkspace,
		intent.RegisterHost{Name: "h1", Address: "127.0.0.1", Port: ssh.Port, AdminUser: "operator1", TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	site.Eventually(t, "the hand-over", func() bool { j := s.Job(id); return j.Attempt == 1 && j.State == domain.JobQueued })
	lost.Stop()
	site.Await(t, "the first backend", lost.Stopped())
	sql(s, `UPDATE jobs SET run_after = now() WHERE id = $1`, id)
	s.Backend()
	s.Ended(id, domain.JobSucceeded)
	if h := s.Host(host); h.State != domain.HostProbed || h.Facts == nil {
		t.Errorf("%+v", h)
	}
}

// TestPanicsFailTheirJobOnly, and not backend after backend.
func TestPanicsFailTheirJobOnly(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	s.Runner.HandleFunc("host_probe", func(context.Context, ansible.Play, func(ansible.Event)) (ansible.Outcome, error) {
		panic("in a module")
	})
	srv := site.NewSSHServer(t)
	sql(s, `UPDATE hosts SET port = $2, host_key = $3 WHERE id = $1`, host, srv.Port, srv.Key())
	id, err := s.Intents.ProbeHost(t.Context(), s.Actor, host, 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Backend()
	for failures := 1; failures < 3; failures++ { // a probe is tried three times
		site.Eventually(t, "the panic", func() bool { j := s.Job(id); return j.Failures == failures && j.State == domain.JobQueued })
		if j := s.Job(id); j.Error == nil || j.Error.Code != domain.ErrCodeInternal {
			t.Errorf("nobody sees that it failed: %+v", j)
		}
		sql(s, `UPDATE jobs SET run_after = now() WHERE id = $1`, id)
	}
	if j := s.Ended(id, domain.JobFailed); j.Error.Code != domain.ErrCodeInternal || strings.Contains(j.Error.Message, "module") {
		t.Errorf("%+v", j.Error)
	}
}

func TestBackoff(t *testing.T) {
	t.Parallel()
	for n, full := range map[int]time.Duration{1: 2 * time.Second, 2: 4 * time.Second, 9: 512 * time.Second, 10: 600 * time.Second, 60: 600 * time.Second} {
		for range 100 {
			if d := queue.Backoff(n); d > full || d < full*3/4-time.Nanosecond {
				t.Fatalf("try %d: %s", n, d)
			}
		}
	}
}

func TestSignals(t *testing.T) {
	t.Parallel()
	s := queue.NewSignals()
	id := uuid.New()
	moved, stop := s.Watch(id)
	s.Notify(id)
	s.Notify(id)
	s.Notify(uuid.New())
	site.Await(t, "a signal", moved)
	stop()
	s.Notify(id)
	select {
	case <-moved:
		t.Error("told of it after the watch ended")
	default:
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
