package bench

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/crdb/localdb"
	"kloigos/rig/demo"
)

//go:embed sql/agents.sql
var agentsSQL string

// agentBackends is how many backends take the heartbeats, behind HAProxy.
const agentBackends = 3

// heartbeats has the agents of a large fleet send heartbeats every 10 seconds, through HAProxy to three backends of all roles.
func heartbeats(ctx context.Context, b *Bed, scale Scale) (_ []Result, err error) {
	database, err := b.fleetOf(ctx, fleet{units: scale.Agents, each: 1, address: "127.0.0.1", port: 22, hostKey: someHostKey})
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	var all []*backend
	var listen []string
	for range agentBackends {
		s, err := b.startProcess(ctx, database, "api,worker,reconciler", "KLOIGOS_RUN_ROOT="+b.runRoot())
		if err != nil {
			return nil, err
		}
		defer func() { _ = s.Kill() }()
		all, listen = append(all, s), append(listen, s.listen)
	}
	// Only now: an agent that is enrolled and sends nothing is overdue within a minute.
	a, err := b.enrolled(ctx, database, scale)
	if err != nil {
		return nil, err
	}
	proxy, end, err := b.proxyTo(ctx, listen)
	if err != nil {
		return nil, err
	}
	defer end()
	a.address = proxy
	running, stop := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() { a.run(running); close(ended) }()
	defer func() { stop(); <-ended }()
	if err := wait(ctx, 3*a.every); err != nil { // each has connected, and its first report was written
		return nil, err
	}
	watched, err := b.beats(ctx, a, all, scale.AgentsWatched)
	if err != nil {
		return nil, err
	}
	lost, err := b.afterKill(ctx, a, all, database, scale)
	if err != nil {
		return nil, err
	}
	return append(watched, lost...), nil
}

// enrolled makes an agent of each host.
func (b *Bed) enrolled(ctx context.Context, database string, scale Scale) (*agents, error) {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, agentsSQL); err != nil {
		return nil, fmt.Errorf("make agents: %w", err)
	}
	if _, err := conn.Exec(ctx, "VACUUM (ANALYZE) agents, agent_credentials, agent_liveness"); err != nil {
		return nil, fmt.Errorf("analyze the agents: %w", err)
	}
	rows, err := conn.Query(ctx, "SELECT id FROM agents")
	if err != nil {
		return nil, fmt.Errorf("list the agents: %w", err)
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[uuid.UUID])
	return &agents{every: scale.AgentsEvery, ids: ids, failed: map[string]int{}, cut: make(chan struct{})}, err
}

// proxyTo starts HAProxy, as the demo configures it, before backends. Agents are on this machine, so they take its plain way.
func (b *Bed) proxyTo(ctx context.Context, backends []string) (address string, end func(), err error) {
	certificates, err := demo.MakeCertificates(b.options.Dir)
	if err != nil {
		return "", nil, err
	}
	ports, err := demo.FreePorts(0, 2)
	if err != nil {
		return "", nil, err
	}
	at := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	p := demo.Proxy{Listen: at(ports[0]), Internal: at(ports[1]), Bundle: certificates.Bundle, Backends: backends}
	started, err := p.Start(ctx, b.group, nil, b.path("haproxy.cfg"))
	if err != nil {
		return "", nil, err
	}
	end = func() { _ = started.Kill() }
	if err := awaitReady(ctx, started, "http://"+p.Internal+"/readyz"); err != nil {
		end()
		return "", nil, err
	}
	return p.Internal, end, nil
}

// beats watches for some time what the heartbeats cost.
func (b *Bed) beats(ctx context.Context, a *agents, all []*backend, watched time.Duration) ([]Result, error) {
	a.look()
	before, err := cpuOf(all)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := wait(ctx, watched); err != nil {
		return nil, err
	}
	after, err := cpuOf(all)
	if err != nil {
		return nil, err
	}
	lasted := time.Since(began)
	took, failed := a.look()
	if len(took) == 0 || len(failed) > 0 {
		return nil, fmt.Errorf("%d heartbeats were accepted, others were not: %v", len(took), failed)
	}
	spent := after - before
	return []Result{
		{
			What:  fmt.Sprintf("cores of three backends together, all roles, with %d agents of as many hosts", len(a.ids)),
			Limit: Limit{Value: 1, Unit: "cores"}, Measured: float64(spent) / float64(lasted), Raw: fmt.Sprintf("%.0f heartbeats a second", float64(len(took))/lasted.Seconds()),
		},
		{
			What: "processor time of the backends for a heartbeat, all that they do otherwise included", Limit: Limit{Value: 100, Unit: "µs"},
			Measured: float64(spent.Microseconds()) / float64(len(took)), Raw: fmt.Sprintf("%d heartbeats in %s", len(took), lasted.Round(time.Second)),
		},
		{
			What: "p99 of an accepted heartbeat", Limit: Limit{Value: 20, Unit: "ms"}, Measured: float64(percentile(took, 99)) / float64(time.Millisecond),
			Raw: "median " + milliseconds(percentile(took, 50)),
		},
	}, nil
}

// afterKill measures a reconnect of all agents, kills a backend, and counts hosts that look unreachable afterwards.
func (b *Bed) afterKill(ctx context.Context, a *agents, all []*backend, database string, scale Scale) ([]Result, error) {
	before, err := cpuOf(all)
	if err != nil {
		return nil, err
	}
	took := a.reconnect()
	after, err := cpuOf(all)
	if err != nil {
		return nil, err
	}
	if err := all[0].Kill(); err != nil {
		return nil, err
	}
	if err := wait(ctx, scale.AgentsSilence); err != nil {
		return nil, err
	}
	unreachable, err := b.value(ctx, database, "SELECT count(*) FROM hosts WHERE health = 'unreachable'")
	if err != nil {
		return nil, err
	}
	_, failed := a.look()
	return []Result{
		{
			What: "until each agent had a heartbeat accepted again after all connections broke at once", Limit: Limit{Value: 20, Unit: "s"}, Measured: took.Seconds(),
			Raw: fmt.Sprintf("%s of processor time of the backends", (after - before).Round(time.Millisecond)),
		},
		{
			What:  fmt.Sprintf("hosts that look unreachable %s after one of three backends was killed", scale.AgentsSilence),
			Limit: Limit{Value: 0, Unit: "hosts"}, Measured: float64(unreachable), Raw: fmt.Sprintf("heartbeats that were sent again: %v", failed),
		},
	}, nil
}

// cpuOf is the processor time that backends and their children have used.
func cpuOf(all []*backend) (total time.Duration, err error) {
	for _, s := range all {
		spent, err := familyCPU(s.PID)
		if err != nil {
			return 0, err
		}
		total += spent
	}
	return total, nil
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
