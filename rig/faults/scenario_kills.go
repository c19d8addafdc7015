package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// plays are those that the pattern of play_done stands for, with the kind of job
// that meets each.
var plays = []struct{ point, kind string }{
	{"play_done.host_probe.playbook.yml", "host_probe"},
	{"play_done.host_measure.playbook.yml", "host_measure"},
	{"play_done.host_initialize.bootstrap.yml", "host_initialize"},
	{"play_done.host_initialize.playbook.yml", "host_initialize"},
	{"play_done.unit_allocate.playbook.yml", "unit_allocate"},
	{"play_done.unit_deallocate.playbook.yml", "unit_deallocate"},
	{"play_done.host_decommission.bootstrap.yml", "host_decommission"},
	{"play_done.host_decommission.playbook.yml", "host_decommission"},
}

// allPoints are the backend's failpoints, the pattern of plays spelled out. Calls are made by no job of hosts: the
// scenario of zones meets them.
func (w *World) allPoints() []string {
	var all []string
	for _, p := range w.suite.points {
		if strings.HasPrefix(p, "call_done.") {
			continue
		}
		if strings.Contains(p, "<") {
			for _, play := range plays {
				all = append(all, play.point)
			}
		} else {
			all = append(all, p)
		}
	}
	return all
}

func (w *World) armed(point string) string { return filepath.Join(w.dir, "failpoints", point) }

func (w *World) arm(point string) error { return os.WriteFile(w.armed(point), nil, 0o600) }

func (w *World) isArmed(point string) bool {
	_, err := os.Stat(w.armed(point))
	return err == nil
}

// killAtFailpoints has the backend die that gets to a failpoint: to each by
// itself and, with little time, to those of a host's own jobs in one life of a
// host. The last ones are met by kinds of jobs that such a life has none of.
func killAtFailpoints(ctx context.Context, w *World) error {
	var alone, ofHosts []string
	for _, point := range w.allPoints() {
		switch {
		case strings.Contains(point, ".host_measure."): // a life has none
		case !strings.Contains(point, ".host_") && point != "step_ended":
			alone = append(alone, point)
		default:
			ofHosts = append(ofHosts, point)
		}
	}
	for _, point := range alone {
		if err := w.killAt(ctx, func(ctx context.Context) error { return w.roundTrip(ctx, "") }, point); err != nil {
			return err
		}
	}
	lives := [][]string{ofHosts}
	if w.long {
		lives = slices.Collect(slices.Chunk(ofHosts, 1))
	}
	for _, points := range lives {
		h, err := w.addHost(len(w.hosts) + 1)
		if err == nil {
			err = w.killAt(ctx, func(ctx context.Context) error { return w.whole(ctx, h) }, points...)
		}
		if err != nil {
			return err
		}
	}
	for _, one := range []struct{ point, kind string }{
		{"play_done.host_measure.playbook.yml", "host_measure"},
		{"play_done.host_probe.playbook.yml", "hosts_probe"},
		{"play_done.unit_allocate.playbook.yml", "allocation_keys"},
		{"play_done.host_initialize.playbook.yml", "host_relayout"},
	} {
		p, err := w.prepare(ctx, one.kind)
		if err == nil {
			err = w.killAt(ctx, func(ctx context.Context) error { return w.unaided(ctx, p) }, one.point)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", one.kind, err)
		}
	}
	return nil
}

// killAt does something in which backends get to the failpoints, and come back.
func (w *World) killAt(ctx context.Context, do func(context.Context) error, points ...string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	for _, point := range points {
		if err := w.arm(point); err != nil {
			return err
		}
	}
	for _, h := range w.hosts { // long enough for a lease to be renewed
		h.Behave(host.Manners{Pause: map[bool]time.Duration{true: time.Second}[slices.Contains(points, "lease_renewed")]})
	}
	done := make(chan error, 1)
	go func() { done <- do(ctx) }()
	for {
		select {
		case err := <-done:
			if err == nil && slices.ContainsFunc(points, w.isArmed) {
				err = errors.New("no backend came there")
			}
			if err != nil {
				return fmt.Errorf("at %s: %w", strings.Join(points, ", "), err)
			}
			return w.revive(ctx)
		case <-time.After(100 * time.Millisecond):
		}
		if err := w.revive(ctx); err != nil {
			return err
		}
	}
}

// whole is the life of a host from its registration to its end, with a tenant.
func (w *World) whole(ctx context.Context, h *host.Host) error {
	if err := w.prepareHost(ctx, h); err != nil {
		return err
	}
	if err := w.roundTrip(ctx, h.Name); err != nil {
		return err
	}
	_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Host, string, error) {
		return c.DecommissionHost(ctx, h.Name, o)
	})
	if err == nil {
		err = w.succeeds(ctx, job)
	}
	return err
}

// unaided holds that a piece of work is done without a person.
func (w *World) unaided(ctx context.Context, p *piece) error {
	if err := p.begin(ctx, host.Manners{}); err != nil {
		return err
	}
	if err := w.succeeds(ctx, p.job); err != nil {
		return err
	}
	return p.mend(ctx)
}

// randomKills kills backends without any plan, and lets them come back.
func randomKills(ctx context.Context, w *World) error {
	kills := 25
	if w.long {
		kills = 400
	}
	return w.watched(ctx, dose{clients: 6, ended: 3, share: 0.1}, func() error {
		for killed := 0; killed < kills; {
			if !sleep(ctx, w.between(50*time.Millisecond, 600*time.Millisecond)) {
				return ctx.Err()
			}
			b := w.alive()
			if b.Alive() { // or all are dead, and none of them can be killed
				killed++
			}
			if err := b.Kill(); err != nil {
				return err
			}
			if w.chance(0.6) {
				if err := w.revive(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// soak kills one backend after the other for as long as it lasts.
func soak(ctx context.Context, w *World) error {
	enough, every, lasts := dose{clients: 12, ended: 10, share: 0.1}, 2*time.Second, 20*time.Second
	if w.long {
		enough, every, lasts = dose{clients: 64, ended: 20, share: 0.5}, 5*time.Second, 30*time.Minute
	}
	return w.watched(ctx, enough, func() error {
		for end := time.Now().Add(lasts); time.Now().Before(end); {
			if !sleep(ctx, every) {
				return ctx.Err()
			}
			b := w.alive()
			if err := b.Kill(); err != nil {
				return err
			}
			if err := b.Start(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}
