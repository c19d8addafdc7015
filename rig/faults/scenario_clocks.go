package faults

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// clockLibrary moves the clock of the programs that it is loaded into; those
// in Go ask the kernel themselves and are out of its reach, so it is the
// database's clock that is moved and the backends' that stay.
const clockLibrary = "/usr/lib/*/faketime/libfaketime.so.1"

// clockOfDatabase is what the database server's environment needs to have the
// clock that the world's specification says; nothing where that can't be had.
func (w *World) clockOfDatabase() ([]string, error) {
	library, err := filepath.Glob(clockLibrary)
	if err != nil || len(library) == 0 || w.spec.Ahead == 0 {
		return nil, err
	}
	w.moved = true
	// What measures time that has passed goes on as ever.
	return []string{
		"LD_PRELOAD=" + library[0], "FAKETIME_TIMESTAMP_FILE=" + w.clockFile(), "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}, w.setClock(w.spec.Ahead)
}

func (w *World) clockFile() string { return filepath.Join(w.dir, "clock") }

// setClock sets how far the database's clock is ahead, from one moment to the
// next.
func (w *World) setClock(ahead time.Duration) error {
	next := w.clockFile() + ".next"
	if err := os.WriteFile(next, fmt.Appendf(nil, "%+d\n", int64(ahead.Seconds())), 0o644); err != nil {
		return fmt.Errorf("set the database's clock: %w", err)
	}
	if err := os.Rename(next, w.clockFile()); err != nil {
		return fmt.Errorf("set the database's clock: %w", err)
	}
	w.ahead = ahead
	return nil
}

// clocks lets every lease run out at once, while all who hold one go on and
// their own clocks tell of no time that has passed; and lets the leases of the
// dead last longer than they were given for.
func clocks(ctx context.Context, w *World) error {
	if !w.moved {
		w.skips("%s is not there", clockLibrary)
		return nil
	}
	if err := w.isAhead(ctx); err != nil {
		return err
	}
	if err := w.halfAnHourOn(ctx); err != nil {
		return fmt.Errorf("half an hour on: %w", err)
	}
	if err := w.anHourOn(ctx); err != nil {
		return fmt.Errorf("an hour on: %w", err)
	}
	w.behave(host.Manners{Pause: 300 * time.Millisecond})
	stop := w.tenants(ctx, 6)
	defer stop()
	if !sleep(ctx, 2*time.Second) {
		return ctx.Err()
	}
	if err := w.setClock(w.ahead + halfAnHour); err != nil {
		return err
	}
	if !sleep(ctx, 2*time.Second) {
		return ctx.Err()
	}
	if err := w.alive().Kill(); err != nil {
		return err
	}
	if err := w.setClock(w.ahead - 15*time.Second); err != nil {
		return err
	}
	sleep(ctx, 5*time.Second)
	if err := w.isAhead(ctx); err != nil || !w.long {
		return err
	}
	return w.anHourBack(ctx, stop)
}

// halfAnHour is less than the deadline of any job that changes a host for its
// tenants, and an hour is not (job.PolicyOf).
const halfAnHour = 30 * time.Minute

// jumps moves the clock on while a play runs on each host, and returns their
// jobs.
func (w *World) jumps(ctx context.Context, by time.Duration) (jobs []string, err error) {
	if err := w.vacate(ctx); err != nil { // it may take several
		return nil, err
	}
	w.behave(host.Manners{Pause: 2 * time.Second})
	defer w.behave(host.Manners{})
	for _, h := range w.hosts {
		_, job, err := w.create(ctx, h.Name)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, job)
	}
	if err := w.underWay(ctx, len(w.hosts)); err != nil {
		return nil, err
	}
	return jobs, w.setClock(w.ahead + by)
}

// jumpsAtMost is how often a jump is tried until it has shown something: a lease
// that is renewed before anyone looks has not run out.
const jumpsAtMost = 5

// halfAnHourOn has all leases run out, and no deadline: what was in flight is
// taken over and succeeds.
func (w *World) halfAnHourOn(ctx context.Context) error {
	begun := time.Now()
	for range jumpsAtMost {
		jobs, err := w.jumps(ctx, halfAnHour)
		if err != nil {
			return err
		}
		for _, id := range jobs {
			if err := w.succeeds(ctx, id); err != nil {
				return err
			}
		}
		if over, err := w.takeovers(begun); err != nil || len(over) >= 2 {
			return err
		}
	}
	return fmt.Errorf("after %d jumps hardly a job was taken over, so nothing is proven", jumpsAtMost)
}

// anHourOn has the deadlines of what was in flight pass as well: what is taken
// over fails for that, and for nothing else, and a person retries it.
func (w *World) anHourOn(ctx context.Context) error {
	for range jumpsAtMost {
		jobs, err := w.jumps(ctx, time.Hour)
		if err != nil {
			return err
		}
		late := 0
		for _, id := range jobs {
			j, err := w.over(ctx, id)
			if err != nil {
				return err
			}
			if j.State == "succeeded" {
				continue
			}
			if j.State != "failed" || j.Error == nil || j.Error.Code != "deadline_passed" {
				return fmt.Errorf("job %s is %s: %+v", j.ID, j.State, j.Error)
			}
			late++
			if _, _, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) {
				return c.RetryJob(ctx, id, api.RetryJob{}, o)
			}); err != nil {
				return err
			}
			if err := w.succeeds(ctx, id); err != nil {
				return fmt.Errorf("after a retry: %w", err)
			}
		}
		if late > 0 {
			return nil
		}
	}
	return fmt.Errorf("after %d jumps no deadline had passed, so nothing is proven", jumpsAtMost)
}

// anHourBack lets what is queued and leased lie an hour ahead of the database's
// clock, with a backend that dies: the reconciler sees to it that nothing waits
// for that hour.
func (w *World) anHourBack(ctx context.Context, stop func()) error {
	if err := w.revive(ctx); err != nil {
		return err
	}
	sleep(ctx, 3*time.Second)
	if err := w.alive().Kill(); err != nil {
		return err
	}
	if err := w.setClock(w.ahead - time.Hour); err != nil {
		return err
	}
	stop()
	if err := w.isAhead(ctx); err != nil {
		return err
	}
	ahead, err := w.ask(ctx, `SELECT count(*) FROM jobs
		WHERE finished_at IS NULL AND (run_after > now() + INTERVAL '50 minutes' OR lease_expires_at > now() + INTERVAL '50 minutes')`)
	if err != nil || ahead == 0 {
		return fmt.Errorf("%d jobs lie ahead of the database's clock, so nothing is proven: %w", ahead, err)
	}
	err = await(ctx, "all jobs to end after the database's clock went back by an hour", 5*time.Minute, func() bool {
		left, err := w.ask(ctx, `SELECT count(*) FROM jobs WHERE finished_at IS NULL`)
		return err == nil && left == 0
	})
	if err == nil {
		w.suite.say("      %d jobs lay an hour ahead, and ended", ahead)
	}
	return err
}

// ask asks the database for a number.
func (w *World) ask(ctx context.Context, query string) (n int64, err error) {
	conn, err := pgx.Connect(ctx, w.database)
	if err != nil {
		return 0, fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := conn.QueryRow(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("ask the database: %w", err)
	}
	return n, nil
}

// isAhead holds that the database's clock is where it was set.
func (w *World) isAhead(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, w.database)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var now time.Time
	if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&now); err != nil {
		return fmt.Errorf("ask the database for the time: %w", err)
	}
	if off := time.Until(now) - w.ahead; off.Abs() > 10*time.Second {
		return fmt.Errorf("the database's clock is %s from where it was set, so nothing is proven", off)
	}
	return nil
}
