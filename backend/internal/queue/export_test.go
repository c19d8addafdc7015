package queue

import (
	"context"
	"time"

	"kloigos/backend/internal/failpoint"
	"kloigos/backend/internal/store"
)

// OpenLog opens the log of an attempt with a limit of its own.
func OpenLog(ctx context.Context, db *store.DB, c store.Claim, limit int, onLost func()) (*Log, error) {
	l, err := newLog(ctx, db, NewSignals(), c, failpoint.Points{})
	if err == nil {
		l.limit, l.onLost = limit, onLost
	}
	return l, err
}

// Close writes what is left.
func (l *Log) Close() { l.close() }

// Attempt runs one attempt of a job to its end, as Run does with what it has
// claimed.
func (q *Queue) Attempt(stop, hard context.Context, c store.Claim) {
	q.attempt(stop, hard, c, time.Now())
}

// UntilTurn is how long a worker waits for its turn.
var UntilTurn = untilTurn
