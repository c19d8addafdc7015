package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
)

// jobs looks at what several jobs at once cost in the backend's own process, beside their supervisors and Ansible.
func jobs(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	g, err := b.newGround(ctx, scale.Jobs, 4)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.close(ctx)) }()
	// One job alone warms up: what the first one leaves behind for good is no cost of each.
	if err := g.allocate(ctx, firstHost); err != nil {
		return nil, err
	}
	// To the fence all hosts are one: their next numbers must be the same, or it takes the others for late.
	if err := b.exec(ctx, g.database, "UPDATE host_locks SET number = (SELECT max(l.number) FROM host_locks l)"); err != nil {
		return nil, err
	}
	// Nor are the connections to the database, which the API opens as well, up to the same bound.
	if _, err := (load{
		address: g.backend.listen, clients: scale.Clients, each: 5,
		next: func(_, _ int, r *fasthttp.Request) bool {
			r.SetRequestURI("http://" + g.backend.listen + api.Prefix + "/jobs")
			r.Header.Set("Authorization", "Bearer "+g.backend.token)
			return true
		},
		take: expect(http.StatusOK),
	}).run(ctx); err != nil {
		return nil, err
	}
	before, err := readMemory(g.backend.PID)
	if err != nil {
		return nil, err
	}
	var costs []float64
	for range 2 {
		most, err := g.together(ctx, scale.Jobs)
		if err != nil {
			return nil, err
		}
		costs = append(costs, float64(most.anonymous-before.anonymous)/float64(scale.Jobs)/(1<<20))
		b.say("   %d jobs at once: %.2f MiB each", scale.Jobs, costs[len(costs)-1])
	}
	return []Result{{
		What:  fmt.Sprintf("memory of the backend for a job, %d at once", scale.Jobs),
		Limit: Limit{Value: 1, Unit: "MiB"}, Measured: max(0, median(costs)), Raw: fmt.Sprintf("the most that was seen in each of %d rounds, over that after one job and some reads", len(costs)),
	}}, nil
}

// together runs a job on each host at once and returns the most memory that the backend had meanwhile.
func (g *ground) together(ctx context.Context, hosts int) (most memory, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for n := range hosts {
		all.Go(func() {
			if err := g.allocate(ctx, fmt.Sprintf("bench-%05d", n+1)); err != nil {
				cancel(err)
			}
		})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		all.Wait()
	}()
	for {
		m, err := readMemory(g.backend.PID)
		if err != nil {
			return most, err
		}
		most.anonymous, most.resident = max(most.anonymous, m.anonymous), max(most.resident, m.resident)
		select {
		case <-ended:
			return most, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
