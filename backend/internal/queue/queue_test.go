package queue_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/ansible"
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

// TestSlowEndIsWritten: an end that takes longer than the lease lasts is written
// all the same, and nobody takes the job over meanwhile.
func TestSlowEndIsWritten(t *testing.T) {
	t.Parallel()
	if testkit.Twice() || testkit.IsCockroach(t) {
		t.Skip("counts how often it is written, and each refusal writes it once more")
	}
	s := site.New(t)
	id := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	const lease = 3 * time.Second
	var ends atomic.Int64
	work := func(context.Context, store.Claim, *queue.Log) queue.Result {
		return queue.Result{End: queue.Succeeded, Apply: func(ctx context.Context, _ *store.Tx) error {
			ends.Add(1)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(lease * 3 / 2):
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
	host, id, err := s.Intents.RegisterHost(t.Context(), s.Call, intent.RegisterHost{Name: "h1", Address: "127.0.0.1", Port: ssh.Port, AdminUser: "operator1", TrustOnFirstUse: true})
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
	id, err := s.Intents.ProbeHost(t.Context(), s.Call, host, 0)
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
