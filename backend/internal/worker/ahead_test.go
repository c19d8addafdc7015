package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	joblib "kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/worker"
)

// knowing is a site that knows the playbook of allocations, and has a unit for
// one more.
func knowing(t *testing.T) *site.Site {
	t.Helper()
	if testkit.IsCockroach(t) {
		t.Skip("a claim reads nothing ahead there, so no play is made ready")
	}
	s := site.New(t)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3"}})
	s.AddAddresses("default", 3)
	a, job, err := s.Allocate(intent.CreateAllocation{LoginUser: "first"})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Backend()
	s.Ended(job, domain.JobSucceeded)
	b.Stop()
	site.Await(t, "the backend to end", b.Stopped())
	if s.Allocation(a).State != domain.AllocationAllocated {
		t.Fatal("it was not allocated")
	}
	return s
}

func allocate(s *site.Site, user string) (job uuid.UUID) {
	s.T.Helper()
	_, job, err := s.Allocate(intent.CreateAllocation{LoginUser: user})
	if err != nil {
		s.T.Fatal(err)
	}
	return job
}

// playsOf is the plays of a job, as they were run.
func playsOf(s *site.Site, job uuid.UUID) []scripted.Call {
	return slices.DeleteFunc(s.Runner.Calls(), func(c scripted.Call) bool {
		return c.Play.Hosts[0].Fence == nil || c.Play.Hosts[0].Fence.Run != job.String()
	})
}

func TestPlayIsMadeReadyWithItsClaim(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	b := s.Backend()
	s.Ended(job, domain.JobSucceeded)
	b.Stop()
	site.Await(t, "the backend to end", b.Stopped())
	plain := allocate(s, "third")
	s.BackendWith(s.Work(), queue.Config{})
	s.Ended(plain, domain.JobSucceeded)
	ready, unready := playsOf(s, job), playsOf(s, plain)
	if len(ready) != 1 || !ready[0].Ready || ready[0].Play.Hosts[0].Fence.Number == 0 || len(unready) != 1 || unready[0].Ready {
		t.Errorf("ready: %+v, without: %+v", ready, unready)
	}
	// But for what differs from play to play they are the same.
	same := cmp.FilterPath(func(p cmp.Path) bool {
		return slices.Contains([]string{"Number", "Run", "Vars", "Unpack"}, strings.TrimPrefix(p.Last().String(), "."))
	}, cmp.Ignore())
	if diff := cmp.Diff(unready[0].Play, ready[0].Play, same); diff != "" {
		t.Error(diff)
	}
	if s.Runner.Waiting() != 0 {
		t.Errorf("%d plays wait for nothing", s.Runner.Waiting())
	}
}

func sql(s *site.Site, statement string) {
	s.T.Helper()
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(s.T.Context()) }()
	if _, err := conn.Exec(s.T.Context(), statement); err != nil {
		s.T.Fatal(err)
	}
}

// panics is an Opener that no key can be had from.
type panics struct{}

func (panics) Open([]byte, string) ([]byte, error) { panic("no key") }

// TestPanicBesideTheClaim: what panics while a claim is being committed fails
// its job, and ends nothing else of the backend.
func TestPanicBesideTheClaim(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	w := worker.New(s.DB, s.Runner, panics{}, worker.Config{Name: "backend-1", Targets: s.Policy})
	s.BackendWith(w.Work, queue.Config{Ahead: w.Ahead})
	site.Eventually(t, "the panic", func() bool { return s.Job(job).Failures > 0 })
	if j := s.Job(job); j.Error == nil || j.Error.Code != domain.ErrCodeInternal {
		t.Errorf("%+v", j.Error)
	}
	if calls := playsOf(s, job); len(calls) > 0 {
		t.Errorf("played: %+v", calls)
	}
}

// TestPanicAheadFailsItsJobOnly: a job whose play can't even be made goes on as
// one that panics, and its backend with the others.
func TestPanicAheadFailsItsJobOnly(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	sql(s, `ALTER TABLE hosts DROP CONSTRAINT hosts_check2; UPDATE hosts SET layout = NULL`)
	other := s.ReadyHost(site.HostSpec{}).ID
	s.Backend()
	site.Eventually(t, "the panic", func() bool { return s.Job(job).Failures > 0 })
	var probe uuid.UUID
	s.Tx(func(tx *store.Tx) (err error) {
		probe, err = tx.Enqueue(t.Context(), s.Actor, domain.DefaultWorkspace, joblib.HostProbe{HostID: other})
		return err
	})
	site.Eventually(t, "the other job's end", func() bool { return s.Job(probe).FinishedAt != nil })
	if j := s.Job(job); j.Error == nil || j.Error.Code != domain.ErrCodeInternal {
		t.Errorf("%+v", j.Error)
	}
}

// endClaims ends the connections that are in the middle of a transaction.
func endClaims(s *site.Site) error {
	conn, err := pgx.Connect(context.Background(), s.URL)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.Background()) }()
	var ended int
	return conn.QueryRow(context.Background(), `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
	                                             WHERE datname = current_database() AND state = 'idle in transaction'`).Scan(&ended)
}

// TestClaimThatFailsLeavesNothing: what was made ready of a job whose claim was
// not committed is given up; the job is claimed again, and its play runs once.
func TestClaimThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	w := s.Worker(nil)
	var claims atomic.Int32
	states := make(chan domain.JobState, 10)
	s.BackendWith(w.Work, queue.Config{Ahead: func(c store.Claim) func() {
		forget := w.Ahead(c)
		if claims.Add(1) == 1 {
			j, err := s.DB.Job(context.Background(), c.ID) // as everybody else sees it
			states <- j.State
			if err = errors.Join(err, endClaims(s)); err != nil {
				t.Errorf("end the claim: %v", err)
			}
		}
		return forget
	}})
	s.Ended(job, domain.JobSucceeded)
	if state := <-states; state != domain.JobQueued {
		t.Errorf("the job was %s while its play was made ready", state)
	}
	if calls := playsOf(s, job); len(calls) != 1 || !calls[0].Ready || claims.Load() < 2 || s.Job(job).Attempt != 1 {
		t.Errorf("%d claims, %d attempts, %+v", claims.Load(), s.Job(job).Attempt, calls)
	}
	site.Eventually(t, "all to be given up", func() bool { return s.Runner.Waiting() == 0 })
}

// ahead claims a job as a worker that makes its play ready.
func ahead(s *site.Site, ready func(store.Claim) func()) (c store.Claim, forget func()) {
	s.T.Helper()
	s.Tx(func(tx *store.Tx) error {
		claims, err := tx.ClaimJobs(s.T.Context(), uuid.New(), time.Minute, 1)
		if err == nil && len(claims) == 1 {
			c, forget = claims[0], ready(claims[0])
		}
		return err
	})
	if forget == nil {
		s.T.Fatalf("nothing was made ready for %+v", c)
	}
	return c, forget
}

// TestWhatIsReadyAndNotWantedIsGivenUp: by whoever comes for it, once.
func TestWhatIsReadyAndNotWantedIsGivenUp(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	gone := func() bool { return s.Runner.Waiting() == 0 }

	w := s.Worker(nil)
	job := allocate(s, "second")
	b := s.BackendWith(func(ctx context.Context, c store.Claim, log *queue.Log) queue.Result {
		cancelled, cancel := context.WithCancelCause(ctx)
		cancel(queue.ErrCancelled)
		return w.Work(cancelled, c, log)
	}, queue.Config{Ahead: func(c store.Claim) func() {
		forget := w.Ahead(c)
		for end := time.Now().Add(10 * time.Second); s.Runner.Waiting() == 0; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Error("nothing was made ready")
				break
			}
		}
		return forget
	}})
	s.Ended(job, domain.JobCancelled)
	site.Eventually(t, "the cancelled job's play to be given up", gone)
	b.Stop()
	site.Await(t, "the backend to end", b.Stopped())

	third := allocate(s, "third")
	_, forget := ahead(s, w.Ahead)
	forget()
	forget()
	site.Eventually(t, "the forgotten job's play to be given up", gone)
	if calls := append(playsOf(s, job), playsOf(s, third)...); len(calls) != 0 {
		t.Errorf("it was played: %+v", calls)
	}
}

// TestHostThatDoesNotAnswerIsSeenAhead: as it is without.
func TestHostThatDoesNotAnswerIsSeenAhead(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	sql(s, `UPDATE hosts SET port = 1`)
	made := s.Runner.Made()
	s.Backend()
	site.Eventually(t, "the first try to fail", func() bool { return s.Job(job).Failures > 0 })
	if s.Runner.Made() == made {
		t.Error("no play was made ready")
	}
	if j := s.Job(job); j.Error == nil || j.Error.Code != domain.ErrCodeUnreachable || len(playsOf(s, job)) != 0 {
		t.Errorf("%+v, %d plays", j.Error, len(playsOf(s, job)))
	}
	site.Eventually(t, "its play to be given up", func() bool { return s.Runner.Waiting() == 0 })
}
