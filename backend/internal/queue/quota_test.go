package queue_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

const sqlJobQuota = `INSERT INTO quotas (scope, scope_id, resource, amount, updated_by) VALUES ($1, $2, 'jobs', $3, 'test')`

// exact fails unless so many jobs are counted, and that is how many there are.
func exact(s *site.Site, what string, scope uuid.UUID, want int64) {
	s.T.Helper()
	err := s.DB.Snapshot(s.T.Context(), func(r store.Reads) error {
		picture, err := r.Picture(s.T.Context())
		if len(picture.Quotas) > 0 {
			s.T.Errorf("%s: %+v", what, picture.Quotas)
		}
		return err
	})
	if err != nil {
		s.T.Fatal(err)
	}
	conn, err := pgx.Connect(s.T.Context(), s.URL)
	if err != nil {
		s.T.Fatal(err)
	}
	defer func() { _ = conn.Close(s.T.Context()) }()
	var used int64
	if err := conn.QueryRow(s.T.Context(), `SELECT used FROM quotas WHERE scope_id = $1 AND resource = 'jobs'`, scope).Scan(&used); err != nil || used != want {
		s.T.Errorf("%s: %d are counted, %v; want %d", what, used, err, want)
	}
}

// TestJobsOverAQuotaWait in the queue, as if nobody had looked at them, whatever quota it is. Each way out of running gives one back.
func TestJobsOverAQuotaWait(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	sql(s, sqlJobQuota, "project", domain.DefaultProject, 2)
	sql(s, sqlJobQuota, "organization", domain.DefaultOrganization, 9)
	var jobs, hosts []uuid.UUID
	for range 7 {
		hosts = append(hosts, s.ReadyHost(site.HostSpec{}).ID)
		jobs = append(jobs, enqueue(s, job.HostDecommission{HostID: hosts[len(hosts)-1]}))
	}
	claims := func(what string, want ...uuid.UUID) {
		t.Helper()
		if got := claimed(claim(s, time.Minute, 9)); !slices.Equal(got, want) {
			t.Errorf("%s: claimed %v, want %v", what, got, want)
		}
	}
	first := claimed(claim(s, time.Minute, 9))
	if len(first) != 2 {
		t.Fatalf("claimed %v", first)
	}
	for _, id := range jobs {
		if j := s.Job(id); !slices.Contains(first, id) && (j.State != domain.JobQueued || j.Attempt != 0 || j.StartedAt != nil) {
			t.Errorf("%+v", j)
		}
	}
	exact(s, "two of seven", domain.DefaultProject, 2)
	exact(s, "two of seven", domain.DefaultOrganization, 2)
	claims("with nothing left")
	if waiting, err := s.DB.Waiting(t.Context()); err != nil || waiting.Claimable {
		t.Errorf("%+v, %v", waiting, err)
	}

	left := func() (id uuid.UUID, attempt int) {
		t.Helper()
		for _, id := range jobs {
			if j := s.Job(id); j.State == domain.JobRunning {
				return id, j.Attempt
			}
		}
		t.Fatal("no job runs")
		return uuid.Nil, 0
	}
	for what, end := range map[string]func(tx *store.Tx, id uuid.UUID, attempt int) error{
		"failed": func(tx *store.Tx, id uuid.UUID, attempt int) error {
			return tx.FinishJob(t.Context(), id, attempt, domain.JobFailed, &domain.JobError{Code: "x"}, "")
		},
		"succeeded": func(tx *store.Tx, id uuid.UUID, attempt int) error {
			_, err := tx.SucceedJobs(t.Context(), []store.Success{{ID: id, Attempt: attempt}})
			return err
		},
		"to be tried again": func(tx *store.Tx, id uuid.UUID, attempt int) error {
			return tx.RequeueJob(t.Context(), id, attempt, time.Hour, &domain.JobError{Code: "x"})
		},
		"its host is lost": func(tx *store.Tx, id uuid.UUID, _ int) error {
			_, err := tx.EndJobsOfHost(t.Context(), *s.Job(id).HostID, domain.JobError{Code: "x"})
			return err
		},
	} {
		s.Tx(func(tx *store.Tx) error {
			id, attempt := left()
			return end(tx, id, attempt)
		})
		exact(s, what, domain.DefaultProject, 1)
		if got := claimed(claim(s, time.Minute, 9)); len(got) != 1 {
			t.Errorf("after one %s: claimed %v", what, got)
		}
		exact(s, what+", and another one", domain.DefaultProject, 2)
	}
	id, attempt := left()
	s.Tx(func(tx *store.Tx) error { return tx.PutBackJob(t.Context(), id, attempt) })
	exact(s, "put back", domain.DefaultProject, 1)
	s.Tx(func(tx *store.Tx) error { _, err := tx.CancelJob(t.Context(), s.Job(id), "x"); return err })
	exact(s, "to be stopped, which waits for no quota", domain.DefaultOrganization, 2)
	sql(s, `UPDATE quotas SET amount = 0 WHERE scope = 'organization'`)
	claims("with a quota of none")
	sql(s, `DELETE FROM quotas`)
	if got := claim(s, time.Minute, 9); len(got) == 0 {
		t.Error("nothing is claimed without a quota")
	}
}

// TestNoMoreJobsRunThanAQuotaAllows, however many backends there are, and all of them end.
func TestNoMoreJobsRunThanAQuotaAllows(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	sql(s, sqlJobQuota, "workspace", domain.DefaultWorkspace, 2)
	var jobs []uuid.UUID
	for range 12 {
		jobs = append(jobs, enqueue(s, job.HostDecommission{HostID: s.ReadyHost(site.HostSpec{}).ID}))
	}
	var now, most atomic.Int64
	work := func(context.Context, store.Claim, *queue.Log) queue.Result {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(20 * time.Millisecond) // others may begin meanwhile
		return queue.Result{End: queue.Failed, Error: &domain.JobError{Code: "x"}}
	}
	for range 3 {
		s.BackendWith(work, queue.Config{Slots: 4})
	}
	for _, id := range jobs {
		s.Ended(id, domain.JobFailed)
	}
	if m := most.Load(); m > 2 {
		t.Errorf("%d ran at once", m)
	}
	exact(s, "at the end", domain.DefaultWorkspace, 0)
}
