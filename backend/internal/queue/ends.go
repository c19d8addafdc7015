package queue

import (
	"context"
	"sync"
	"time"

	"kloigos/backend/internal/store"
)

const (
	// mostEnds is how many attempts end in one transaction at most.
	mostEnds = 250
	// endsWait bounds how long the next ends are gathered while a transaction is
	// under way: one that waits for a lock must not hold up the others.
	endsWait = 20 * time.Millisecond
	// gatherFor is how long what happens is gathered at first, where more of it is
	// to be expected: jobs that were claimed together often end together.
	gatherFor = time.Millisecond
)

// ending is an attempt that went well and whose end is to be written.
type ending struct {
	claim  store.Claim
	result Result
	err    error
	done   chan struct{} // closed when it was tried
}

// ends gathers the ends of attempts while a transaction that writes some is
// under way, so that the faster jobs end, the more of them share one. Where none
// is under way, and no other attempt either, nothing waits.
type ends struct {
	write func([]*ending)
	alone func() bool   // no other attempt is under way
	first time.Duration // how long the first waits for others

	mu      sync.Mutex
	waiting []*ending
	gathers bool // a transaction was begun lately and is under way, or the first end waits for others
}

// add has an end written and returns how that went.
func (e *ends) add(x *ending) error {
	e.mu.Lock()
	if e.waiting = append(e.waiting, x); !e.gathers {
		if e.alone() {
			e.begin()
		} else {
			e.gathers = true
			time.AfterFunc(e.first, e.next)
		}
	}
	e.mu.Unlock()
	<-x.done
	return x.err
}

// begin writes what waits; mu is held.
func (e *ends) begin() {
	n := min(len(e.waiting), mostEnds)
	batch := e.waiting[:n:n]
	e.waiting, e.gathers = e.waiting[n:], true
	next := sync.OnceFunc(e.next)
	late := time.AfterFunc(endsWait, next)
	go func() {
		e.write(batch)
		late.Stop()
		for _, x := range batch {
			close(x.done)
		}
		next()
	}()
}

// next writes what was gathered.
func (e *ends) next() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.gathers = false; len(e.waiting) > 0 {
		e.begin()
	}
}

// succeed writes the ends of attempts that went well in one transaction. Where
// that fails, because what one of them means does not fit its objects or for any
// other reason, each is written by itself.
func (q *Queue) succeed(batch []*ending) {
	ctx, cancel := context.WithTimeout(context.Background(), q.endWithin())
	defer cancel()
	if len(batch) > 1 {
		// One of them that waits for a lock leaves time for the others by themselves.
		together, enough := context.WithTimeout(ctx, q.endWithin()/3)
		err := q.succeedTogether(together, batch)
		enough()
		if err == nil {
			return
		}
		q.cfg.Logger.Info("write job ends one by one", "jobs", len(batch), "error", err)
	}
	var all sync.WaitGroup
	for _, x := range batch {
		all.Go(func() {
			x.err = q.db.InTx(ctx, func(tx *store.Tx) error { return write(ctx, tx, x.claim, x.result) })
		})
	}
	all.Wait()
}

func (q *Queue) succeedTogether(ctx context.Context, batch []*ending) error {
	all, results := make([]store.Success, len(batch)), make(map[store.Success]Result, len(batch))
	for i, x := range batch {
		all[i] = store.Success{ID: x.claim.ID, Attempt: x.claim.Attempt, Outcome: x.result.Outcome}
		results[all[i]] = x.result
	}
	var owned map[store.Success]bool
	err := q.db.InTx(ctx, func(tx *store.Tx) error {
		ours, err := tx.SucceedJobs(ctx, all)
		if err != nil {
			return err
		}
		owned = make(map[store.Success]bool, len(ours))
		for _, s := range ours {
			owned[s] = true
			if err := results[s].apply(ctx, tx, s.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i, x := range batch {
		if !owned[all[i]] {
			x.err = store.ErrLost
		}
	}
	return nil
}
