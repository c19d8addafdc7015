package queue_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

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

// TestAPauseHoldsForAllBackends, at once: none of them claims, what runs goes
// on, and what a dead backend ran is still taken over.
func TestAPauseHoldsForAllBackends(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 4)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	begun, goOn := make(chan struct{}, 9), make(chan struct{})
	s.Runner.HandleFunc("unit_allocate", func(ctx context.Context, p ansible.Play, sink func(ansible.Event)) (ansible.Outcome, error) {
		begun <- struct{}{}
		return site.Play(ctx, p, sink, scripted.Script{Wait: goOn})
	})
	allocate := func() uuid.UUID {
		t.Helper()
		_, id, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	orphan := allocate()
	claim(s, time.Millisecond, 1) // by a backend that dies at once
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "new switches"); err != nil {
		t.Fatal(err)
	}
	waits := allocate()
	if got := claim(s, time.Minute, 9); len(got) != 0 {
		t.Fatalf("claimed while the queue is paused: %+v", got)
	}
	for range 3 {
		s.BackendWith(s.Work(), queue.Config{Lease: time.Second})
	}
	site.Await(t, "the takeover", begun) // each of them has looked by now, and looks on
	close(goOn)
	s.Ended(orphan, domain.JobSucceeded)
	if j := s.Job(waits); j.State != domain.JobQueued || j.Attempt != 0 {
		t.Errorf("%+v", j)
	}
	if err := s.Intents.ResumeQueue(t.Context(), s.Call); err != nil {
		t.Fatal(err)
	}
	s.Ended(waits, domain.JobSucceeded)
	events, err := s.DB.Events(t.Context(), store.EventFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	seen := ""
	for _, e := range events {
		if e.ObjectKind == "queue" {
			seen += e.Action + " by " + e.ActorName + string(e.Before) + string(e.After) + "\n"
		}
	}
	if !strings.Contains(seen, "queue.pause by ada") || !strings.Contains(seen, "queue.resume by ada") || strings.Count(seen, "new switches") != 2 {
		t.Errorf("the audit trail tells: %s", seen)
	}
}

// TestAPauseMovesDeadlines: what waited for a person does not fail for it.
func TestAPauseMovesDeadlines(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	before, during := enqueue(s, job.HostProbe{HostID: host}), enqueue(s, job.HostProbe{HostID: host})
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "why"); err != nil {
		t.Fatal(err)
	}
	sql(s, `UPDATE queue_pauses SET paused_at = now() - INTERVAL '3 hours'`)
	sql(s, `UPDATE jobs SET created_at = now() - INTERVAL '4 hours', deadline_at = now() - INTERVAL '2 hours' WHERE id = $1`, before)
	sql(s, `UPDATE jobs SET created_at = now() - INTERVAL '1 hour', deadline_at = now() + INTERVAL '1 hour' WHERE id = $1`, during)
	if err := s.Intents.ResumeQueue(t.Context(), s.Call); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[uuid.UUID]time.Duration{before: time.Hour, during: 2 * time.Hour} {
		j := s.Job(id)
		if left := time.Until(j.DeadlineAt); j.DeadlinePassed || left < want-time.Minute || left > want+time.Minute {
			t.Errorf("%s are left, want %s", left, want)
		}
	}
}

// TestDeadlinesMoveInBatches, and each of them once, also where a backend died in
// the middle of it.
func TestDeadlinesMoveInBatches(t *testing.T) {
	t.Parallel()
	const jobs, atOnce = 2500, 1000
	s := site.New(t)
	first := enqueue(s, job.HostProbe{HostID: s.ReadyHost(site.HostSpec{}).ID})
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "why"); err != nil {
		t.Fatal(err)
	}
	sql(s, `UPDATE queue_pauses SET paused_at = now() - INTERVAL '3 hours'`)
	sql(s, `UPDATE jobs SET created_at = now() - INTERVAL '4 hours', deadline_at = now() - INTERVAL '2 hours' WHERE id = $1`, first)
	sql(s, `INSERT INTO jobs (id, workspace_id, kind, args, state, priority, created_at, deadline_at, max_attempts, requested_by)
	        SELECT gen_random_uuid(), j.workspace_id, j.kind, '{}', 'queued', j.priority, j.created_at, j.deadline_at, j.max_attempts, j.requested_by
	          FROM jobs j, generate_series(2, $1::INT8) WHERE j.id = $2`, jobs, first)
	moved := func() int {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), s.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		var n int
		err = conn.QueryRow(t.Context(), `SELECT count(*) FROM jobs WHERE deadline_at BETWEEN now() + INTERVAL '50 minutes' AND now() + INTERVAL '70 minutes'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	more := false
	s.Tx(func(tx *store.Tx) (err error) { // by one that dies then
		more, err = tx.MoveDeadlines(t.Context())
		return err
	})
	if n := moved(); n != atOnce || !more {
		t.Errorf("%d moved at once, more: %v", n, more)
	}
	if got := claim(s, time.Minute, 1); len(got) != 0 {
		t.Errorf("claimed before the pause has ended: %+v", got)
	}
	if err := s.Intents.ResumeQueue(t.Context(), s.Call); err != nil {
		t.Fatal(err)
	}
	if n := moved(); n != jobs {
		t.Errorf("%d of %d moved by the length of the pause", n, jobs)
	}
	if got := claim(s, time.Minute, 1); len(got) != 1 {
		t.Errorf("claimed %+v", got)
	}
}

func TestPauseAndResumeOnce(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	code := func(err error) string {
		var c *domain.Conflict
		if !errors.As(err, &c) {
			return ""
		}
		return c.Code
	}
	if c := code(s.Intents.ResumeQueue(t.Context(), s.Call)); c != "queue_not_paused" {
		t.Errorf("resumed what was not paused: %q", c)
	}
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "first"); err != nil {
		t.Fatal(err)
	}
	if c := code(s.Intents.PauseQueue(t.Context(), s.Call, "second")); c != "queue_paused" {
		t.Errorf("paused twice: %q", c)
	}
	p, err := s.DB.QueuePause(t.Context())
	if err != nil || p == nil || p.Reason != "first" || p.By != "ada" || time.Since(p.At).Abs() > time.Minute {
		t.Errorf("%+v, %v", p, err)
	}
	for _, reason := range []string{"", "  ", "two\nlines"} {
		if err := s.Intents.PauseQueue(t.Context(), s.Call, reason); err == nil || code(err) != "" {
			t.Errorf("reason %q: %v", reason, err)
		}
	}
}

// TestMemoryBoundsWhatRuns: of eight slots only as many are used as there is
// room for, one at any rate, and none begins for which another, that has not
// taken its memory yet, left no room.
func TestMemoryBoundsWhatRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		room func(recent int) int
		most int64
	}{
		"room for three": {func(recent int) int { return 3 - recent }, 3},
		"room for none":  {func(int) int { return 0 }, 1},
		"less than none": {func(int) int { return -5 }, 1},
		"plenty":         {func(int) int { return 1000 }, 8},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := site.New(t)
			host := s.ReadyHost(site.HostSpec{}).ID
			var inside, most, done atomic.Int64
			const jobs = 24
			for range jobs {
				enqueue(s, job.HostProbe{HostID: host})
			}
			full := make(chan struct{})
			r := prometheus.NewRegistry()
			s.BackendWith(func(ctx context.Context, _ store.Claim, _ *queue.Log) queue.Result {
				n := inside.Add(1)
				for old := most.Load(); n > old && !most.CompareAndSwap(old, n); old = most.Load() {
				}
				if n == c.most && done.Load() == 0 {
					select {
					case <-full:
					default:
						close(full)
					}
				}
				select { // until as many run as may
				case <-full:
				case <-ctx.Done():
				}
				inside.Add(-1)
				done.Add(1)
				return queue.Result{End: queue.Succeeded}
			}, queue.Config{Slots: 8, Room: c.room, Metrics: r})
			site.Eventually(t, "all jobs", func() bool { return done.Load() == jobs })
			if most.Load() != c.most {
				t.Errorf("%d ran at once, want %d", most.Load(), c.most)
			}
			held := testkit.Scrape(t, r)["kloigos_job_claims_held_back_total"]
			if (c.most < 8) != (held > 0) {
				t.Errorf("held back %v times", held)
			}
		})
	}
}
