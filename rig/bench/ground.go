package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
)

// ground is what plays are run on: a native host, a database in which every host is that one, and a backend of all roles.
type ground struct {
	bed      *Bed
	database string
	host     *nativeHost
	backend  *backend
	key      string // PEM, that the host takes beside the organization's
}

func (b *Bed) newGround(ctx context.Context, hosts, each int) (_ *ground, err error) {
	g := &ground{bed: b}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close(ctx))
		}
	}()
	if g.database, err = b.copyDatabase(ctx, prepared); err != nil {
		return nil, err
	}
	// Plays of several hosts at once are told apart by their jobs, not by their host: all have the one incarnation, and
	// the fence of the bench lets runs with the same number work beside each other.
	incarnation := uuid.NewString()
	private, public, err := newKey()
	if err != nil {
		return nil, err
	}
	g.key = private
	if g.backend, err = b.startBackend(ctx, g.database, "api,worker,reconciler", "KLOIGOS_RUN_ROOT="+b.runRoot()); err != nil {
		return nil, err
	}
	system, err := g.backend.client.GetSystem(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask for the control plane's key: %w", err)
	}
	if g.host, err = b.startHost(ctx, incarnation, system.PublicKey, public); err != nil {
		return nil, err
	}
	if err := b.fill(ctx, g.database, fleet{units: hosts * each, each: each, address: g.host.address, port: hostPort, hostKey: g.host.key}); err != nil {
		return nil, err
	}
	if err := b.exec(ctx, g.database, "UPDATE hosts SET incarnation = '"+incarnation+"'"); err != nil {
		return nil, err
	}
	return g, b.bindPlaybook(ctx, g.database)
}

func (g *ground) close(ctx context.Context) error {
	var errs []error
	if g.backend != nil {
		errs = append(errs, g.backend.Kill())
	}
	if g.host != nil {
		errs = append(errs, g.host.stop())
	}
	if g.database != "" {
		errs = append(errs, g.bed.dropDatabase(context.WithoutCancel(ctx), g.database))
	}
	return errors.Join(errs...)
}

// playLimit is how long a play may take on a machine that is not in good order.
const playLimit = 2 * time.Minute

// allocate asks for a unit of a host and follows the job until it is over, as a person would.
func (g *ground) allocate(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, playLimit)
	defer cancel()
	begun := time.Now()
	_, job, err := g.backend.client.CreateAllocation(ctx, api.CreateAllocation{CPUs: 1, Host: host, SSHKeys: []string{someKey}})
	if err != nil {
		return fmt.Errorf("allocate: %w", err)
	}
	accepted := time.Now()
	var told []string
	var times []time.Time
	for event, err := range g.backend.client.StreamJobLog(ctx, job, 0) {
		if err != nil {
			return fmt.Errorf("follow the job: %w, after:\n%s\nthe backend:\n%s", err, strings.Join(told, "\n"), g.backend.Tail())
		}
		if e := event.Log; e != nil {
			times = append(times, e.Time)
			told = append(told, strings.Join([]string{e.Kind, e.Task, e.Message, e.Output}, " "))
		}
	}
	over := time.Now()
	ended, err := g.backend.client.GetJob(ctx, job)
	if err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	if ended.State != "succeeded" {
		return fmt.Errorf("the job is %s: %+v, after:\n%s", ended.State, ended.Error, strings.Join(told, "\n"))
	}
	if ended.StartedAt != nil && ended.FinishedAt != nil && len(times) > 1 {
		since := func(a, b time.Time) string { return milliseconds(b.Sub(a)) }
		g.bed.say("   accepted after %s, claimed after another %s, then: first event %s, last event %s, end of the job %s, seen %s", since(begun, accepted),
			since(accepted, *ended.StartedAt), since(*ended.StartedAt, times[0]), since(times[0], times[len(times)-1]),
			since(times[len(times)-1], *ended.FinishedAt), since(*ended.FinishedAt, over))
	}
	return nil
}
