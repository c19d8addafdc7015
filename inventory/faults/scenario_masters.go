package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/inventory/faults/host"
)

// paused stops a backend past its lease while its Ansible goes on.
func paused(ctx context.Context, w *World) error {
	b, job, h, err := w.running(ctx, 4*w.spec.Lease)
	if err != nil {
		return err
	}
	before, ended := h.Number(), h.Ended()
	if err := b.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	h.Behave(host.Manners{}) // for whoever comes next; the stopped one's task has its pause
	sleep(ctx, 3*w.spec.Lease)
	now, gone := h.Number(), h.Ended()
	if err := b.Signal(syscall.SIGCONT); err != nil {
		return err
	}
	if now <= before || gone <= ended {
		return fmt.Errorf("after three leases the host was at number %d (%d before) and had ended %d runs: nobody took it over", now, before, gone-ended)
	}
	return w.succeeds(ctx, job)
}

// cutOff takes the database from a backend that still reaches the host.
func cutOff(ctx context.Context, w *World) error {
	b, job, h, err := w.running(ctx, 4*w.spec.Lease)
	if err != nil {
		return err
	}
	before := h.Number()
	b.wire.Cut()
	h.Behave(host.Manners{})
	err = await(ctx, "the one that was cut off to end its play", 2*w.spec.Lease, func() bool { return len(b.supervisors()) == 0 })
	if err != nil {
		return err
	}
	sleep(ctx, w.spec.Lease)
	b.wire.Mend()
	if err := w.succeeds(ctx, job); err != nil {
		return err
	}
	if h.Number() <= before {
		return errors.New("the host was never taken over")
	}
	return nil
}

// stopsWithin is what is promised of a cancel.
const stopsWithin = 10 * time.Second

func (w *World) cancel(ctx context.Context, job string) error {
	_, _, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.CancelJob(ctx, job, o) })
	if definite(err) {
		return nil // it has just ended
	}
	return err
}

// cancelled cancels jobs whose work on the host would take long, with their
// backend alive and with one that has just died at each failpoint.
func cancelled(ctx context.Context, w *World) error {
	points := []string{""}
	for _, p := range w.allPoints() {
		if !strings.Contains(p, ".") && p != "request_committed" && p != "end_written" && p != "step_ended" && p != "before_end" {
			points = append(points, p)
		}
	}
	for _, point := range points {
		if err := w.cancelAt(ctx, point); err != nil {
			return fmt.Errorf("cancel at %q: %w", point, err)
		}
		if err := w.revive(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) cancelAt(ctx context.Context, point string) error {
	h := w.hosts[w.someInt(len(w.hosts))]
	h.Behave(host.Manners{Pause: 30 * time.Second})
	defer h.Behave(host.Manners{})
	if point != "" {
		if err := w.arm(point); err != nil {
			return err
		}
	}
	a, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	reached := func() bool { return len(h.Active()) > 0 }
	if point != "" {
		reached = func() bool { return !w.isArmed(point) }
	}
	if err := await(ctx, "the moment to cancel", patience, reached); err != nil {
		return err
	}
	if err := w.cancel(ctx, job); err != nil {
		return err
	}
	err = await(ctx, "the work on the host to stop, and the job to end as cancelled", stopsWithin, func() bool {
		j, err := w.alive().api(w.token).GetJob(ctx, job)
		return err == nil && j.State == "cancelled" && len(h.Active()) == 0
	})
	if err != nil {
		return fmt.Errorf("%w; it has %q", err, h.Active())
	}
	h.Behave(host.Manners{})
	given, err := w.remove(ctx, a) // what is left is cleaned as after a failure
	if err != nil {
		return err
	}
	return w.succeeds(ctx, given)
}

// polite asks a backend to stop, once and then twice.
func polite(ctx context.Context, w *World) error {
	b, job, h, err := w.running(ctx, 2*time.Second)
	if err != nil {
		return err
	}
	if err := b.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	h.Behave(host.Manners{})
	if err := await(ctx, "the backend to end with its task", 20*time.Second, func() bool { return !b.Alive() }); err != nil {
		return err
	}
	if err := w.succeeds(ctx, job); err != nil {
		return err
	}
	if err := w.revive(ctx); err != nil {
		return err
	}
	b, job, h, err = w.running(ctx, 20*time.Second)
	if err != nil {
		return err
	}
	for range 2 {
		if err := b.Signal(syscall.SIGTERM); err != nil {
			return err
		}
		sleep(ctx, 100*time.Millisecond)
	}
	h.Behave(host.Manners{})
	before := h.Number()
	if err := await(ctx, "the backend to end at once", 5*time.Second, func() bool { return !b.Alive() }); err != nil {
		return err
	}
	// Handed over, and not left until its lease would have run out.
	if err := await(ctx, "another backend to go on", w.spec.Lease/2, func() bool { return h.Number() > before }); err != nil {
		return err
	}
	return w.succeeds(ctx, job)
}
