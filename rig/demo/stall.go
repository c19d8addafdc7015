package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"kloigos/rig/runs"
)

const (
	// settles is how long what was just asked of the host may take to begin there.
	settles = 3 * time.Second
	// stands is how long a backend that is to keep its job stands still at most: it gives up at three quarters of its lease
	// without a renewal, and may have to try one again that the stop had cut.
	stands = checkLease / 2
	// renews is enough for such a renewal: one is tried every second.
	renews = 2 * time.Second
	// moment is less than a task takes, in emulation.
	moment = 500 * time.Millisecond
	// tries is how often a play is stopped: it has seven tasks on the host, and gets on by one in two or three.
	tries = 6
)

// stalled is a backend that stands still, and its play.
type stalled struct {
	backend    int
	supervisor int // it does nothing for the play, and ends it when the backend is gone: it is never stopped
	dir        string
	play       []int // Ansible, and all that comes of it
}

// stall stops a backend and its play, of which the host has heard, at a moment when nothing of it is at work on the host:
// then all that it can do there is to ask for more. A module that takes its time, or waits for what a stopped Ansible
// would send it, has to be done with first. What it returns is to go on whatever comes, also with an error.
func (c *checker) stall(ctx context.Context, p *Process, of holder) (*stalled, error) {
	s := &stalled{backend: p.PID}
	supervisors := runs.Supervisors(p.PID)
	if len(supervisors) != 1 {
		return s, fmt.Errorf("it has %d plays, not one", len(supervisors))
	}
	s.supervisor = supervisors[0]
	if s.dir = runs.Of(s.supervisor); s.dir == "" {
		return s, errors.New("its play has just ended")
	}
	var busy error
	for range tries {
		if err := s.stop(); err != nil {
			return s, err
		}
		var h holder
		if h, busy = c.rests(ctx, of); busy == nil {
			if h.number != of.number {
				return s, fmt.Errorf("the host listens to number %d already, not to %d", h.number, of.number)
			}
			return s, nil
		}
		if err := s.moveOn(ctx); err != nil {
			return s, err
		}
	}
	return s, fmt.Errorf("at each of %d stops something of it was at work on the host: %w", tries, busy)
}

// rests waits until what the holder of a host had begun is done there, or it is the holder no more; it fails if neither is
// so by the time when the backend has to go on.
func (c *checker) rests(ctx context.Context, of holder) (h holder, err error) {
	if err := wait(ctx, settles); err != nil {
		return h, err
	}
	ctx, cancel := context.WithTimeout(ctx, stands-settles)
	defer cancel()
	return c.holder(ctx, func(h holder) bool { return h.idle || h.number != of.number })
}

// stop stops the backend, and then its play.
func (s *stalled) stop() error {
	if err := signal(syscall.SIGSTOP, s.backend); err != nil {
		return err
	}
	s.play = nil
	for fresh := true; fresh; { // one that was not stopped yet may have begun another
		fresh = false
		for _, pid := range runs.Processes(s.dir) {
			if pid == s.supervisor || slices.Contains(s.play, pid) {
				continue
			}
			if err := signal(syscall.SIGSTOP, pid); err != nil {
				return err
			}
			s.play, fresh = append(s.play, pid), true
		}
	}
	if len(s.play) == 0 {
		return errors.New("its play has ended meanwhile")
	}
	return nil
}

// moveOn lets the backend renew its lease, while the play comes no nearer to its end, and then the play go on for a moment.
func (s *stalled) moveOn(ctx context.Context) error {
	if err := signal(syscall.SIGCONT, s.backend); err != nil {
		return err
	}
	if err := wait(ctx, renews); err != nil {
		return err
	}
	if err := s.playGoesOn(); err != nil {
		return err
	}
	return wait(ctx, moment)
}

// playGoesOn lets the play go on, whatever the backend does.
func (s *stalled) playGoesOn() error { return signal(syscall.SIGCONT, s.play...) }

func (s *stalled) goOn() error {
	return errors.Join(s.playGoesOn(), signal(syscall.SIGCONT, s.backend))
}

// signal sends a signal to processes. One that has ended needs none.
func signal(what syscall.Signal, pids ...int) error {
	var errs []error
	for _, pid := range pids {
		if err := syscall.Kill(pid, what); err != nil && !errors.Is(err, syscall.ESRCH) {
			errs = append(errs, fmt.Errorf("send signal %q to process %d: %w", what, pid, err))
		}
	}
	return errors.Join(errs...)
}

// wait returns when so much time has passed, with an error if the context is done before.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
