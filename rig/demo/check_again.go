package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"

	"kloigos/backend/api"
)

// twice has a playbook run two times on the host: the backend that runs it dies when the play has ended, before
// anything of it is written, so that another one takes the job over and runs the play again. It fails if the second run
// changes something that it may not. mayChange is asked for each task that did.
func (c *checker) twice(ctx context.Context, playbook string, ask func() (job string, err error), mayChange func(api.LogEntry) bool) (job string, err error) {
	failpoint := "play_done." + playbook + ".playbook.yml"
	if err := c.arm(failpoint); err != nil {
		return "", err
	}
	defer func() {
		if err != nil { // what comes next needs all backends, and that none of them dies
			disarmed := c.disarm(failpoint)
			_, revived := c.revive()
			err = errors.Join(err, disarmed, revived)
		}
	}()
	if job, err = ask(); err != nil {
		return "", err
	}
	if err := c.i.follow(ctx, job); err != nil {
		return "", err
	}
	revived, err := c.revive()
	if err != nil {
		return "", err
	}
	ended, err := c.i.Client.GetJob(ctx, job)
	if err != nil {
		return "", fmt.Errorf("read the job: %w", err)
	}
	if revived != 1 || ended.Attempt != 2 {
		return "", fmt.Errorf("%d backends died, and the job is at attempt %d: it did not run twice", revived, ended.Attempt)
	}
	return job, c.changedNothing(ctx, job, func(entry api.LogEntry) bool { return entry.Attempt == 2 && !mayChange(entry) })
}

// arm makes the first backend that gets to the failpoint die there (backend/internal/kernel/failpoint).
func (c *checker) arm(failpoint string) error {
	if err := os.MkdirAll(c.i.path(failpointDir), 0o700); err != nil {
		return fmt.Errorf("make the directory of failpoints: %w", err)
	}
	if err := os.WriteFile(c.i.path(failpointDir, failpoint), nil, 0o600); err != nil {
		return fmt.Errorf("arm %s: %w", failpoint, err)
	}
	return nil
}

// disarm takes back what arm did, if no backend got there.
func (c *checker) disarm(failpoint string) error {
	if err := os.Remove(c.i.path(failpointDir, failpoint)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("disarm %s: %w", failpoint, err)
	}
	return nil
}

// revive starts the backends anew that have died, and tells how many those were.
func (c *checker) revive() (revived int, err error) {
	for n, backend := range c.i.Backends {
		if !backend.Ended() {
			continue
		}
		next, err := c.i.group.replace(backend)
		if err != nil {
			return revived, fmt.Errorf("start %s again: %w", backend.Name, err)
		}
		c.i.Backends[n] = next
		revived++
	}
	return revived, nil
}

// probeAgain reads the host once more, as one of several that a job may have: what
// it is has not changed by being read.
func (c *checker) probeAgain(ctx context.Context) error {
	if err := c.i.refresh(ctx); err != nil {
		return err
	}
	before := c.i.Host.Facts
	if before == nil {
		return errors.New("the host has no facts")
	}
	_, job, err := c.i.Client.ProbeHosts(ctx, api.ProbeHosts{Hosts: []string{c.i.Host.Name}})
	if err != nil {
		return fmt.Errorf("probe again: %w", err)
	}
	if err := c.i.follow(ctx, job); err != nil {
		return err
	}
	if err := c.unchanged(ctx, job); err != nil {
		return err
	}
	if err := c.i.refresh(ctx); err != nil {
		return err
	}
	// The kernel takes another part of the memory at each boot.
	if after := c.i.Host.Facts; after == nil || !reflect.DeepEqual(after.CPUs, before.CPUs) || len(after.Nodes) != len(before.Nodes) {
		return fmt.Errorf("the second probe read %+v, the first %+v", after, before)
	}
	return nil
}
