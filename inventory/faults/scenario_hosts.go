package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/inventory/faults/host"
)

// hostsGone takes hosts away in the middle of plays.
func hostsGone(ctx context.Context, w *World) error {
	stop := w.tenants(ctx, 5)
	for range 10 {
		h := w.hosts[w.someInt(len(w.hosts))]
		if !sleep(ctx, w.between(200*time.Millisecond, 900*time.Millisecond)) {
			break
		}
		if w.chance(0.5) {
			if err := h.Reboot(); err != nil {
				stop()
				return err
			}
			continue
		}
		h.Unplug()
		sleep(ctx, w.between(100*time.Millisecond, 800*time.Millisecond))
		if err := h.Plug(); err != nil {
			stop()
			return err
		}
	}
	stop()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := w.settle(ctx); err != nil { // or a job that is still there would hang first
		return err
	}
	return w.hangs(ctx)
}

// hangs has a job meet hosts that take connections and say nothing: it can be
// cancelled all the same, in a play as well as in the look at the host's key.
func (w *World) hangs(ctx context.Context) error {
	h, err := w.addHost(50)
	if err != nil {
		return err
	}
	h.Behave(host.Manners{Hangs: true})
	in := api.RegisterHost{Name: h.Name, Address: "127.0.0.1", Port: h.Port, AdminUser: "operator1", HostKey: h.Key}
	_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Host, string, error) { return c.RegisterHost(ctx, in, o) })
	if err == nil {
		err = w.cancelHanging(ctx, job)
	}
	if err != nil {
		return fmt.Errorf("a probe of a host that says nothing: %w", err)
	}
	now, err := retried(ctx, w, func(c *client.Client) (api.Host, error) { return c.GetHost(ctx, w.hosts[0].Name) })
	if err != nil || now.Units["free"] == 0 {
		return err // the tenants have all units: the probe has shown it
	}
	w.hosts[0].Behave(host.Manners{Hangs: true})
	if _, job, err = w.create(ctx, w.hosts[0].Name); err == nil {
		err = w.cancelHanging(ctx, job)
	}
	if err != nil && !definite(err) {
		return fmt.Errorf("an allocation on a host that says nothing: %w", err)
	}
	return nil
}

func (w *World) cancelHanging(ctx context.Context, job string) error {
	err := await(ctx, "the job to run", patience, func() bool {
		j, err := w.alive().api(w.token).GetJob(ctx, job)
		return err == nil && j.State == "running"
	})
	if err != nil {
		return err
	}
	sleep(ctx, time.Second)
	if err := w.cancel(ctx, job); err != nil {
		return err
	}
	return await(ctx, "the job to end as cancelled", stopsWithin, func() bool {
		j, err := w.alive().api(w.token).GetJob(ctx, job)
		return err == nil && j.State == "cancelled"
	})
}

// diskFull leaves no room for running plays, and then room again; then the same
// on a host.
func diskFull(ctx context.Context, w *World) error {
	if err := syscall.Mount("kloigos-faults", w.runRoot, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		w.suite.say("      a small file system can't be mounted here (%v): disk_full shows the host's alone", err)
		return w.hostFull(ctx)
	}
	defer func() { _ = syscall.Unmount(w.runRoot, syscall.MNT_DETACH) }()
	full := filepath.Join(w.runRoot, "full")
	if err := os.WriteFile(full, make([]byte, 4<<20), 0o600); err == nil {
		return errors.New("the small file system is not full")
	}
	_, job, err := w.create(ctx, "")
	if err != nil {
		return err
	}
	err = await(ctx, "an attempt to fail", patience, func() bool {
		j, err := w.alive().api(w.token).GetJob(ctx, job)
		return err == nil && j.Failures > 0
	})
	if err != nil {
		return err
	}
	if err := os.Remove(full); err != nil {
		return err
	}
	if err := w.succeeds(ctx, job); err != nil {
		return err
	}
	return w.hostFull(ctx)
}

// hostFull has a host's disk full: nothing is run there, a person hears why,
// and once there is room a retry is all that it takes.
func (w *World) hostFull(ctx context.Context) error {
	h := w.hosts[0]
	h.Behave(host.Manners{Full: true})
	_, job, err := w.create(ctx, h.Name)
	if err != nil {
		return err
	}
	j, err := w.over(ctx, job)
	if err != nil {
		return err
	}
	if j.State != "failed" || j.Error == nil || !strings.Contains(j.Error.Message, "cannot be written") {
		return fmt.Errorf("on a host whose disk is full the job is %s: %+v", j.State, j.Error)
	}
	h.Behave(host.Manners{})
	if _, _, err = ask(ctx, w, func(c *client.Client, o client.Option) (api.Job, string, error) {
		return c.RetryJob(ctx, job, api.RetryJob{}, o)
	}); err != nil {
		return err
	}
	return w.succeeds(ctx, job)
}

// longLog reads back, in order and whole, what a play told.
func longLog(ctx context.Context, w *World) error {
	lines := 100_000
	if w.long {
		lines = 1_000_000
	}
	w.hosts[0].Behave(host.Manners{Lines: lines})
	_, job, err := w.create(ctx, w.hosts[0].Name)
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	if err != nil {
		return err
	}
	var last int64
	told := 0
	for {
		page, err := retried(ctx, w, func(c *client.Client) (api.JobLog, error) { return c.GetJobLog(ctx, job, last, 1000) })
		if err != nil {
			return err
		}
		for _, e := range page.Items {
			if e.Sequence != last+1 {
				return fmt.Errorf("entry %d follows entry %d", e.Sequence, last)
			}
			if last = e.Sequence; e.Item != "" {
				told++
			}
			if strings.Contains(e.Message, "reached its limit") {
				return nil // cut where it says so
			}
		}
		if len(page.Items) == 0 {
			break
		}
	}
	if told%lines != 0 || told < 2*lines { // each of two or three tasks tells as much
		return fmt.Errorf("%d lines were read back, each task told %d", told, lines)
	}
	return nil
}
