package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/inventory/faults/host"
)

// plays are those that a pattern of play_done stands for, with what passes them.
var plays = []string{
	"play_done.host_probe.playbook.yml", "play_done.host_initialize.bootstrap.yml", "play_done.host_initialize.playbook.yml",
	"play_done.unit_allocate.playbook.yml", "play_done.unit_deallocate.playbook.yml",
	"play_done.host_decommission.bootstrap.yml", "play_done.host_decommission.playbook.yml",
}

// allPoints are the backend's failpoints, the pattern spelled out.
func (w *World) allPoints() []string {
	var all []string
	for _, p := range w.suite.points {
		if strings.Contains(p, "<") {
			all = append(all, plays...)
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

// killAtFailpoints lives a whole life for each failpoint of a play, and a
// tenancy for each of the others; the backend that gets there dies.
func killAtFailpoints(ctx context.Context, w *World) error {
	for n, point := range w.allPoints() {
		if err := w.arm(point); err != nil {
			return err
		}
		for _, h := range w.hosts { // long enough for a lease to be renewed
			h.Behave(host.Manners{Pause: map[bool]time.Duration{true: time.Second}[point == "lease_renewed"]})
		}
		err := w.lifeAt(ctx, n, point)
		if err == nil && w.isArmed(point) {
			err = errors.New("no backend came there")
		}
		if err != nil {
			return fmt.Errorf("at %s: %w", point, err)
		}
		if err := w.revive(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (w *World) lifeAt(ctx context.Context, n int, point string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	if !strings.Contains(point, ".host_") && point != "step_ended" {
		return w.roundTrip(ctx, "")
	}
	h, err := w.addHost(100 + n)
	if err != nil {
		return err
	}
	return w.whole(ctx, h)
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

// running starts an allocation on a slow host and waits until its play changes
// the host; it returns the backend that runs it.
func (w *World) running(ctx context.Context, pause time.Duration) (b *Backend, job string, h *host.Host, err error) {
	h = w.hosts[0]
	h.Behave(host.Manners{Pause: pause})
	_, job, err = w.create(ctx, h.Name)
	if err != nil {
		return nil, "", h, err
	}
	if err := await(ctx, "the play on the host", patience, func() bool { return len(h.Active()) > 0 }); err != nil {
		return nil, "", h, err
	}
	for _, b := range w.backends {
		if b.Alive() && len(b.supervisors()) > 0 {
			return b, job, h, nil
		}
	}
	return nil, "", h, errors.New("no backend supervises the play")
}

// orphans kills what is around a play, one thing at a time.
func orphans(ctx context.Context, w *World) error {
	for _, way := range []struct {
		name string
		kill func(b *Backend) error
	}{
		{"the backend", func(b *Backend) error { return b.Kill() }},
		{"the backend's process group", func(b *Backend) error { b.doom(); return syscall.Kill(-b.PID(), syscall.SIGKILL) }},
		{"the supervisor", func(b *Backend) error {
			for _, pid := range b.supervisors() {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					return err
				}
			}
			return nil
		}},
		{"the supervisor and the backend", func(b *Backend) error {
			pids := b.supervisors()
			if err := b.Signal(syscall.SIGSTOP); err != nil { // so that it can't clean up first
				return err
			}
			for _, pid := range pids {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					return err
				}
			}
			return b.Kill()
		}},
	} {
		if err := w.orphan(ctx, way.name, way.kill); err != nil {
			return fmt.Errorf("kill %s: %w", way.name, err)
		}
	}
	return nil
}

func (w *World) orphan(ctx context.Context, name string, kill func(*Backend) error) error {
	b, job, h, err := w.running(ctx, time.Second)
	if err != nil {
		return err
	}
	before := slices.DeleteFunc(w.marked(), func(pid int) bool { return !hasPlay(pid) })
	if len(before) < 3 {
		return fmt.Errorf("only %d processes carry the run's mark, so nothing is proven", len(before))
	}
	if err := kill(b); err != nil {
		return err
	}
	h.Behave(host.Manners{})
	if err := w.revive(ctx); err != nil { // who comes sweeps what nobody could end
		return err
	}
	err = await(ctx, "the processes of the run to end", 10*time.Second, func() bool {
		now := w.marked()
		return !slices.ContainsFunc(before, func(pid int) bool { return slices.Contains(now, pid) })
	})
	if err != nil {
		return err
	}
	return w.succeeds(ctx, job)
}
