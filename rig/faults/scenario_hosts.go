package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/rig/faults/host"
)

// hostsGone takes hosts away under tenants, at any moment, and then in the middle
// of plays, each in every way.
func hostsGone(ctx context.Context, w *World) error {
	if err := w.comeAndGo(ctx); err != nil {
		return err
	}
	if err := w.settle(ctx); err != nil { // or a job that is still there would hang first
		return err
	}
	for _, h := range w.hosts { // the tenants may have all units
		if err := w.makeRoom(ctx, h); err != nil {
			return err
		}
	}
	for _, a := range w.absences() {
		if err := w.breaks(ctx, a); err != nil {
			return fmt.Errorf("%s in the middle of a play: %w", a.name, err)
		}
	}
	return w.hang(ctx)
}

// comeAndGo takes hosts away by the draw.
func (w *World) comeAndGo(ctx context.Context) error {
	defer w.tenants(ctx, 5)()
	draws := 10
	if w.long {
		draws = 150
	}
	for range draws {
		h := w.hosts[w.someInt(len(w.hosts))]
		if !sleep(ctx, w.between(200*time.Millisecond, 900*time.Millisecond)) {
			return ctx.Err()
		}
		away := w.between(100*time.Millisecond, 800*time.Millisecond)
		if w.chance(0.5) {
			if err := h.Reboot(away); err != nil {
				return err
			}
			continue
		}
		h.Unplug()
		sleep(ctx, away)
		if err := h.Plug(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// makeRoom sees to it that a unit of the host is free.
func (w *World) makeRoom(ctx context.Context, h *host.Host) error {
	for {
		now, err := retried(ctx, w, func(c *client.Client) (api.Host, error) { return c.GetHost(ctx, h.Name) })
		if err != nil || now.Units["free"] > 0 {
			return err
		}
		there, err := retried(ctx, w, func(c *client.Client) (api.Page[api.Allocation], error) {
			return c.ListAllocations(ctx, api.AllocationFilter{State: "live", Host: h.Name})
		})
		if err != nil {
			return err
		}
		err = fmt.Errorf("it has neither a free unit nor a tenant")
		for _, a := range there.Items {
			if err = w.giveBack(ctx, a); err == nil {
				break
			}
		}
		if err != nil {
			return fmt.Errorf("make room on host %s: %w", h.Name, err)
		}
	}
}

// absence is a way in which a host is away for a while.
type absence struct {
	name  string
	leave func(*host.Host) error
	goes  bool // what runs there goes on
}

func (w *World) absences() []absence {
	all := []absence{
		{"unplugged", func(h *host.Host) error { h.Unplug(); return nil }, true},
		{"rebooted", func(h *host.Host) error { return h.Reboot(200 * time.Millisecond) }, false},
	}
	if w.long { // ssh notices that after a while
		all = append(all, absence{"silent", func(h *host.Host) error { h.Behave(host.Manners{Silent: true}); return nil }, true})
	}
	return all
}

// breaks takes a host away while a play changes it, and holds that the play was
// broken by that, that its job is done all the same, and that nothing of the
// first try goes on beside the second.
func (w *World) breaks(ctx context.Context, a absence) error {
	for _, kind := range w.changing() {
		_, p, err := w.running(ctx, kind, 2*tooLong) // ssh notices silence after 20 s
		if err != nil {
			return err
		}
		p.host.Behave(host.Manners{}) // for the next try
		ended := p.host.Ended()
		if err := a.leave(p.host); err != nil {
			return err
		}
		err = await(ctx, "the play to break", patience, func() bool {
			j, err := w.alive().api(w.token).GetJob(ctx, p.job)
			return err == nil && j.Failures > 0 && j.Error != nil && j.Error.Code == "unreachable"
		})
		if err != nil {
			return fmt.Errorf("in %s: %w", kind, err)
		}
		if on := len(p.host.Active()) > 0; on != a.goes {
			return fmt.Errorf("in %s: what the play had begun goes on: %t", kind, on)
		}
		p.host.Behave(host.Manners{})
		if err := errors.Join(p.host.Plug(), w.succeeds(ctx, p.job)); err != nil {
			return fmt.Errorf("in %s: %w", kind, err)
		}
		if p.host.Ended() == ended {
			return fmt.Errorf("in %s: what had been begun on the host was never ended", kind)
		}
		if err := p.mend(ctx); err != nil {
			return fmt.Errorf("in %s: %w", kind, err)
		}
	}
	return nil
}

// hang has jobs meet hosts that say nothing: in the look at the key, in the
// beginning of a play, and in the middle of one. Each can be cancelled all the
// same.
func (w *World) hang(ctx context.Context) error {
	if err := w.hangsAtKey(ctx); err != nil {
		return fmt.Errorf("a probe of a host that says nothing: %w", err)
	}
	late := make(chan error, 1)
	go func() { late <- w.hangsInPlay(ctx, w.hosts[1]) }()
	err := w.hangsAtBegin(ctx, w.hosts[0])
	if err != nil {
		err = fmt.Errorf("an allocation on a host that says nothing: %w", err)
	}
	if later := <-late; later != nil {
		err = errors.Join(err, fmt.Errorf("an allocation on a host that falls silent: %w", later))
	}
	return err
}

func (w *World) hangsAtKey(ctx context.Context) error {
	h, err := w.addHost(50)
	if err != nil {
		return err
	}
	h.Behave(host.Manners{Hangs: true})
	in := api.RegisterHost{Name: h.Name, Address: "127.0.0.1", Port: h.Port, AdminUser: "operator1", HostKey: h.Key}
	_, job, err := ask(ctx, w, func(c *client.Client, o client.Option) (api.Host, string, error) { return c.RegisterHost(ctx, in, o) })
	if err != nil {
		return err
	}
	return w.cancelHanging(ctx, job)
}

func (w *World) hangsAtBegin(ctx context.Context, h *host.Host) error {
	p := w.allocating(h)
	if err := p.begin(ctx, host.Manners{Hangs: true}); err != nil {
		return err
	}
	if err := w.cancelHanging(ctx, p.job); err != nil {
		return err
	}
	p.host.Behave(host.Manners{})
	return p.mend(ctx)
}

// hangsInPlay cancels what a deaf host can't be told of: it is ended by the next
// that comes there.
func (w *World) hangsInPlay(ctx context.Context, h *host.Host) error {
	p := w.allocating(h)
	if _, err := w.runs(ctx, p, tooLong); err != nil {
		return err
	}
	ended := p.host.Ended()
	p.host.Behave(host.Manners{Silent: true})
	if err := w.cancelHanging(ctx, p.job); err != nil {
		return err
	}
	p.host.Behave(host.Manners{})
	if err := p.mend(ctx); err != nil {
		return err
	}
	if p.host.Ended() == ended {
		return errors.New("what had been begun on the host was never ended")
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
	if err := w.noRoomToRun(ctx); err != nil {
		return err
	}
	p, err := w.prepare(ctx, "unit_allocate")
	if err == nil {
		err = p.begin(ctx, host.Manners{Full: true})
	}
	if err == nil {
		err = w.hostFull(ctx, p, "task_failed", "cannot be written")
	}
	if err != nil {
		return fmt.Errorf("before a play: %w", err)
	}
	for _, kind := range w.changing() {
		_, p, err := w.running(ctx, kind, time.Second)
		if err == nil {
			p.host.Behave(host.Manners{Full: true})
			err = w.hostFull(ctx, p, "task_failed", "No space left on device")
		}
		if err != nil {
			return fmt.Errorf("in the middle of %s: %w", kind, err)
		}
	}
	return nil
}

func (w *World) noRoomToRun(ctx context.Context) error {
	if err := syscall.Mount("kloigos-faults", w.runRoot, "tmpfs", 0, "size=2m,mode=0700"); err != nil {
		w.skips("a small file system can't be mounted here (%v), only a host's disk was full", err)
		return nil
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
	return w.succeeds(ctx, job)
}

// hostFull holds that a job fails on a host whose disk is full, that a person
// hears why, and that once there is room a retry is all that it takes.
func (w *World) hostFull(ctx context.Context, p *piece, code, message string) error {
	j, err := w.over(ctx, p.job)
	if err != nil {
		return err
	}
	if j.State != "failed" || j.Error == nil || j.Error.Code != code || !strings.Contains(j.Error.Message, message) {
		return fmt.Errorf("on a host whose disk is full the job is %s: %+v", j.State, j.Error)
	}
	p.host.Behave(host.Manners{})
	if err := w.retry(ctx, p.job); err != nil {
		return err
	}
	return p.mend(ctx)
}

// longLog reads back, in order and whole, what a play told. With much time it is
// more than a log takes: that is cut after as much as it promises, and says so.
func longLog(ctx context.Context, w *World) error {
	lines := 100_000
	if w.long {
		lines = 1_000_000
	}
	p, err := w.prepare(ctx, "unit_allocate")
	if err == nil {
		err = p.begin(ctx, host.Manners{Lines: lines})
	}
	if err == nil {
		err = w.succeeds(ctx, p.job)
	}
	if err != nil {
		return err
	}
	read := reading{lines: lines}
	for !read.over {
		page, err := retried(ctx, w, func(c *client.Client) (api.JobLog, error) { return c.GetJobLog(ctx, p.job, read.last, 1000) })
		if err != nil {
			return err
		}
		for _, e := range page.Items {
			if err := read.take(e); err != nil {
				return err
			}
		}
		read.over = len(page.Items) == 0
	}
	return read.whole(w.long)
}

// reading is how far a log was read, in which each task tells so many lines.
type reading struct {
	lines int
	last  int64
	task  string
	told  int // lines of the task
	all   int // of all tasks
	cut   bool
	over  bool
}

// take holds that an entry follows the one before it: its sequence is given by
// the backend, and its lines are numbered by those who tell them.
func (r *reading) take(e api.LogEntry) error {
	switch {
	case e.Sequence != r.last+1:
		return fmt.Errorf("entry %d follows entry %d", e.Sequence, r.last)
	case r.cut:
		return fmt.Errorf("entry %d (%s) follows the end of the log", e.Sequence, e.Kind)
	}
	r.last = e.Sequence
	r.cut = strings.Contains(e.Message, "reached its limit")
	if e.Item == "" {
		return nil
	}
	if e.Task != r.task {
		if r.task != "" && r.told != r.lines {
			return fmt.Errorf("%d lines of %q were read back, of %d", r.told, r.task, r.lines)
		}
		r.task, r.told = e.Task, 0
	}
	if e.Item != strconv.Itoa(r.told) {
		return fmt.Errorf("line %s of %q is where line %d is to be", e.Item, e.Task, r.told)
	}
	r.told++
	r.all++
	return nil
}

// whole holds that nothing is missing.
func (r *reading) whole(mayBeCut bool) error {
	switch {
	case r.cut && !mayBeCut:
		return fmt.Errorf("the log is cut after %d lines", r.all)
	case r.cut && r.all < r.lines:
		return fmt.Errorf("the log is cut after %d lines, which are not %d", r.all, r.lines)
	case !r.cut && (r.told != r.lines || r.all < 2*r.lines): // each of two or three tasks tells as much
		return fmt.Errorf("%d lines were read back, each task told %d", r.all, r.lines)
	}
	return nil
}
