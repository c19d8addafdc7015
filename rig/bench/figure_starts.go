package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// pollInterval is how often idle workers look for jobs.
const pollInterval = 200 * time.Millisecond

// starts measures from the commit of a request, as the database's clock has it, to the first line of ansible-playbook,
// which is stood in for by a program that notes the time and is begun as that one is: where the request came to the backend
// that works, and where it came to one that has no workers.
func starts(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	ansible, err := b.newLoadedStandIn()
	if err != nil {
		return nil, err
	}
	same, err := b.startsOn(ctx, ansible, scale, "api,worker,reconciler")
	if err != nil {
		return nil, err
	}
	across, err := b.startsOn(ctx, ansible, scale, "api", "worker", "worker")
	if err != nil {
		return nil, err
	}
	told := func(all []time.Duration) string {
		return fmt.Sprintf("of %d: p50 %s, p90 %s, p99 %s", len(all), milliseconds(percentile(all, 50)), milliseconds(percentile(all, 90)), milliseconds(percentile(all, 99)))
	}
	return []Result{
		{
			What: "p50 from the commit of a request to the first line of `ansible-playbook`, on one backend", Limit: Limit{Value: 25, Unit: "ms"},
			Measured: float64(percentile(same, 50)) / float64(time.Millisecond), Raw: told(same),
		},
		{
			What: "p99 of the same over poll intervals of 200 ms, from a backend without workers to two that have some", Limit: Limit{Value: 1.25},
			Measured: float64(percentile(across, 99)) / float64(pollInterval), Raw: told(across),
		},
	}, nil
}

// startsOn has the first of some backends take requests, one after the other.
func (b *Bed) startsOn(ctx context.Context, ansible standIn, scale Scale, first string, more ...string) (all []time.Duration, err error) {
	database, end, err := b.standInFleet(ctx, scale.Starts+warmUp)
	if err != nil {
		return nil, err
	}
	defer end()
	s, err := b.startBackend(ctx, database, first, ansible.environment(b)...)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Kill() }()
	for _, roles := range more {
		other, err := b.startProcess(ctx, database, roles, ansible.environment(b)...)
		if err != nil {
			return nil, err
		}
		defer func() { _ = other.Kill() }()
	}
	if len(more) > 1 && !b.options.Fast { // until each has heard of the others
		time.Sleep(heartbeat)
	}
	for n := range scale.Starts + warmUp {
		if !b.options.Fast { // until the next play's beginning has been made
			time.Sleep(madeAhead)
		}
		time.Sleep(rand.N(pollInterval)) // not in step with the polls
		took, err := b.start(ctx, ansible, s, database)
		if err != nil {
			return nil, err
		}
		if n >= warmUp {
			all = append(all, took)
		}
	}
	return all, nil
}

// standInFleet is a fleet whose hosts take connections, and then hang up.
func (b *Bed) standInFleet(ctx context.Context, units int) (database string, end func(), err error) {
	if database, err = b.copyDatabase(ctx, prepared); err != nil {
		return "", nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listen for the hosts: %w", err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
	end = func() {
		_ = listener.Close()
		_ = b.dropDatabase(context.WithoutCancel(ctx), database)
	}
	port := listener.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a listener for TCP
	err = b.fill(ctx, database, fleet{units: units, each: 1, address: "127.0.0.1", port: port, hostKey: someHostKey})
	if err != nil {
		end()
	}
	return database, end, err
}

// madeAhead is how long the loading of Ansible takes behind a play, with time to spare.
const madeAhead = time.Second

// heartbeat is how often a backend says that it is there, and hears of the others; with a second to spare.
const heartbeat = 11 * time.Second

func (b *Bed) start(ctx context.Context, ansible standIn, s *backend, database string) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, playLimit)
	defer cancel()
	if err := ansible.forget(); err != nil {
		return 0, err
	}
	_, job, err := s.client.CreateAllocation(ctx, api.CreateAllocation{CPUs: 1, SSHKeys: []string{someKey}})
	if err != nil {
		return 0, fmt.Errorf("allocate: %w", err)
	}
	for {
		time.Sleep(20 * time.Millisecond) // first: the question would be answered while the play is begun
		j, err := s.client.GetJob(ctx, job)
		if err != nil {
			return 0, fmt.Errorf("read the job: %w", err)
		}
		if j.State == "succeeded" {
			break
		}
		if j.FinishedAt != nil || j.Failures > 0 {
			return 0, fmt.Errorf("the job is %s: %+v", j.State, j.Error)
		}
	}
	committed, err := b.value(ctx, database, `SELECT (EXTRACT(EPOCH FROM pg_xact_commit_timestamp(e.xmin)) * 1000000)::INT8
	                                            FROM events e WHERE e.action = 'allocation.create' AND e.job_id = '`+uuid.MustParse(job).String()+`'`)
	if err != nil {
		return 0, fmt.Errorf("ask when the request was committed: %w", err)
	}
	plays, err := ansible.starts()
	if err != nil || len(plays) != 1 {
		return 0, fmt.Errorf("%d plays of one job (%w)", len(plays), err)
	}
	return plays[0].Sub(time.UnixMicro(committed)), nil
}
