package queue

import (
	"sync/atomic"
	"time"

	"kloigos/backend/internal/store"
)

// mostTurns bounds how long a worker goes without a look, to five polls: where
// there are more workers, some look at the same time. Those whose turn comes
// first may have no slot free.
const mostTurns = 5

// turns says when a worker looks at the queue. Time is cut into slots of one
// poll by the database's clock, and the workers look in turns, each in every
// nth slot: together as often as one by itself. Until a worker knows its place
// it looks in every slot.
type turns struct {
	poll  time.Duration
	place atomic.Pointer[placed]
}

// placed is a place and when it was asked for, by the monotonic clock.
type placed struct {
	store.Place
	asked time.Time
}

// SetPlace tells the queue where its worker stands among those that are alive,
// as the database said when it was asked then. A worker that died keeps its turn
// until the others see that it is gone; what comes in it waits for the next one.
func (q *Queue) SetPlace(p store.Place, asked time.Time) {
	q.turns.place.Store(&placed{p, asked})
}

// wait is how long it is until this worker's next turn, which is not now.
func (t *turns) wait() time.Duration {
	p := t.place.Load()
	if p == nil {
		return t.poll
	}
	return untilTurn(t.poll, p.Rank, p.Workers, p.At.Add(time.Since(p.asked)))
}

func untilTurn(poll time.Duration, rank, workers int, now time.Time) time.Duration {
	n := min(max(workers, 1), mostTurns)
	round := poll * time.Duration(n)
	into := time.Duration(now.UnixNano()) - poll*time.Duration(rank%n) // since some turn of this worker's
	return round - into%round
}
