package queue_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// TestTurns: whatever the number of workers, somebody looks in every slot, and
// as long as there are turns for all only one does.
func TestTurns(t *testing.T) {
	t.Parallel()
	const poll = 200 * time.Millisecond
	begin := time.Date(2026, 11, 21, 12, 0, 0, 123_456_789, time.UTC)
	for workers := range 12 {
		slots := map[int64]int{}
		const rounds = 60 // slots that are looked at
		for rank := range max(workers, 1) {
			looks := 0
			for now := begin; ; looks++ {
				wait := queue.UntilTurn(poll, rank, workers, now)
				if wait <= 0 || wait > 5*poll {
					t.Fatalf("worker %d of %d waits %s", rank, workers, wait)
				}
				if now = now.Add(wait); now.Sub(begin) > rounds*poll {
					break
				}
				if now.UnixNano()%int64(poll) != 0 {
					t.Fatalf("worker %d of %d looks at %s", rank, workers, now)
				}
				slots[now.UnixNano()/int64(poll)]++
				now = now.Add(time.Duration(looks) * time.Millisecond) // a look takes time
			}
			if want := rounds / max(1, min(workers, 5)); looks < want-1 || looks > want {
				t.Errorf("worker %d of %d looks %d times in %d slots", rank, workers, looks, rounds)
			}
		}
		if len(slots) < rounds-1 {
			t.Errorf("%d workers look in %d of %d slots", workers, len(slots), rounds)
		}
		for slot, looks := range slots {
			if want := (max(workers, 1) + 4) / 5; looks > want {
				t.Errorf("%d workers look %d times in slot %d", workers, looks, slot)
			}
		}
	}
}

// TestPlaces: the workers that are alive, and nobody else, share the ranks.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	seen := func(id uuid.UUID, roles string) store.Place {
		t.Helper()
		p, err := s.DB.SeenBackend(t.Context(), store.Backend{ID: id, Name: "b", Version: "1", Roles: roles})
		if err != nil {
			t.Fatal(err)
		}
		if p.At.IsZero() {
			t.Errorf("%+v", p)
		}
		return p
	}
	seen(uuid.New(), "api,reconciler")
	silent := uuid.New()
	seen(silent, "worker")
	sql(s, `UPDATE backends SET seen_at = now() - INTERVAL '31 seconds' WHERE id = $1`, silent)
	workers := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	if p := seen(workers[0], "worker"); p.Rank != 0 || p.Workers != 1 {
		t.Errorf("the first of all: %+v", p)
	}
	seen(workers[1], "api,worker")
	seen(workers[2], "worker")
	ranks := func(workers []uuid.UUID) (all []int) {
		for _, id := range workers {
			p := seen(id, "worker")
			if p.Workers != len(workers) {
				t.Errorf("%+v of %d", p, len(workers))
			}
			all = append(all, p.Rank)
		}
		slices.Sort(all)
		return all
	}
	if got := fmt.Sprint(ranks(workers)); got != "[0 1 2]" {
		t.Errorf("ranks %v", got)
	}
	s.Tx(func(tx *store.Tx) error { return tx.GoneBackend(t.Context(), workers[1]) })
	if got := fmt.Sprint(ranks([]uuid.UUID{workers[0], workers[2]})); got != "[0 1]" {
		t.Errorf("ranks %v after one has stopped", got)
	}
}

// TestWaitingSaysWhatIsFound by a claim and by a takeover, at every turn of
// some jobs' lives.
func TestWaitingSaysWhatIsFound(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	host := s.ReadyHost(site.HostSpec{}).ID
	says := func(when string, want store.Waiting) {
		t.Helper()
		got, err := s.DB.Waiting(t.Context())
		if err != nil || got != want {
			t.Errorf("%s: %+v, %v", when, got, err)
		}
	}
	says("nothing is there", store.Waiting{})
	holder := enqueue(s, job.HostDecommission{HostID: host})
	says("a job is queued", store.Waiting{Claimable: true})
	c := claim(s, time.Hour, 1)[0]
	s.Tx(func(tx *store.Tx) error { _, err := tx.LockHost(t.Context(), host, holder, c.Attempt); return err })
	says("it is claimed", store.Waiting{})
	waits := enqueue(s, job.HostDecommission{HostID: host})
	says("another one wants the same host", store.Waiting{})
	reads := enqueue(s, job.HostProbe{HostID: host})
	says("a third one only reads", store.Waiting{Claimable: true})
	if err := s.Intents.PauseQueue(t.Context(), s.Call, "new switches"); err != nil {
		t.Fatal(err)
	}
	says("the queue is paused", store.Waiting{})
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, holder)
	says("a worker died meanwhile", store.Waiting{Overdue: true})
	if err := s.Intents.ResumeQueue(t.Context(), s.Call); err != nil {
		t.Fatal(err)
	}
	says("the queue is not paused any more", store.Waiting{Claimable: true, Overdue: true})
	takeOver(s)
	says("its job is taken over", store.Waiting{Claimable: true})
	sql(s, `UPDATE jobs SET run_after = now() + INTERVAL '1 hour' WHERE id = $1`, reads)
	says("the rest has time or waits", store.Waiting{})
	s.Tx(func(tx *store.Tx) error {
		return tx.FinishJob(t.Context(), holder, 2, domain.JobFailed, &domain.JobError{Code: "x"}, "")
	})
	says("the holder has ended", store.Waiting{Claimable: true})
	if got := claim(s, time.Hour, 9); len(got) != 1 || got[0].ID != waits {
		t.Errorf("claimed %+v", got)
	}
}
