package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"kloigos/backend/api"
	"kloigos/rig/faults/host"
	"kloigos/rig/runs"
)

// orphaning kills something around a play, and says what is to come of it.
type orphaning struct {
	name string
	kill func(b *Backend) error
	// swept: nobody is left who could end the play's processes but a backend that starts.
	swept bool
	// fits tells whether that is what has become of the job.
	fits  func(api.Job) bool
	means string
}

// What becomes of a job: it is taken over when its lease has run out, or tried
// again.
func takenOver(j api.Job) bool {
	return j.State == "succeeded" && j.Attempt > 1 && j.Failures == 0
}

func triedAgain(j api.Job) bool {
	return j.State == "succeeded" && j.Attempt > 1 && j.Failures == 1
}

// orphanings kill one thing at a time. Ansible's process group is its
// supervisor's, who leads it: what is left of that is a child that has gone apart.
func orphanings() []orphaning {
	supervisor := func(b *Backend) error { return kill(b.supervisors()) }
	return []orphaning{
		{"the backend", func(b *Backend) error { return b.Kill() }, false, takenOver, "taken over"},
		{"ansible-playbook", func(b *Backend) error { return kill(b.ansibles()) }, false, triedAgain, "tried again"},
		{"Ansible's process group", killGroup, false, triedAgain, "tried again"},
		{"the supervisor", supervisor, false, triedAgain, "tried again"},
		{"the supervisor and the backend", func(b *Backend) error {
			if err := b.Signal(syscall.SIGSTOP); err != nil { // so that it can't clean up first
				return err
			}
			return errors.Join(supervisor(b), b.Kill())
		}, true, takenOver, "taken over"},
	}
}

// orphans kills what is around a play, one thing at a time.
func orphans(ctx context.Context, w *World) error {
	for _, o := range orphanings() {
		if err := w.orphan(ctx, o); err != nil {
			return fmt.Errorf("kill %s: %w", o.name, err)
		}
	}
	return nil
}

func (w *World) orphan(ctx context.Context, o orphaning) error {
	b, p, err := w.running(ctx, "unit_allocate", tooLong)
	if err != nil {
		return err
	}
	before := slices.DeleteFunc(w.marked(), func(pid int) bool { return !runs.HasPlay(pid) })
	if len(before) < 3 {
		return fmt.Errorf("only %d processes carry the run's mark, so nothing is proven", len(before))
	}
	ended := p.host.Ended()
	// Or whoever takes over would end the task, and so the play that waits for it.
	p.host.Behave(host.Manners{Silent: true})
	if err := o.kill(b); err != nil {
		return err
	}
	if o.swept {
		if err := w.revive(ctx); err != nil {
			return err
		}
	}
	err = await(ctx, "the processes of the run to end", 10*time.Second, func() bool {
		now := w.marked()
		return !slices.ContainsFunc(before, func(pid int) bool { return slices.Contains(now, pid) })
	})
	if err != nil {
		return err
	}
	p.host.Behave(host.Manners{})
	j, err := w.over(ctx, p.job)
	if err != nil {
		return err
	}
	if !o.fits(j) {
		return fmt.Errorf("its job is %s in attempt %d, after %d failures, with %+v; it is to be %s", j.State, j.Attempt, j.Failures, j.Error, o.means)
	}
	if err := errors.Join(w.retry(ctx, p.job), w.revive(ctx)); err != nil {
		return err
	}
	if p.host.Ended() == ended {
		return errors.New("what had been begun on the host was never ended")
	}
	return p.mend(ctx)
}

func killGroup(b *Backend) error {
	ansibles := b.ansibles()
	if len(ansibles) != 1 {
		return fmt.Errorf("there are %d plays, not one", len(ansibles))
	}
	group, err := syscall.Getpgid(ansibles[0])
	if err != nil {
		return fmt.Errorf("find the play's group: %w", err)
	}
	if group == syscall.Getpgrp() || group == b.PID() {
		return fmt.Errorf("the play is in group %d, which is not its own", group)
	}
	return syscall.Kill(-group, syscall.SIGKILL)
}

func kill(pids []int) error {
	if len(pids) == 0 {
		return errors.New("there is nothing to kill")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			return err
		}
	}
	return nil
}
