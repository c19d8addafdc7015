package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"kloigos/backend/api"
)

// cappedPlays has some backends carry out allocations, each capped with all that it starts, and returns how many they
// end in a second, together. Ansible is stood in for: what a play costs a backend is the way to it, the run's directory,
// the supervisor, a process, the log, and the way back.
func (b *Bed) cappedPlays(ctx context.Context, ansible standIn, n int, scale Scale) (perSecond float64, err error) {
	database, end, err := b.standInFleet(ctx, scale.CappedPlays)
	if err != nil {
		return 0, err
	}
	defer end()
	if err := b.enqueuePlays(ctx, database, scale.CappedPlays); err != nil {
		return 0, err
	}
	for range n {
		endOne, err := b.startCappedBackend(ctx, database, ansible)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, endOne()) }()
	}
	return b.endedPerSecond(ctx, database, scale.CappedPlays, scale.Capped)
}

// enqueuePlays asks a backend without workers for allocations.
func (b *Bed) enqueuePlays(ctx context.Context, database string, jobs int) error {
	front, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return err
	}
	defer func() { _ = front.Kill() }()
	for range jobs {
		if _, _, err := front.client.CreateAllocation(ctx, api.CreateAllocation{CPUs: 1, SSHKeys: []string{someKey}}); err != nil {
			return fmt.Errorf("allocate: %w", err)
		}
	}
	return nil
}

// startCappedBackend starts a backend that only works, in a cgroup of its own, and returns what ends both.
func (b *Bed) startCappedBackend(ctx context.Context, database string, ansible standIn) (end func() error, err error) {
	group, err := newCPUGroup(fmt.Sprintf("kloigos-bench-%d-%d", os.Getpid(), b.made.Add(1)), cappedAt)
	if err != nil {
		return nil, err
	}
	s, err := b.startProcess(ctx, database, "worker", ansible.environment(b)...)
	if err != nil {
		return nil, errors.Join(err, group.remove())
	}
	end = func() error {
		err := s.Kill()
		for range 100 { // its supervisors notice its end, and are gone soon
			if group.remove() == nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
		return errors.Join(err, group.remove())
	}
	if err := group.add(s.PID); err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}
