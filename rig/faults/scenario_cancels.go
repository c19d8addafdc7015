package faults

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// stopsWithin is what is promised of a cancel.
const stopsWithin = 10 * time.Second

// tooLong is longer than a cancel may take: a task that lasts for so long was ended.
const tooLong = 3 * stopsWithin

// cancel cancels a job unless it has ended. One that was begun at the same moment
// has moved, which is told, and is cancelled by asking once more.
func (w *World) cancel(ctx context.Context, job string) error {
	for {
		_, _, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.CancelJob(ctx, job, o) })
		if !definite(err) {
			return err
		}
		j, gone := retried(ctx, w, func(c *client.Client) (api.Job, error) { return c.GetJob(ctx, job) })
		if gone != nil || j.FinishedAt != nil {
			return gone
		}
		if !sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("cancel a job that is %s: %w", j.State, err)
		}
	}
}

// moment is one at which a job is cancelled.
type moment struct {
	kind  string // of the job
	point string // its backend has just died there; "" for one that lives
	// again: not at once, but when whoever took over works on the host.
	again bool
}

func (m moment) String() string {
	return m.kind + map[bool]string{true: ", which goes on elsewhere after ", false: " at "}[m.again] + fmt.Sprintf("%q", m.point)
}

// moments are those that are tried. Where a play has ended and somebody takes
// over, he does it again, or the next one: that is what is cancelled then. With
// much time it is also cancelled before, and so are all kinds that change a host
// wherever such a job can be met.
func (w *World) moments() []moment {
	kinds := []string{"unit_allocate"}
	if w.long {
		kinds = append(kinds, "unit_deallocate", "host_initialize", "host_decommission", "allocation_keys", "host_relayout")
	}
	var all []moment
	for _, kind := range kinds {
		all = append(all, moment{kind: kind})
		for _, point := range w.suite.points {
			// Keys are replaced by a PUT: one that is repeated because its answer
			// was lost makes a second job, and one of them is not cancelled.
			if strings.Contains(point, "<") || point == "step_ended" || kind == "allocation_keys" && point == "request_committed" {
				continue
			}
			if all = append(all, moment{kind: kind, point: point, again: point == "before_end"}); w.long && point == "before_end" {
				all = append(all, moment{kind: kind, point: point})
			}
		}
	}
	all = append(all, moment{kind: "unit_deallocate"}, moment{kind: "host_initialize", point: "step_ended", again: true})
	for _, play := range plays {
		if w.long {
			all = append(all, moment{play.kind, play.point, true}, moment{play.kind, play.point, false})
		} else if play.kind == "unit_allocate" {
			all = append(all, moment{play.kind, play.point, true})
		}
	}
	return all
}

// cancelled cancels jobs whose work on the host would take long, with their
// backend alive and with one that has just died at each failpoint.
func cancelled(ctx context.Context, w *World) error {
	var left []*piece
	for _, m := range w.moments() {
		p, err := w.prepare(ctx, m.kind)
		if err == nil {
			err = w.cancelAt(ctx, m, p)
		}
		if left = append(left, p); err == nil && len(left) == unitsEach/2 {
			err, left = w.mendAll(ctx, left), nil
		}
		if err != nil {
			return fmt.Errorf("cancel %s: %w", m, err)
		}
	}
	if err := w.mendAll(ctx, left); err != nil {
		return err
	}
	if err := w.cancelBetweenTries(ctx); err != nil {
		return fmt.Errorf("cancel between two tries: %w", err)
	}
	return nil
}

// mendAll mends what was cancelled, all of it at once.
func (w *World) mendAll(ctx context.Context, all []*piece) error {
	errs := make(chan error, len(all))
	for _, p := range all {
		go func() { errs <- p.mend(ctx) }()
	}
	var err error
	for range all {
		err = errors.Join(err, <-errs)
	}
	return err
}

func (w *World) cancelAt(ctx context.Context, m moment, p *piece) error {
	defer p.host.Behave(host.Manners{})
	if m.point != "" {
		if err := w.arm(m.point); err != nil {
			return err
		}
	}
	if err := p.begin(ctx, w.until(m, p)); err != nil {
		return err
	}
	if err := w.reaches(ctx, m, p); err != nil {
		return err
	}
	revived := make(chan error, 1)
	go func() { revived <- w.revive(ctx) }()
	err := w.stops(ctx, p, map[bool]string{true: "succeeded", false: "cancelled"}[m.point == "end_written"])
	return errors.Join(err, <-revived)
}

// until is how the host behaves until the moment: what happens after the end of a
// play is not waited for behind a slow one.
func (w *World) until(m moment, p *piece) host.Manners {
	if m.again || m.point == "end_written" || m.point == "before_end" || strings.HasPrefix(m.point, "play_done.") {
		return host.Manners{}
	}
	return p.slow(tooLong)
}

// reaches waits for the moment.
func (w *World) reaches(ctx context.Context, m moment, p *piece) error {
	if m.point == "" {
		return await(ctx, "the play on the host", patience, func() bool { return len(p.host.Active()) > 0 })
	}
	if err := await(ctx, "a backend to come there", patience, func() bool { return !w.isArmed(m.point) }); err != nil {
		return err
	}
	p.host.Behave(host.Manners{Pause: tooLong}) // whoever takes over comes a lease later
	if !m.again {
		return nil
	}
	return await(ctx, "another backend's work on the host", patience, func() bool { return p.host.Working() > 0 })
}

// stops cancels a job, and holds that it is over in time and that nothing of it
// runs on the host then.
func (w *World) stops(ctx context.Context, p *piece, as string) error {
	if err := w.cancel(ctx, p.job); err != nil {
		return err
	}
	var j api.Job
	err := await(ctx, "the work on the host to stop, and the job to end as "+as, stopsWithin, func() bool {
		var err error
		j, err = w.alive().api(w.token).GetJob(ctx, p.job)
		return err == nil && j.State == as && len(p.host.Active()) == 0
	})
	if err != nil {
		return fmt.Errorf("%w; it is %s, and the host has %q", err, j.State, p.host.Active())
	}
	p.host.Behave(host.Manners{})
	return nil
}

// cancelBetweenTries cancels a job that waits for its next try while what it has
// begun goes on on the host, which could not be reached for a moment. The queue
// is paused, so that nobody tries again before.
func (w *World) cancelBetweenTries(ctx context.Context) error {
	_, p, err := w.running(ctx, "unit_allocate", tooLong)
	if err != nil {
		return err
	}
	err = w.whilePaused(ctx, func() error {
		p.host.Unplug()
		err := await(ctx, "the job to wait for its next try", patience, func() bool {
			j, err := w.alive().api(w.token).GetJob(ctx, p.job)
			return err == nil && j.State == "queued" && j.Failures > 0
		})
		if err != nil {
			return err
		}
		if err := p.host.Plug(); err != nil {
			return err
		}
		if len(p.host.Active()) == 0 {
			return errors.New("nothing runs on the host any more, so nothing is proven")
		}
		return w.stops(ctx, p, "cancelled")
	})
	if err != nil {
		return err
	}
	return p.mend(ctx)
}

// longLease has a backend die whose lease lasts for much longer than a cancel may
// take: nobody waits for its end.
func longLease(ctx context.Context, w *World) error {
	b, p, err := w.running(ctx, "unit_allocate", tooLong)
	if err != nil {
		return err
	}
	if err := b.Kill(); err != nil {
		return err
	}
	if err := w.stops(ctx, p, "cancelled"); err != nil {
		return err
	}
	return p.mend(ctx)
}

// whilePaused does something while no queued job is begun.
func (w *World) whilePaused(ctx context.Context, do func() error) error {
	if _, err := retried(ctx, w, func(c *client.Client) (api.Queue, error) { return c.PauseQueue(ctx, api.PauseQueue{Reason: "a fault"}) }); err != nil {
		return err
	}
	err := do()
	_, resumed := retried(ctx, w, func(c *client.Client) (api.Queue, error) { return c.ResumeQueue(ctx) })
	return errors.Join(err, resumed)
}
