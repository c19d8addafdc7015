package queue

import (
	"context"
	"time"

	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/store"
)

// OpenLog opens the log of an attempt with a limit of its own.
func OpenLog(ctx context.Context, db *store.DB, c store.Claim, limit int, onLost func()) (*Log, error) {
	l, err := newLog(ctx, db, NewSignals(), c, time.Minute, failpoint.Points{})
	if err == nil {
		l.limit, l.onLost = limit, onLost
	}
	return l, err
}

// Within sets how long the database may be away.
func (l *Log) Within(d time.Duration) { l.within = d }

// Close writes what is left.
func (l *Log) Close() { l.close() }

// Writes tells whether something has begun to write.
func (l *Log) Writes() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.done != nil
}

// Attempt runs one attempt of a job to its end, as Run does with what it has
// claimed.
func (q *Queue) Attempt(stop, hard context.Context, c store.Claim) {
	q.attempt(stop, hard, c, time.Now())
}

// UntilTurn is how long a worker waits for its turn.
var UntilTurn = untilTurn

// MostEnds is how many ends one write has at most.
const MostEnds = mostEnds

// Ends gathers what is to be written, for a write of the test's own.
type Ends struct{ ends }

// NewEnds makes one whose writes are told how many ends they write.
func NewEnds(alone bool, first time.Duration, write func(n int)) *Ends {
	return &Ends{ends{alone: func() bool { return alone }, first: first, write: func(batch []*ending) { write(len(batch)) }}}
}

// Add waits until an end is written.
func (e *Ends) Add() { _ = e.add(&ending{done: make(chan struct{})}) }

// Waiting is how many ends wait for the next write.
func (e *Ends) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.waiting)
}

// Succeed writes several ends at once and returns how each went.
func (q *Queue) Succeed(claims []store.Claim, results []Result) []error {
	batch, errs := make([]*ending, len(claims)), make([]error, len(claims))
	for i := range batch {
		batch[i] = &ending{claim: claims[i], result: results[i]}
	}
	q.succeed(batch)
	for i, x := range batch {
		errs[i] = x.err
	}
	return errs
}
