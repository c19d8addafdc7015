package worker_test

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/ansible/scripted"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	joblib "kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
	"kloigos/backend/internal/worker"
)

// knowing is a site that has played an allocation, and has units for more.
func knowing(t *testing.T) *site.Site {
	t.Helper()
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

// TestPanicFailsItsJob: what panics while a play is made fails its job, and ends
// nothing else of the backend.
func TestPanicFailsItsJob(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	w := worker.New(s.DB, s.Runner, panics{}, worker.Config{Name: "backend-1", Targets: s.Policy})
	s.BackendWith(w.Work, queue.Config{})
	site.Eventually(t, "the panic", func() bool { return s.Job(job).Failures > 0 })
	if j := s.Job(job); j.Error == nil || j.Error.Code != domain.ErrCodeInternal {
		t.Errorf("%+v", j.Error)
	}
	if calls := playsOf(s, job); len(calls) > 0 {
		t.Errorf("played: %+v", calls)
	}
}

// TestPanicFailsItsJobOnly: a job whose play can't even be made goes on as
// one that panics, and its backend with the others.
func TestPanicFailsItsJobOnly(t *testing.T) {
	t.Parallel()
	s := knowing(t)
	job := allocate(s, "second")
	sql(s, `ALTER TABLE hosts DROP CONSTRAINT hosts_layout_of_purpose; UPDATE hosts SET layout = NULL`)
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
