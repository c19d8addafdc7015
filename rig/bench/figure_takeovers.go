package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/api"
)

const (
	takeoverLease = 5 * time.Second
	takeoverJobs  = 8 // that run when a backend is killed, on both together
)

// takeovers kills one of two backends with plays under way, and measures how long it takes until the other one is the
// holder of each of its hosts, in leases.
func takeovers(ctx context.Context, b *Bed, scale Scale) (_ []Result, err error) {
	ansible, err := b.newStandIn(ctx)
	if err != nil {
		return nil, err
	}
	database, end, err := b.standInFleet(ctx, takeoverJobs*scale.Takeovers)
	if err != nil {
		return nil, err
	}
	defer end()
	front, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return nil, err
	}
	defer func() { _ = front.Kill() }()
	worker := func() (*backend, error) {
		return b.startProcess(ctx, database, "worker", append(ansible.environment(b), "KLOIGOS_LEASE="+takeoverLease.String())...)
	}
	victim, err := worker()
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for range scale.Takeovers {
		some, next, err := b.takeover(ctx, ansible, database, front, victim, worker)
		if err != nil {
			return nil, errors.Join(err, victim.Kill())
		}
		took, victim = append(took, some...), next
	}
	if err := victim.Kill(); err != nil {
		return nil, err
	}
	return []Result{{
		What:  fmt.Sprintf("p99 from kill -9 of a backend to the takeover of its jobs, over leases of %s", takeoverLease),
		Limit: Limit{Value: 1.3}, Measured: float64(percentile(took, 99)) / float64(takeoverLease),
		Raw: fmt.Sprintf("of %d: p50 %.2f s, p99 %.2f s", len(took), percentile(took, 50).Seconds(), percentile(took, 99).Seconds()),
	}}, nil
}

// takeover has a worker begin plays that do not end, starts another one, kills the first, and returns how long each of
// its hosts took to be the other's, and the other.
func (b *Bed) takeover(ctx context.Context, ansible standIn, database string, front, victim *backend, worker func() (*backend, error)) (took []time.Duration, next *backend, err error) {
	ctx, cancel := context.WithTimeout(ctx, playLimit)
	defer cancel()
	if err := ansible.hang(true); err != nil {
		return nil, nil, err
	}
	for range takeoverJobs {
		if _, _, err := front.client.CreateAllocation(ctx, api.CreateAllocation{CPUs: 1, SSHKeys: []string{someKey}}); err != nil {
			return nil, nil, fmt.Errorf("allocate: %w", err)
		}
	}
	count := func(what string, want int64) error {
		for {
			n, err := b.value(ctx, database, "SELECT count(*) FROM "+what)
			if err != nil || n == want {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if err := count("host_locks WHERE job_id IS NOT NULL AND attempt = 1", takeoverJobs); err != nil {
		return nil, nil, fmt.Errorf("wait for the plays to begin: %w", err)
	}
	if next, err = worker(); err != nil {
		return nil, nil, err
	}
	killed := time.Now()
	if err := victim.Kill(); err != nil {
		return nil, next, err
	}
	if err := count("host_locks WHERE job_id IS NOT NULL AND attempt = 2", takeoverJobs); err != nil {
		return nil, next, fmt.Errorf("wait for the takeovers: %w", err)
	}
	held, err := b.values(ctx, database, "SELECT (EXTRACT(EPOCH FROM l.taken_at) * 1000000)::INT8 FROM host_locks l WHERE l.job_id IS NOT NULL")
	if err != nil {
		return nil, next, err
	}
	for _, at := range held {
		took = append(took, time.UnixMicro(at).Sub(killed))
	}
	if err := ansible.hang(false); err != nil {
		return nil, next, err
	}
	return took, next, count("jobs WHERE finished_at IS NULL", 0)
}
