package queue_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/site"
)

// TestEndsAreGathered while one is being written, and only then; one that hangs
// holds nobody up.
func TestEndsAreGathered(t *testing.T) {
	t.Parallel()
	writes, goOn := make(chan int), make(chan struct{})
	e := queue.NewEnds(true, time.Hour, func(n int) {
		writes <- n
		<-goOn
	})
	var all sync.WaitGroup
	add := func(n int) {
		for range n {
			all.Go(e.Add)
		}
	}
	add(1)
	if n := site.Await(t, "the first write", writes); n != 1 {
		t.Errorf("%d at once, of one", n)
	}
	// The first write hangs here; what comes meanwhile is written all the same.
	add(1)
	if n := site.Await(t, "a write beside the one that hangs", writes); n != 1 {
		t.Errorf("%d at once", n)
	}
	close(goOn)
	all.Wait()
	if n := e.Waiting(); n != 0 {
		t.Errorf("%d left", n)
	}
	// All of them come before the next write, or are written one by one: each once.
	add(600)
	written, most := 0, 0
	for written < 600 {
		n := site.Await(t, "a write", writes)
		written, most = written+n, max(most, n)
	}
	all.Wait()
	if written != 600 || most > queue.MostEnds || e.Waiting() != 0 {
		t.Errorf("%d written of 600, %d at most at once, %d left", written, most, e.Waiting())
	}
}

// TestEndsWaitForOthers for a moment, where others are under way: those of jobs
// that were claimed together come together.
func TestEndsWaitForOthers(t *testing.T) {
	t.Parallel()
	writes := make(chan int, 10)
	e := queue.NewEnds(false, 2*time.Second, func(n int) { writes <- n })
	for range 10 {
		go e.Add()
	}
	if n := site.Await(t, "the write", writes); n != 10 {
		t.Errorf("%d at once, of ten", n)
	}
}

// endsOf claims some jobs that are to end well.
func endsOf(t *testing.T, s *site.Site, n int) (*queue.Queue, []store.Claim, []queue.Result) {
	t.Helper()
	host := s.ReadyHost(site.HostSpec{}).ID
	for range n {
		enqueue(s, job.HostProbe{HostID: host})
	}
	claims := claim(s, time.Hour, n)
	results := make([]queue.Result, n)
	for i := range results {
		results[i] = queue.Result{End: queue.Succeeded, Outcome: claims[i].ID.String()}
	}
	return queue.New(s.DB, nil, queue.NewSignals(), queue.Config{Worker: uuid.New()}), claims, results
}

func TestEndsShareATransaction(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	q, claims, results := endsOf(t, s, 5)
	applied := map[uuid.UUID]bool{}
	for i, c := range claims {
		results[i].Apply = func(ctx context.Context, tx *store.Tx) error {
			applied[c.ID] = true
			return nil
		}
	}
	// Another worker has one of them by now.
	sql(s, `UPDATE jobs SET attempt = 2 WHERE id = $1`, claims[2].ID)
	for i, err := range q.Succeed(claims, results) {
		if lost := errors.Is(err, store.ErrLost); lost != (i == 2) || err != nil && !lost {
			t.Errorf("%d: %v", i, err)
		}
	}
	for i, c := range claims {
		j := s.Job(c.ID)
		switch {
		case i == 2 && (j.State != domain.JobRunning || j.Outcome != ""):
			t.Errorf("written although it is another worker's: %+v", j)
		case i != 2 && (j.State != domain.JobSucceeded || j.Outcome != c.ID.String() || j.FinishedAt == nil):
			t.Errorf("%+v", j)
		}
	}
	if len(applied) != 4 || applied[claims[2].ID] {
		t.Errorf("applied %v", applied)
	}
	if testkit.IsCockroach(t) {
		return // has no xmin
	}
	sql(s, `SELECT 1 / CASE WHEN count(DISTINCT xmin::TEXT) = 1 THEN 1 ELSE 0 END FROM jobs WHERE state = 'succeeded'`)
}

// TestEndsThatDoNotFit fail by themselves: what ended beside them is written.
func TestEndsThatDoNotFit(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	q, claims, results := endsOf(t, s, 3)
	applied := make([]int, 3)
	var mu sync.Mutex
	for i := range claims {
		results[i].Apply = func(context.Context, *store.Tx) error {
			mu.Lock()
			defer mu.Unlock()
			if applied[i]++; i == 1 {
				return domain.Conflictf("x", "it does not fit")
			}
			return nil
		}
	}
	errs := q.Succeed(claims, results)
	var conflict *domain.Conflict
	if errs[0] != nil || !errors.As(errs[1], &conflict) || errs[2] != nil {
		t.Errorf("%v", errs)
	}
	for i, want := range []domain.JobState{domain.JobSucceeded, domain.JobRunning, domain.JobSucceeded} {
		if j := s.Job(claims[i].ID); j.State != want {
			t.Errorf("%d is %s, applied %v", i, j.State, applied)
		}
	}
}

// TestEndThatWaits for a lock, or panics, costs those that share its transaction a
// little time and nothing else.
func TestEndThatWaits(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	q, claims, results := endsOf(t, s, 3)
	waits := make(chan bool, 1)
	waits <- true
	results[1].Apply = func(ctx context.Context, _ *store.Tx) error {
		select {
		case <-waits:
			<-ctx.Done()
			return ctx.Err()
		default:
			panic("in what it means")
		}
	}
	errs := q.Succeed(claims, results)
	var conflict *domain.Conflict
	if errs[0] != nil || !errors.As(errs[1], &conflict) || conflict.Code != domain.ErrCodeInternal || errs[2] != nil {
		t.Errorf("%v", errs)
	}
	for i, want := range []domain.JobState{domain.JobSucceeded, domain.JobRunning, domain.JobSucceeded} {
		if j := s.Job(claims[i].ID); j.State != want {
			t.Errorf("%d is %s", i, j.State)
		}
	}
}
