package queue_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestClaimsOneJobAHost, the first: the others could only wait, and what lies behind them is found all the same.
func TestClaimsOneJobAHost(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	crowded, other := s.ReadyHost(site.HostSpec{}).ID, s.ReadyHost(site.HostSpec{}).ID
	first := enqueue(s, job.HostDecommission{HostID: crowded})
	second := enqueue(s, job.HostDecommission{HostID: crowded})
	third := enqueue(s, job.HostDecommission{HostID: crowded})
	behind := enqueue(s, job.HostDecommission{HostID: other})
	if got := claimed(claim(s, time.Minute, 3)); !slices.Equal(got, []uuid.UUID{first, behind}) {
		t.Errorf("claimed %v, not %v", got, []uuid.UUID{first, behind})
	}
	for _, id := range []uuid.UUID{second, third} {
		if j := s.Job(id); j.State != domain.JobQueued || j.Attempt != 0 || j.StartedAt != nil {
			t.Errorf("%+v", j)
		}
	}
	s.Tx(func(tx *store.Tx) error {
		return tx.FinishJob(t.Context(), first, 1, domain.JobFailed, &domain.JobError{Code: "x"}, "")
	})
	if got := claimed(claim(s, time.Minute, 3)); !slices.Equal(got, []uuid.UUID{second}) {
		t.Errorf("claimed %v, not %v", got, second)
	}
}

func claimed(claims []store.Claim) (ids []uuid.UUID) {
	for _, c := range claims {
		ids = append(ids, c.ID)
	}
	return ids
}

// TestJobsOfAHostGoByAge, however many of them a backend could run at once, and none begins in vain.
func TestJobsOfAHostGoByAge(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 8)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3", "4", "5", "6"}})
	var mu sync.Mutex
	var order []string
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		mu.Lock()
		order = append(order, p.Hosts[0].Fence.Run)
		mu.Unlock()
		return site.Play(ctx, p, sink, scripted.Script{})
	})
	var asked []string
	var jobs []uuid.UUID
	for range 6 {
		_, id, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		asked, jobs = append(asked, id.String()), append(jobs, id)
	}
	s.BackendWith(s.Work(), queue.Config{Slots: 4})
	for _, id := range jobs {
		if j := s.Ended(id, domain.JobSucceeded); j.Attempt != 1 {
			t.Errorf("job %s took %d attempts", id, j.Attempt)
		}
	}
	if !slices.Equal(order, asked) {
		t.Errorf("asked for %v, played %v", asked, order)
	}
}

// TestBusyHostCostsNoPlace: where two backends claim jobs of one host at once, the one that comes too late gives its job
// back as it was.
func TestBusyHostCostsNoPlace(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	holder, late := enqueue(s, job.HostDecommission{HostID: host}), enqueue(s, job.HostDecommission{HostID: host})
	before := s.Job(late).RunAfter
	if got := claimed(claim(s, time.Minute, 1)); !slices.Equal(got, []uuid.UUID{holder}) {
		t.Fatalf("claimed %v", got)
	}
	worker := uuid.New()
	sql(s, `UPDATE jobs SET state = 'running', attempt = 1, worker_id = $1, lease_expires_at = now() + INTERVAL '1 minute' WHERE id = $2`, worker, late)
	q := queue.New(s.DB, s.Work(), queue.NewSignals(), queue.Config{Worker: worker})
	q.Attempt(t.Context(), t.Context(), store.Claim{ID: late, Kind: domain.KindHostDecommission, Attempt: 1, State: domain.JobRunning, HostID: &host})
	if j := s.Job(late); j.State != domain.JobQueued || !j.RunAfter.Equal(before) || j.Failures != 0 {
		t.Errorf("it was to begin after %s: %+v", before, j)
	}
	if got := claim(s, time.Minute, 9); len(got) != 0 {
		t.Errorf("claimed while its host is held: %+v", got)
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
