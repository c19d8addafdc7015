package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"kloigos/rig/faults/host"
)

// changing are the kinds of jobs that are tried where one does and others may
// differ: one, or with much time those that change a host in other ways as well.
func (w *World) changing() []string {
	if w.long {
		return []string{"unit_allocate", "unit_deallocate", "host_initialize", "host_decommission", "allocation_keys", "host_relayout"}
	}
	return []string{"unit_allocate"}
}

// paused stops a backend past its lease while its Ansible goes on.
func paused(ctx context.Context, w *World) error {
	for _, kind := range w.changing() {
		if err := w.pausedIn(ctx, kind); err != nil {
			return fmt.Errorf("in %s: %w", kind, err)
		}
	}
	return nil
}

func (w *World) pausedIn(ctx context.Context, kind string) error {
	b, p, err := w.running(ctx, kind, 4*w.spec.Lease)
	if err != nil {
		return err
	}
	h := p.host
	ended := h.Ended()
	if err := b.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	h.Behave(host.Manners{}) // for whoever comes next; the stopped one's task has its pause
	sleep(ctx, 3*w.spec.Lease)
	gone := h.Ended() - ended
	if err := b.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	if gone == 0 {
		return errors.New("after three leases the host had ended no run: nobody took it over")
	}
	if err := w.succeeds(ctx, p.job); err != nil {
		return err
	}
	return p.mend(ctx)
}

// cutOff takes the database from a backend that still reaches the host.
func cutOff(ctx context.Context, w *World) error {
	b, p, err := w.running(ctx, "unit_allocate", 4*w.spec.Lease)
	if err != nil {
		return err
	}
	h := p.host
	before := h.Number()
	b.wire.Cut()
	h.Behave(host.Manners{})
	err = await(ctx, "the one that was cut off to end its play", 3*w.spec.Lease, func() bool { return len(b.supervisors()) == 0 })
	if err != nil {
		return err
	}
	sleep(ctx, w.spec.Lease)
	b.wire.Mend()
	if err := w.succeeds(ctx, p.job); err != nil {
		return err
	}
	if h.Number() <= before {
		return errors.New("the host was never taken over")
	}
	return nil
}

// polite asks backends to stop, once and twice, and twice while nothing that is
// queued may begin: what is half done is not among that.
func polite(ctx context.Context, w *World) error {
	for _, kind := range w.changing() {
		if err := w.finishes(ctx, kind); err != nil {
			return fmt.Errorf("once, in %s: %w", kind, err)
		}
		if err := w.handsOver(ctx, kind, func(do func() error) error { return do() }); err != nil {
			return fmt.Errorf("twice, in %s: %w", kind, err)
		}
		if err := w.handsOver(ctx, kind, func(do func() error) error { return w.whilePaused(ctx, do) }); err != nil {
			return fmt.Errorf("twice, in %s, while the queue is paused: %w", kind, err)
		}
	}
	return nil
}

// finishes asks a backend to stop, which ends with the task that it has.
func (w *World) finishes(ctx context.Context, kind string) error {
	b, p, err := w.running(ctx, kind, 2*time.Second)
	if err != nil {
		return err
	}
	if err := b.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	p.host.Behave(host.Manners{})
	if err := await(ctx, "the backend to end with its task", 20*time.Second, func() bool { return !b.Alive() }); err != nil {
		return err
	}
	if err := w.succeeds(ctx, p.job); err != nil {
		return err
	}
	if err := w.revive(ctx); err != nil {
		return err
	}
	return p.mend(ctx)
}

// handsOver asks a backend twice to stop, under what during brings about.
func (w *World) handsOver(ctx context.Context, kind string, during func(func() error) error) error {
	b, p, err := w.running(ctx, kind, 20*time.Second)
	if err != nil {
		return err
	}
	err = during(func() error {
		ended := p.host.Ended()
		for range 2 {
			if err := b.Signal(syscall.SIGTERM); err != nil {
				return err
			}
			sleep(ctx, 100*time.Millisecond)
		}
		p.host.Behave(host.Manners{})
		if err := await(ctx, "the backend to end at once", 5*time.Second, func() bool { return !b.Alive() }); err != nil {
			return err
		}
		// Handed over, and not left until its lease would have run out.
		if err := await(ctx, "another backend to go on", w.spec.Lease/2, func() bool { return p.host.Ended() > ended }); err != nil {
			return err
		}
		return w.succeeds(ctx, p.job)
	})
	if err != nil {
		return err
	}
	if err := w.revive(ctx); err != nil {
		return err
	}
	return p.mend(ctx)
}
