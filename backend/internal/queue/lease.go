package queue

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"kloigos/backend/internal/kernel/failpoint"
	"kloigos/backend/internal/store"
)

// keeping renews the lease of an attempt, in the background.
type keeping struct {
	cancel context.CancelFunc
	first  *time.Timer
	done   chan struct{}
	ending atomic.Bool // the attempt's own end is being written: a lease that is gone is no miss
}

// keepLease has the lease renewed until stop is called. Until the first renewal
// is due that is a timer and no goroutine: many jobs have ended by then.
func (q *Queue) keepLease(ctx context.Context, c store.Claim, leased time.Time, end context.CancelCauseFunc) *keeping {
	ctx, cancel := context.WithCancel(ctx)
	k := &keeping{cancel: cancel, done: make(chan struct{})}
	k.first = time.AfterFunc(q.renewEvery(), func() {
		defer close(k.done)
		q.renew(ctx, c, leased, k, end)
	})
	return k
}

// stop waits for a renewal that is under way.
func (k *keeping) stop() {
	k.cancel()
	if !k.first.Stop() {
		<-k.done
	}
}

func (q *Queue) renewEvery() time.Duration { return min(q.cfg.Lease/3, time.Second) }

// giveUp is how long after its last renewal an attempt lets go of its job.
func (q *Queue) giveUp() time.Duration { return q.cfg.Lease * 3 / 4 }

// renewWithin is how long one try of a renewal may take while there is time for
// several: one that meets a node which fell silent leaves the rest to another.
const renewWithin = 5 * time.Second

// untilWhen is when a try that begins now is given up. The last one has all the
// time that is left, since a database may also be slow.
func untilWhen(now, giveUp time.Time) time.Time {
	if giveUp.Sub(now) > 2*renewWithin {
		return now.Add(renewWithin)
	}
	return giveUp
}

// renew keeps the lease, and ends the job's context when it is to be stopped
// or when the lease could not be renewed in time.
func (q *Queue) renew(ctx context.Context, c store.Claim, leased time.Time, k *keeping, end context.CancelCauseFunc) {
	giveUp := q.giveUp()
	for {
		if time.Since(leased) >= giveUp {
			q.metrics.misses.WithLabelValues(missedUnrenewed).Inc()
			end(ErrLeaseLost)
			return
		}
		asked := time.Now()
		try, cancel := context.WithDeadline(ctx, untilWhen(asked, leased.Add(giveUp)))
		cancelling, err := q.db.RenewLease(try, c.ID, c.Attempt, q.cfg.Worker, q.cfg.Lease)
		cancel()
		switch {
		case ctx.Err() != nil, errors.Is(err, store.ErrLost) && k.ending.Load():
			return
		case errors.Is(err, store.ErrLost):
			q.metrics.misses.WithLabelValues(missedTaken).Inc()
			end(ErrLeaseLost)
			return
		case err != nil:
			q.cfg.Logger.Warn("renew lease failed", "job", c.ID, "error", err)
		default:
			leased = asked
			q.cfg.Failpoints.Hit(failpoint.LeaseRenewed)
			if cancelling {
				end(ErrCancelled)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(min(q.renewEvery(), time.Until(leased.Add(giveUp)))): // not a moment later than it is to be given up
		}
	}
}
