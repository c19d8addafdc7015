package faults

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/crdb/localdb"
	"kloigos/rig/faults/host"
)

// times is how often something is done: so often, and many times as often in
// the long form.
func (w *World) times(n int) int {
	if w.long {
		return 12 * n
	}
	return n
}

// underWay waits until plays change so many hosts, so that what comes next comes
// in the middle of work.
func (w *World) underWay(ctx context.Context, hosts int) error {
	return await(ctx, fmt.Sprintf("plays on %d hosts", hosts), patience, func() bool {
		busy := 0
		for _, h := range w.hosts {
			busy += min(len(h.Active()), 1)
		}
		return busy >= hosts
	})
}

// goesOn waits until more jobs have ended than have by now.
func (w *World) goesOn(ctx context.Context) error {
	const ended = "SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL"
	before, err := w.ask(ctx, ended)
	if err != nil {
		return err
	}
	var failed error
	err = await(ctx, "a job to end", patience, func() bool {
		if !sleep(ctx, 250*time.Millisecond) { // each question is a connection of its own
			return false
		}
		now, err := w.ask(ctx, ended)
		failed = err
		return err == nil && now > before
	})
	return errors.Join(err, failed)
}

// databaseEnds ends the database in three ways, each in the middle of plays and
// under clients, and each so that it is back before leases run out or after:
// plays go on in between, or others do. Work ends between two times, or the same
// jobs would be begun again and again.
func databaseEnds(ctx context.Context, w *World) error {
	begun := time.Now()
	w.behave(host.Manners{Pause: 300 * time.Millisecond})
	stop := w.tenants(ctx, 6)
	defer stop()
	for n := range w.times(3) {
		signal := []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL}[n%3]
		if err := w.underWay(ctx, 2); err != nil {
			return err
		}
		if err := w.restartDatabase(ctx, signal, time.Duration(1-n%2)*w.spec.Lease*3/2); err != nil {
			return fmt.Errorf("restart the database after %s: %w", signal, err)
		}
		if err := w.goesOn(ctx); err != nil {
			return fmt.Errorf("after the database was ended by %s: %w", signal, err)
		}
	}
	sleep(ctx, w.spec.Lease)
	jobs, err := w.takeovers(begun)
	if err == nil && len(jobs) < w.times(1) {
		err = fmt.Errorf("only %d jobs were taken over, so nothing is proven", len(jobs))
	}
	return err
}

// takenOver holds that so many jobs at least were taken over since then, and
// that all of them succeeded.
func (w *World) takenOver(ctx context.Context, since time.Time, least int) error {
	jobs, err := w.takeovers(since)
	if err != nil {
		return err
	}
	if len(jobs) < least {
		return fmt.Errorf("only %d jobs were taken over, so nothing is proven: want %d", len(jobs), least)
	}
	for _, id := range jobs {
		if err := w.succeeds(ctx, id); err != nil {
			return fmt.Errorf("one that was taken over: %w", err)
		}
	}
	return nil
}

// takeover is what a backend's log tells of a job that was taken over.
var takeover = regexp.MustCompile(`^time=(\S+) .*msg="job started" job=(\S+) .*takeover=true`)

// takeovers are the jobs that were taken over since then.
func (w *World) takeovers(since time.Time) (jobs []string, err error) {
	for _, b := range w.backends {
		told, err := os.ReadFile(filepath.Join(w.dir, b.name+".log"))
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(string(told)) {
			m := takeover.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			at, err := time.Parse(time.RFC3339Nano, m[1])
			if err != nil {
				return nil, fmt.Errorf("read the log of %s: %w", b.name, err)
			}
			if at.After(since) && !slices.Contains(jobs, m[2]) {
				jobs = append(jobs, m[2])
			}
		}
	}
	return jobs, nil
}

// restartDatabase ends the world's own server by a signal and starts it again
// after some time, at another port: the wires lead there.
func (w *World) restartDatabase(ctx context.Context, signal syscall.Signal, away time.Duration) error {
	raw, err := os.ReadFile(filepath.Join(w.server.Dir, "pgdata", "postmaster.pid"))
	if err != nil {
		return fmt.Errorf("find the server's process: %w", err)
	}
	first, _, _ := strings.Cut(string(raw), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil {
		return fmt.Errorf("find the server's process: %w", err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("end the server: %w", err)
	}
	select {
	case <-w.server.Done():
	case <-time.After(patience):
		return errors.New("the server does not end")
	}
	sleep(ctx, away)
	return w.startDatabase(ctx)
}

// startDatabase starts the world's own server, which has ended, again.
func (w *World) startDatabase(ctx context.Context) (err error) {
	if err := w.server.Stop(); err != nil {
		return err
	}
	if w.server, err = localdb.Start(ctx, localdb.Options{Engine: localdb.Postgres, Dir: w.server.Dir}); err != nil {
		return err
	}
	u, err := url.Parse(w.server.URL)
	if err != nil {
		return errors.New("the database URL can't be read")
	}
	if w.proxy != nil {
		w.proxy.Lead(u.Host)
		return nil
	}
	w.database = w.server.URL
	for _, b := range w.backends {
		b.wire.Lead(u.Host)
	}
	return nil
}

// databaseFull leaves the database no room, under clients, until it has
// refused or ended; then there is room again.
func databaseFull(ctx context.Context, w *World) error {
	if !w.small {
		w.skips("a small file system can't be mounted here")
		return nil
	}
	stop := w.tenants(ctx, 4)
	defer stop()
	sleep(ctx, 2*time.Second)
	full := filepath.Join(w.server.Dir, "full")
	if err := os.WriteFile(full, make([]byte, w.spec.Room), 0o600); err == nil {
		return errors.New("the small file system is not full")
	}
	sleep(ctx, 5*time.Second)
	if err := os.Remove(full); err != nil {
		return err
	}
	told, err := os.ReadFile(filepath.Join(w.server.Dir, "server.log"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(told), "No space left on device") {
		return errors.New("the database never wanted room, so nothing is proven")
	}
	select {
	case <-w.server.Done():
		if err := w.startDatabase(ctx); err != nil {
			return err
		}
	default:
	}
	sleep(ctx, 3*time.Second)
	return nil
}

// databaseSlow holds that work goes on, only slower.
func databaseSlow(ctx context.Context, w *World) error {
	for _, late := range []time.Duration{5 * time.Millisecond, 50 * time.Millisecond, 500 * time.Millisecond} {
		for _, b := range w.backends {
			b.wire.Slow(late)
		}
		clients, lasts := 3, 4*time.Second
		if late > 100*time.Millisecond { // a job has some sixty round trips
			clients, lasts = 1, 0
		}
		stop := w.tenants(ctx, clients)
		sleep(ctx, time.Duration(w.times(1))*lasts)
		err := w.oneMore(ctx)
		stop()
		if err != nil {
			return fmt.Errorf("%s late: %w", late, err)
		}
	}
	return nil
}

// oneMore asks for a unit, and for as long as all are taken, asks again; then
// gives it back.
func (w *World) oneMore(ctx context.Context) error {
	a, job, err := w.place(ctx, "")
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	if err == nil {
		_, err = w.remove(ctx, a)
	}
	return err
}

// wanted is how many answers are to be lost of each purpose. A claim that nobody
// knows of holds its jobs up for a lease, and whatever comes is mostly that.
var wanted = [...]int{Anything: 3, Keyed: 10, Claims: 3, Ends: 5, Logs: 5}

// lostCommits lets the answer to a COMMIT vanish every few moments, until there
// were enough: of requests, of claims, of ends and of parts of logs, each by
// themselves, and of whatever comes.
func lostCommits(ctx context.Context, w *World) error {
	w.behave(host.Manners{Lines: 50})
	stop := w.tenants(ctx, 8)
	defer stop()
	lacking := w.lacking()
	for n := 0; len(lacking) > 0 && n < w.times(400); n++ {
		for _, of := range lacking {
			rare := of == Anything || of == Claims
			for _, b := range w.backends {
				if !rare || w.chance(0.04) {
					b.wire.Lose(1, of)
				}
			}
		}
		if !sleep(ctx, w.between(50*time.Millisecond, 250*time.Millisecond)) {
			return ctx.Err()
		}
		lacking = w.lacking()
	}
	stop()
	if err := w.settle(ctx); err != nil {
		return err
	}
	if len(lacking) > 0 {
		return fmt.Errorf("too few answers were lost of %v, so nothing is proven", lacking)
	}
	return w.logsAreWhole(ctx)
}

// lacking are the purposes of which too few answers have been lost.
func (w *World) lacking() (some []Purpose) {
	for of := Anything; of <= Logs; of++ {
		lost := 0
		for _, b := range w.backends {
			lost += b.wire.Lost(of)
		}
		if lost < w.times(wanted[of]) {
			some = append(some, of)
		}
	}
	return some
}

// logsAreWhole holds that no log of any job has a gap, and none has anything
// twice.
func (w *World) logsAreWhole(ctx context.Context) error {
	for j, err := range w.alive().api(w.token).AllJobs(ctx, api.JobFilter{}) {
		if err != nil {
			return fmt.Errorf("list jobs: %w", err)
		}
		told := map[string]bool{}
		var last int64
		for {
			page, err := retried(ctx, w, func(c *client.Client) (api.JobLog, error) { return c.GetJobLog(ctx, j.ID, last, 1000) })
			if err != nil {
				return err
			}
			if len(page.Items) == 0 {
				break
			}
			for _, e := range page.Items {
				if e.Sequence != last+1 {
					return fmt.Errorf("job %s: entry %d follows entry %d", j.ID, e.Sequence, last)
				}
				last = e.Sequence
				// A line is told once by a task, and a task comes once in a step of an attempt.
				line := fmt.Sprint(e.Attempt, e.Step, e.Play, e.Task, e.Item)
				if e.Item != "" && told[line] {
					return fmt.Errorf("job %s: attempt %d, %q tells item %s twice", j.ID, e.Attempt, e.Task, e.Item)
				}
				told[line] = true
			}
		}
	}
	return nil
}

// serialization makes every transaction SERIALIZABLE under clients that meet, for
// as long as it takes until enough were refused: how many those are in a second is
// the machine's.
func serialization(ctx context.Context, w *World) error {
	for _, b := range w.backends {
		b.wire.Strict(true)
	}
	stop := w.tenants(ctx, 12)
	defer stop()
	long, least := time.Duration(w.times(1))*12*time.Second, w.times(20)
	for begun := time.Now(); time.Since(begun) < long || w.refused() < least; {
		if time.Since(begun) > 4*long {
			return fmt.Errorf("only %d transactions were refused, so nothing is proven: want %d", w.refused(), least)
		}
		if !sleep(ctx, time.Second) {
			return ctx.Err()
		}
	}
	return nil
}

// refused is how many transactions were refused with 40001.
func (w *World) refused() (n int) {
	for _, b := range w.backends {
		n += b.wire.Refused()
	}
	return n
}
