package queue

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/store"
)

// soonWithin is how long a claim waits for what is about to be enqueued.
const soonWithin = 20 * time.Millisecond

// claimSoon begins a claim while what it is to find is being committed, so that
// a job waits for no more than it must. Where jobs run already they have the
// processors, and one more claim would only take from them; CockroachDB would
// claim what was there when the transaction began.
func (q *Queue) claimSoon(stop, hard context.Context) {
	if len(q.slots) > 0 || q.db.Cockroach() {
		return
	}
	woken := false
	ok := q.claim(stop, hard, func(tx *store.Tx, ctx context.Context, worker uuid.UUID, lease time.Duration, limit int) ([]store.Claim, error) {
		if err := tx.PrepareClaim(ctx); err != nil {
			return nil, err
		}
		if !woken { // by a try before this one
			woken = q.isWoken(stop)
		}
		if !woken {
			return nil, nil
		}
		return tx.ClaimJobs(ctx, worker, lease, limit)
	})
	if woken && !ok { // its connection died while it waited, say
		q.Wake()
	}
}

// came forgets that something was about to come.
func (q *Queue) came() {
	select {
	case <-q.soon:
	default:
	}
}

func (q *Queue) isWoken(stop context.Context) bool {
	timer := time.NewTimer(soonWithin)
	defer timer.Stop()
	select {
	case <-q.wake:
		return true
	case <-q.freed: // something may wait for the slot
		return true
	case <-stop.Done(): // nothing is claimed only to be handed over
		return false
	case <-timer.C: // it was not committed, or slowly: Wake is heard like any other
		return false
	}
}
