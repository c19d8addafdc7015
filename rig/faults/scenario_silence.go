package faults

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/rig/faults/host"
)

// silence lets packets vanish between backends and the database: connections are
// half open, and nobody is told. First one backend in the middle of its play,
// then two whose COMMITs are under way, then all at once.
func silence(ctx context.Context, w *World) error {
	if err := w.silentInPlay(ctx); err != nil {
		return err
	}
	for range w.times(1) {
		others := []Purpose{Claims, Logs, Keyed}
		other := others[w.someInt(len(others))]
		if err := w.silentAt(ctx, Ends, other); err != nil {
			return fmt.Errorf("silent at COMMITs of %s and %s: %w", Ends, other, err)
		}
		// What was left may have filled a host, and from here on each has to have room.
		if err := w.vacate(ctx); err != nil {
			return err
		}
		if err := w.allSilent(ctx); err != nil {
			return fmt.Errorf("all backends silent: %w", err)
		}
	}
	return w.silentForGood(ctx)
}

// silentInPlay holds that a backend that hears nothing ends its play, and that
// its job goes on elsewhere and ends while it is still silent.
func (w *World) silentInPlay(ctx context.Context) error {
	b, p, err := w.running(ctx, "unit_allocate", 4*w.spec.Lease)
	if err != nil {
		return err
	}
	h := p.host
	before := h.Number()
	b.wire.Silence()
	defer b.wire.Mend()
	h.Behave(host.Manners{})
	if err := await(ctx, "the silent one to end its play", 3*w.spec.Lease, func() bool { return len(b.supervisors()) == 0 }); err != nil {
		return err
	}
	if err := w.succeeds(ctx, p.job); err != nil {
		return err
	}
	if h.Number() <= before {
		return errors.New("the host was never taken over")
	}
	return nil
}

// silentAt has the database wait for COMMITs of one backend each, with all that
// they lock, until after their leases: they arrive late, or their senders have
// gone.
func (w *World) silentAt(ctx context.Context, purposes ...Purpose) error {
	w.behave(host.Manners{Lines: 20})
	stop := w.tenants(ctx, 6)
	defer stop()
	for n, of := range purposes {
		b := w.backends[n]
		b.wire.SilenceAt(of)
		if err := await(ctx, "a COMMIT of "+of.String(), patience, b.wire.Silent); err != nil {
			return err
		}
	}
	sleep(ctx, w.spec.Lease*3/2)
	for _, b := range w.backends {
		b.wire.Mend()
	}
	stop()
	return w.settle(ctx)
}

// allSilent takes the database from all at once, for longer than a lease, and
// holds that what they had in hand was taken over and ended well.
func (w *World) allSilent(ctx context.Context) error {
	w.behave(host.Manners{Pause: 2 * time.Second})
	begun := time.Now()
	for _, h := range w.hosts {
		if _, _, err := w.create(ctx, h.Name); err != nil {
			return err
		}
	}
	if err := w.underWay(ctx, len(w.hosts)); err != nil {
		return err
	}
	for _, b := range w.backends {
		b.wire.Silence()
	}
	w.behave(host.Manners{})
	sleep(ctx, w.spec.Lease*3/2)
	for _, b := range w.backends {
		b.wire.Mend()
	}
	if err := w.settle(ctx); err != nil {
		return err
	}
	return w.takenOver(ctx, begun, len(w.hosts))
}

// silentForGood leaves a backend silent in the middle of the transaction that
// ends its job, as when its machine has lost its power: the database waits for
// the rest of it, and keeps the job's row locked, for as long as the backend's
// connection told it to. Then the job goes on elsewhere.
func (w *World) silentForGood(ctx context.Context) error {
	if w.cockroach { // which has a limit by itself: it has a lease on its transactions
		return nil
	}
	b, p, err := w.running(ctx, "unit_allocate", time.Second)
	if err != nil {
		return err
	}
	b.wire.SilenceAt(Ends)
	defer b.wire.Mend()
	p.host.Behave(host.Manners{})
	if err := await(ctx, "the job's end to be under way", patience, b.wire.Silent); err != nil {
		return err
	}
	return w.succeeds(ctx, p.job)
}
