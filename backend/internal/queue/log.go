package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/store"
)

const (
	flushEvery   = 100 * time.Millisecond
	flushEntries = 200
	flushBytes   = 1 << 20
	// leastLogWithin is how long a database may be away from a log, however short
	// the lease: by then the renewals have given it up.
	leastLogWithin = 3 * time.Second
	// MaxLogBytes caps what one attempt may write into its log.
	MaxLogBytes = 256 << 20
)

// Log takes what an attempt tells and writes it in chunks, in order. Adding
// waits when the database is slower than what is told, so memory is bounded.
type Log struct {
	db        *store.DB
	signals   *Signals
	claim     store.Claim
	onLost    func()
	onWritten func(rows int)
	points    failpoint.Points
	within    time.Duration // how long the database may be away until the attempt is given up

	mu      sync.Mutex
	room    *sync.Cond
	pending []store.LogEntry
	bytes   int // of pending
	written int // bytes of the whole attempt
	limit   int // of written; MaxLogBytes
	next    int64
	step    string
	capped  bool
	lost    bool
	runs    bool // there is something to write, so that run does; or no more is written
	kick    chan struct{}
	stop    chan struct{}
	done    chan struct{}
}

func newLog(ctx context.Context, db *store.DB, signals *Signals, c store.Claim, within time.Duration, points failpoint.Points) (*Log, error) {
	var last int64
	if c.Attempt > 1 { // nobody can have told anything before the first
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		var err error
		if last, err = db.LastSequence(ctx, c.ID); err != nil {
			return nil, fmt.Errorf("find the end of the log: %w", err)
		}
	}
	l := &Log{
		db: db, signals: signals, claim: c, next: last + 1, limit: MaxLogBytes, onLost: func() {}, onWritten: func(int) {}, points: points, within: within,
	}
	l.room = sync.NewCond(&l.mu)
	return l, nil
}

// Step names the step that the following entries belong to.
func (l *Log) Step(name string) {
	l.mu.Lock()
	l.step = name
	l.mu.Unlock()
}

// Note adds a line of the worker's own.
func (l *Log) Note(format string, args ...any) {
	l.Add(store.LogEntry{Kind: "note", Message: fmt.Sprintf(format, args...)})
}

// Add adds an entry; its sequence, attempt, step and, if zero, time are set
// here.
func (l *Log) Add(e store.LogEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.bytes > 4*flushBytes && !l.lost {
		l.room.Wait()
	}
	if l.lost || l.capped {
		return
	}
	size := len(e.Message) + len(e.Output) + len(e.Diff) + 200
	if l.written += size; l.written > l.limit {
		l.capped = true
		e = store.LogEntry{Kind: "note", Message: "The log of this attempt has reached its limit; what follows is left out."}
	}
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	e.Sequence, e.Attempt, e.Step = l.next, l.claim.Attempt, l.step
	l.next++
	l.pending = append(l.pending, e)
	if !l.runs {
		l.runs = true
		l.kick, l.stop, l.done = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
		go l.run()
	}
	if l.bytes += size; len(l.pending) >= flushEntries || l.bytes >= flushBytes {
		select {
		case l.kick <- struct{}{}:
		default:
		}
	}
}

func (l *Log) run() {
	defer close(l.done)
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			l.flush()
			return
		case <-l.kick:
		case <-tick.C:
		}
		l.flush()
	}
}

// flush writes what is pending. A database that does not answer, or refuses, is
// tried again until the attempt's lease must be gone; what was told is not thrown
// away.
func (l *Log) flush() {
	l.mu.Lock()
	batch := l.pending
	l.pending, l.bytes = nil, 0
	l.room.Broadcast()
	l.mu.Unlock()
	until := time.Now().Add(l.within)
	for try := 1; len(batch) > 0; try++ {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		err := l.db.InTx(ctx, func(tx *store.Tx) error { return tx.AppendLog(ctx, l.claim.ID, l.claim.Attempt, batch) })
		var last int64
		if errors.Is(err, store.ErrLost) && try > 1 { // our own try may have been applied
			last, _ = l.db.LastSequence(ctx, l.claim.ID)
		}
		cancel()
		switch {
		case err == nil, last == batch[len(batch)-1].Sequence:
			l.points.Hit(failpoint.LogFlushed)
			l.onWritten(len(batch))
			l.signals.Notify(l.claim.ID)
			return
		case errors.Is(err, store.ErrLost), time.Now().After(until):
			slog.Warn("job log belongs to another worker now", "job", l.claim.ID, "error", err)
			l.mu.Lock()
			l.lost = true
			l.room.Broadcast()
			l.mu.Unlock()
			l.onLost()
			return
		}
		time.Sleep(time.Duration(min(try, 5)) * 200 * time.Millisecond)
	}
}

// close writes what is left.
func (l *Log) close() {
	l.mu.Lock()
	ran := l.runs
	l.runs = true // whatever is told from now on is not written
	l.mu.Unlock()
	if ran {
		close(l.stop)
		<-l.done
	}
}
