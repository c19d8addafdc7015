package recent_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kloigos/backend/internal/kernel/recent"
)

// slow reads for a second and counts how often.
func slow(reads *atomic.Int64) *recent.Reads[string, int] {
	return &recent.Reads[string, int]{For: 2 * time.Second, Within: 5 * time.Second, Read: func(ctx context.Context, _ string) (int, error) {
		n := int(reads.Add(1))
		select {
		case <-time.After(time.Second):
			return n, nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}}
}

func TestManyAskAndOneReads(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		r := slow(&reads)
		var all sync.WaitGroup
		ask := func(key string, want int) {
			all.Go(func() {
				if n, err := r.Get(t.Context(), key); err != nil || n != want {
					t.Errorf("%d, %v, want %d", n, err, want)
				}
			})
		}
		for range 100 {
			ask("a", 1)
		}
		all.Wait()
		time.Sleep(2*time.Second - time.Nanosecond)
		ask("a", 1) // not too old yet
		all.Wait()
		time.Sleep(time.Nanosecond)
		ask("a", 2)
		synctest.Wait()
		ask("b", 3) // another key waits for nobody
		all.Wait()
		if n := reads.Load(); n != 3 {
			t.Errorf("%d reads", n)
		}
	})
}

// Who asks often waits for the first read only, and gets no result that is too old.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		var fails atomic.Bool
		r := slow(&reads) // takes a second, and is good for two
		r.Ahead = time.Second / 2
		read := r.Read
		r.Read = func(ctx context.Context, key string) (int, error) {
			n, err := read(ctx, key)
			if fails.Load() {
				err = errors.New("no answer")
			}
			return n, err
		}
		ask := func(want int, waits time.Duration) {
			t.Helper()
			at := time.Now()
			n, err := r.Get(t.Context(), "a")
			if err != nil || n != want || time.Since(at) != waits {
				t.Errorf("%d, %v after %s; want %d after %s", n, err, time.Since(at), want, waits)
			}
		}
		ask(1, time.Second)
		time.Sleep(time.Second / 2)
		ask(1, 0) // begins the second read
		ask(1, 0)
		time.Sleep(time.Second + time.Nanosecond)
		ask(2, 0)
		fails.Store(true)
		time.Sleep(time.Second / 2)
		ask(2, 0) // begins the third read, which fails; the second result stays
		time.Sleep(time.Second + time.Nanosecond)
		ask(2, 0) // begins the fourth, which comes too late
		fails.Store(false)
		time.Sleep(time.Second / 2)
		ask(5, time.Second)
		time.Sleep(time.Second)
		if n := reads.Load(); n != 5 {
			t.Errorf("%d reads", n)
		}
	})
}

// Who no longer waits takes nothing away from the others, not even who asked
// first.
func TestOneThatGivesUpDoesNotEndTheRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads atomic.Int64
		r := slow(&reads)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second/2)
		defer cancel()
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := r.Get(ctx, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("the first: %v", err)
			}
			if took := time.Since(begun(ctx)); took != time.Second/2 {
				t.Errorf("it waited for %s", took)
			}
		})
		synctest.Wait()
		if n, err := r.Get(t.Context(), "a"); err != nil || n != 1 {
			t.Errorf("the second: %d, %v", n, err)
		}
		all.Wait()
	})
}

// begun is when a context of half a second was made.
func begun(ctx context.Context) time.Time {
	end, _ := ctx.Deadline()
	return end.Add(-time.Second / 2)
}

// A read that hangs is ended, all who wait are told, and the next asks anew.
func TestAReadThatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hang := true
		r := &recent.Reads[string, int]{For: time.Hour, Within: 5 * time.Second, Read: func(ctx context.Context, _ string) (int, error) {
			if hang {
				<-ctx.Done()
				return 0, ctx.Err()
			}
			return 7, nil
		}}
		at := time.Now()
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := r.Get(t.Context(), "a"); !errors.Is(err, context.DeadlineExceeded) || time.Since(at) != 5*time.Second {
					t.Errorf("%v after %s", err, time.Since(at))
				}
			})
		}
		all.Wait()
		hang = false
		if n, err := r.Get(t.Context(), "a"); err != nil || n != 7 {
			t.Errorf("after that: %d, %v", n, err)
		}
	})
}
