package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// settleLimit is how long everything may take to come to rest once nothing
// goes wrong any more.
const settleLimit = 90 * time.Second

// holds makes everything good again, lets it come to rest, and holds all that
// must be true then.
func (w *World) holds(ctx context.Context) error {
	if err := w.settle(ctx); err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	var errs []error
	for _, h := range w.hosts {
		for _, v := range h.Violations() {
			errs = append(errs, errors.New(v))
		}
	}
	return errors.Join(append(errs, w.verify(ctx), w.carries(ctx), w.madeOnce(ctx))...)
}

// shownOdd is how many of the notes are told: what comes once comes often.
const shownOdd = 10

// noted is all that was seen that may never be, the backends' own words
// included.
func (w *World) noted() error {
	for _, b := range w.backends {
		b.noteEnd()
	}
	if err := w.readLogs(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	for _, o := range w.odd[:min(shownOdd, len(w.odd))] {
		errs = append(errs, errors.New("seen: "+o))
	}
	if more := len(w.odd) - shownOdd; more > 0 {
		errs = append(errs, fmt.Errorf("and %d more were seen", more))
	}
	return errors.Join(errs...)
}

func (w *World) settle(ctx context.Context) error {
	for _, h := range w.hosts {
		h.Behave(host.Manners{})
		if err := h.Plug(); err != nil {
			return err
		}
	}
	for _, b := range w.backends {
		b.wire.Mend()
		b.wire.Slow(0)
		b.wire.Strict(false)
		b.wire.LoseCommits(0)
		b.wire.LoseKeyed(0)
	}
	if err := w.revive(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	if err := w.clearUp(ctx); err != nil {
		return err
	}
	for {
		page, err := retried(ctx, w, func(c *client.Client) (api.Page[api.Job], error) {
			return c.ListJobs(ctx, api.JobFilter{State: "active"})
		})
		if err != nil || len(page.Items) == 0 {
			return err
		}
		for _, j := range page.Items {
			if w.waitsLong(j) {
				_, _, _ = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) { return c.CancelJob(ctx, j.ID, o) })
			}
		}
		if !sleep(ctx, 200*time.Millisecond) {
			j := page.Items[0]
			return fmt.Errorf("%d jobs do not end; the first: %s (%s) is %s, attempt %d, error %+v", len(page.Items), j.ID, j.Kind, j.State, j.Attempt, j.Error)
		}
	}
}

// waitsLong tells whether a job is not waited for here, since it waits long for
// an unreachable host. Nothing else may wait for longer than its failures tell.
func (w *World) waitsLong(j api.Job) bool {
	if j.State != "queued" {
		return false
	}
	wait := time.Until(j.RunAfter) - w.ahead
	if j.Error != nil && j.Error.Code == "unreachable" {
		return wait > 5*time.Second
	}
	due := time.Second<<min(j.Failures, 10) + 3*time.Second + w.spec.Waits
	if wait > due {
		w.sees("job %s (%s) waits for another %s after %d failures, error %+v", j.ID, j.Kind, wait.Round(time.Second), j.Failures, j.Error)
	}
	return wait > due
}

// madeOnce holds that there are as many allocations, ended ones included, as
// clients were told of: none was made twice for one request.
func (w *World) madeOnce(ctx context.Context) error {
	made, err := w.ask(ctx, "SELECT count(*) FROM allocations")
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if int(made) != len(w.ids) {
		return fmt.Errorf("there are %d allocations, and clients were told of %d", made, len(w.ids))
	}
	return nil
}

// verify runs kloigos-backend verify on all that was noted.
func (w *World) verify(ctx context.Context, more ...string) error {
	acknowledged, err := w.writeAcknowledged()
	if err != nil {
		return err
	}
	args := append([]string{"verify", "--token-logs", filepath.Join(w.dir, "tokens"), "--acknowledged", acknowledged}, more...)
	cmd := exec.CommandContext(ctx, w.suite.program(), args...)
	cmd.Env = []string{"KLOIGOS_DATABASE_URL=" + w.database}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("kloigos-backend verify: %w\n%s", err, bytes.TrimSpace(out))
	}
	if strings.Contains(string(out), "not asked") {
		return fmt.Errorf("kloigos-backend verify left something out:\n%s", out)
	}
	return nil
}

// carries holds the hosts against the database: each allocation that is set up
// is on its unit, whole, and nobody is anywhere who has given back.
func (w *World) carries(ctx context.Context) error {
	on := map[string]map[string]string{} // tenant of each unit, by host
	half := map[string]bool{}            // units
	for _, h := range w.hosts {
		on[h.Name] = h.Tenants()
		maps.Copy(half, h.Half())
	}
	live := map[string]bool{}
	var errs []error
	for a, err := range w.alive().api(w.token).AllAllocations(ctx, api.AllocationFilter{State: "live"}) {
		if err != nil {
			return fmt.Errorf("list allocations: %w", err)
		}
		live[a.ID] = true
		if has := on[a.Host][a.UnitID]; a.State == "allocated" && has != a.ID {
			errs = append(errs, fmt.Errorf("allocation %s is %s on unit %s, which has %q", a.ID, a.State, a.Unit, has))
		}
		if a.State == "allocated" && half[a.UnitID] {
			errs = append(errs, fmt.Errorf("allocation %s is %s on unit %s, which is half made", a.ID, a.State, a.Unit))
		}
	}
	for name, units := range on {
		for unit, tenant := range units {
			if !live[tenant] {
				errs = append(errs, fmt.Errorf("unit %s of host %s still has %s, which is gone", unit, name, tenant))
			}
		}
	}
	return errors.Join(errs...)
}
