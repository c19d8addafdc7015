package queue_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// attempt is a job that was claimed and does nothing.
func attempt(s *site.Site) (host uuid.UUID, c store.Claim) {
	s.T.Helper()
	host = s.ReadyHost(site.HostSpec{}).ID
	enqueue(s, job.HostDecommission{HostID: host})
	return host, claim(s, time.Hour, 1)[0]
}

func openLog(s *site.Site, c store.Claim, limit int, onLost func()) *queue.Log {
	s.T.Helper()
	l, err := queue.OpenLog(s.T.Context(), s.DB, c, limit, onLost)
	if err != nil {
		s.T.Fatal(err)
	}
	return l
}

// read pages through a log and holds its sequence against 1, 2, 3, ...
func read(s *site.Site, id uuid.UUID, page int) (all []store.LogEntry) {
	s.T.Helper()
	for {
		entries, err := s.DB.JobLog(s.T.Context(), id, int64(len(all)), page)
		if err != nil {
			s.T.Fatal(err)
		}
		for _, e := range entries {
			if all = append(all, e); e.Sequence != int64(len(all)) {
				s.T.Fatalf("entry %d has sequence %d", len(all), e.Sequence)
			}
		}
		if len(entries) == 0 {
			return all
		}
	}
}

func TestLogHasNoGapsOverAttempts(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	for n := 1; n <= 3; n++ {
		l := openLog(s, c, queue.MaxLogBytes, func() { t.Error("lost") })
		for range 450 { // more than two chunks
			l.Note("of attempt %d", n)
		}
		l.Close()
		sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, c.ID)
		c = takeOver(s)[0]
	}
	for _, page := range []int{1000, 77} {
		all := read(s, c.ID, page)
		if len(all) != 3*450 || all[0].Attempt != 1 || all[450].Attempt != 2 || all[1349].Attempt != 3 {
			t.Errorf("%d entries", len(all))
		}
	}
}

// Who has little room for a log gets it in small parts, but never nothing.
func TestLogInSmallParts(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	l := openLog(s, c, queue.MaxLogBytes, func() { t.Error("lost") })
	for _, size := range []int{10, 10_000, 10_000, 10_000, 100_000, 10} {
		l.Add(store.LogEntry{Kind: "output", Output: strings.Repeat("z", size)})
	}
	l.Close()
	var parts []int
	for after := int64(0); after < 6; {
		some, err := s.DB.JobLogPart(t.Context(), c.ID, after, 100, 21_000)
		if err != nil || len(some) == 0 || some[0].Sequence != after+1 {
			t.Fatalf("after %d: %d entries, %v", after, len(some), err)
		}
		parts = append(parts, len(some))
		after += int64(len(some))
	}
	if !slices.Equal(parts, []int{3, 1, 1, 1}) {
		t.Errorf("parts of %v", parts)
	}
}

// Nothing writes for an attempt that told nothing, nor for one that is over.
func TestLogOfNothing(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	l := openLog(s, c, queue.MaxLogBytes, func() { t.Error("lost") })
	l.Step("probe")
	l.Close()
	l.Note("too late")
	if l.Writes() {
		t.Error("it is written after its end")
	}
	l = openLog(s, c, queue.MaxLogBytes, func() { t.Error("lost") })
	l.Note("in time")
	l.Close()
	if all := read(s, c.ID, 10); len(all) != 1 || all[0].Step != "" || all[0].Message != "in time" {
		t.Errorf("%+v", all)
	}
}

func TestLogIsCapped(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	l := openLog(s, c, 100_000, func() { t.Error("lost") })
	for range 1000 {
		l.Add(store.LogEntry{Kind: "output", Output: strings.Repeat("x", 1000)})
	}
	l.Close()
	all := read(s, c.ID, 1000)
	if len(all) < 50 || len(all) > 101 || !strings.Contains(all[len(all)-1].Message, "reached its limit") {
		t.Errorf("%d entries; the last is %.80q", len(all), all[len(all)-1].Message)
	}
}

// TestSlowDatabaseSlowsTheTeller: memory stays bounded, and nothing is thrown
// away.
func TestSlowDatabaseSlowsTheTeller(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), `SELECT 1 FROM jobs WHERE id = $1 FOR UPDATE`, c.ID); err != nil {
		t.Fatal(err)
	}
	l := openLog(s, c, queue.MaxLogBytes, func() { t.Error("lost") })
	const entries, mib = 24, 1 << 20
	var told atomic.Int64
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range entries {
			l.Add(store.LogEntry{Kind: "output", Output: strings.Repeat("y", mib)})
			told.Add(1)
		}
	}()
	// It comes to rest: what was told does not grow while nothing is written.
	steady, last := 0, int64(-1)
	site.Eventually(t, "the teller to wait", func() bool {
		if n := told.Load(); n == last && n > 0 {
			steady++
		} else {
			steady, last = 0, n
		}
		return steady > 40
	})
	if n := told.Load(); n > 14 {
		t.Errorf("%d MiB wait in memory", n)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	site.Await(t, "the teller", done)
	l.Close()
	if all := read(s, c.ID, 100); len(all) != entries {
		t.Errorf("%d entries", len(all))
	}
}

// TestLogOfALostAttempt tells so, and holds nobody up.
func TestLogOfALostAttempt(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	lost := make(chan struct{}, 9)
	l := openLog(s, c, queue.MaxLogBytes, func() { lost <- struct{}{} })
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, c.ID)
	takeOver(s)
	l.Note("too late")
	site.Await(t, "the log to notice", lost)
	for range 20 {
		l.Add(store.LogEntry{Output: strings.Repeat("z", 1<<20)})
	}
	l.Close()
	if all := read(s, c.ID, 10); len(all) != 0 {
		t.Errorf("%+v", all)
	}
}

// TestLogOutlastsTheDatabase: what was told while the database refused everything is there when it is back, and the attempt
// goes on; it is given up where that takes as long as its lease.
func TestLogOutlastsTheDatabase(t *testing.T) {
	t.Parallel()
	for _, of := range []struct {
		name         string
		away, within time.Duration
	}{{"it comes back", 4 * time.Second, time.Minute}, {"it does not", time.Minute, 3 * time.Second}} {
		t.Run(of.name, func(t *testing.T) {
			t.Parallel()
			s := site.New(t)
			_, c := attempt(s)
			lost := make(chan struct{}, 9)
			l := openLog(s, c, queue.MaxLogBytes, func() { lost <- struct{}{} })
			l.Within(of.within)
			sql(s, `ALTER TABLE job_log RENAME TO job_log_away`)
			l.Note("while it is away")
			select {
			case <-lost:
				if of.away < of.within {
					t.Error("the attempt was given up")
				}
			case <-time.After(min(of.away, 20*time.Second)):
				if of.away > of.within {
					t.Error("the attempt was not given up")
				}
			}
			sql(s, `ALTER TABLE job_log_away RENAME TO job_log`)
			l.Close()
			want := 0
			if of.away < of.within {
				want = 1
			}
			if all := read(s, c.ID, 10); len(all) != want {
				t.Errorf("%d entries, want %d", len(all), want)
			}
		})
	}
}

// TestTakeoverWaitsForTheLog: the next attempt can't begin to number its
// entries while a chunk of this one is being written.
func TestTakeoverWaitsForTheLog(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, c := attempt(s)
	sql(s, `UPDATE jobs SET lease_expires_at = now() - INTERVAL '1 second' WHERE id = $1`, c.ID)
	var early int
	s.Tx(func(tx *store.Tx) error {
		if err := tx.AppendLog(t.Context(), c.ID, c.Attempt, []store.LogEntry{{Sequence: 1, Attempt: c.Attempt}}); err != nil {
			return err
		}
		return s.DB.InTx(t.Context(), func(other *store.Tx) error {
			claims, err := other.TakeOverJobs(t.Context(), uuid.New(), time.Minute, 5)
			early = len(claims)
			return err
		})
	})
	if early != 0 {
		t.Error("taken over while its log was being written")
	}
	if next := takeOver(s); next[0].Attempt != 2 {
		t.Errorf("%+v", next)
	}
	if last, err := s.DB.LastSequence(t.Context(), c.ID); err != nil || last != 1 {
		t.Errorf("the next attempt goes on at %d, %v", last+1, err)
	}
}
