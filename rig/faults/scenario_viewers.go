package faults

import (
	"context"
	"errors"
	"sync"
	"time"

	"kloigos/rig/faults/host"
)

// viewers follow a job from all backends while those are killed and come back:
// each reads the whole log in order, nothing twice, and its end.
func viewers(ctx context.Context, w *World) error {
	h := w.hosts[0]
	h.Behave(host.Manners{Lines: 3000, Pause: 2 * time.Second})
	_, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var errs []error
	var all sync.WaitGroup
	watch := func(follow func() error) {
		all.Go(func() {
			if err := follow(); err != nil {
				mu.Lock()
				errs = append(errs, err)
				mu.Unlock()
			}
		})
	}
	for n := range 24 {
		c := w.backends[n%len(w.backends)].api(w.token)
		watch(func() error { return w.follow(ctx, c, job, 3000) })
	}
	for _, b := range w.backends {
		watch(func() error { return w.raw(b, job).follow(ctx, 3000) })
	}
	for range 4 {
		sleep(ctx, w.between(500*time.Millisecond, 1500*time.Millisecond))
		b := w.alive()
		if err := b.Kill(); err != nil {
			return err
		}
		if err := b.Start(ctx); err != nil {
			return err
		}
	}
	h.Behave(host.Manners{Lines: 3000}) // the last attempt tells as much, and takes no longer than it must
	err = w.succeeds(ctx, job)
	all.Wait()
	return errors.Join(append(errs, err)...)
}
