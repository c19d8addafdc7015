package queue

import (
	"context"
	"errors"
	"time"

	"kloigos/backend/internal/failpoint"
	"kloigos/backend/internal/store"
)

// keepLease has the lease renewed until stop is called, which waits for a
// renewal that is under way. Until the first is due that is a timer and no
// goroutine: many jobs have ended by then.
func (q *Queue) keepLease(ctx context.Context, c store.Claim, leased time.Time, end context.CancelCauseFunc) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	first := time.AfterFunc(q.renewEvery(), func() {
		defer close(done)
		q.renew(ctx, c, leased, end)
	})
	return func() {
		cancel()
		if !first.Stop() {
			<-done
		}
	}
}

func (q *Queue) renewEvery() time.Duration { return min(q.cfg.Lease/3, time.Second) }

// renew keeps the lease, and ends the job's context when it is to be stopped
// or when the lease could not be renewed in time.
func (q *Queue) renew(ctx context.Context, c store.Claim, leased time.Time, end context.CancelCauseFunc) {
	giveUp := q.cfg.Lease * 3 / 4
	for {
		if time.Since(leased) >= giveUp {
			q.metrics.misses.WithLabelValues(missedUnrenewed).Inc()
			end(ErrLeaseLost)
			return
		}
		asked := time.Now()
		try, cancel := context.WithDeadline(ctx, leased.Add(giveUp))
		var cancelling bool
		err := q.db.InTx(try, func(tx *store.Tx) (err error) {
			cancelling, err = tx.RenewLease(try, c.ID, c.Attempt, q.cfg.Lease)
			return err
		})
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, store.ErrLost):
			q.metrics.misses.WithLabelValues(missedTaken).Inc()
			end(ErrLeaseLost)
			return
		case err != nil:
			q.cfg.Logger.Warn("renew lease", "job", c.ID, "error", err)
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
		case <-time.After(q.renewEvery()):
		}
	}
}
