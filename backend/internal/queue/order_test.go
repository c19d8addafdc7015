package queue_test

import (
	"context"
	"slices"
	"sync"
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
