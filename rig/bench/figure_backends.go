package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"kloigos/crdb/localdb"
)

const cappedAt = 0.3 // of a core

// backends compares three with one: the jobs that do nothing that they carry out, each capped at a part of a core, and
// the statements that they send when there is nothing to do.
func backends(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	if err := b.buildQueueBench(ctx); err != nil {
		return nil, err
	}
	idle := map[int][]float64{}
	for _, n := range []int{1, 3} {
		each, err := b.idleStatements(ctx, n, scale.Quiet)
		if err != nil {
			return nil, err
		}
		idle[n] = append(idle[n], each)
		b.say("   %d idle: %.2f statements a second", n, each)
	}
	results := []Result{{
		What: "statements a second of three idle backends, all roles, over those of one", Limit: Limit{Value: 1.2},
		Measured: median(idle[3]) / median(idle[1]), Raw: fmt.Sprintf("%.2f/s, one %.2f/s, BEGIN and COMMIT counted", median(idle[3]), median(idle[1])),
	}}
	ansible, err := b.newStandIn(ctx)
	if err != nil {
		return nil, err
	}
	for _, work := range []struct {
		what string
		do   func(n int) (float64, error)
	}{
		{"plays a second (Ansible stood in for)", func(n int) (float64, error) { return b.cappedPlays(ctx, ansible, n, scale) }},
		{"jobs a second that do nothing", func(n int) (float64, error) { return b.capped(ctx, n, scale) }},
	} {
		r, err := b.threeOverOne(work.what, scale.Rounds, work.do)
		if errors.Is(err, errNoCgroups) {
			b.say("   backends can't be capped here: %v", err)
			return results, nil
		}
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func (b *Bed) threeOverOne(what string, rounds int, do func(n int) (float64, error)) (Result, error) {
	rates := map[int][]float64{}
	for range rounds {
		for _, n := range []int{1, 3} {
			each, err := do(n)
			if err != nil {
				return Result{}, err
			}
			rates[n] = append(rates[n], each)
			b.say("   %d capped: %.0f %s", n, each, what)
		}
	}
	return Result{
		What:  fmt.Sprintf("%s of three backends over one, each capped at %v of a core", what, cappedAt),
		Limit: Limit{Value: 2.5, AtLeast: true}, Measured: median(rates[3]) / median(rates[1]),
		Raw: fmt.Sprintf("%.0f/s, one %.0f/s", median(rates[3]), median(rates[1])),
	}, nil
}

// sent is a statement in the server's log; those of this connection are left out.
var sent = regexp.MustCompile(`(?m)^\S+ \S+ UTC \[\d+\] LOG:  (?:execute [^:]+|statement): (?:ALTER SYSTEM|SELECT pg_)?`)

// idleStatements counts what some backends send, by the server's log, once each has heard of the others.
func (b *Bed) idleStatements(ctx context.Context, n int, quiet time.Duration) (perSecond float64, err error) {
	database, err := b.fleet(ctx, unitsAHost, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	for range n {
		s, err := b.startProcess(ctx, database, "api,worker,reconciler", "KLOIGOS_RUN_ROOT="+b.runRoot())
		if err != nil {
			return 0, err
		}
		defer func() { _ = s.Kill() }()
	}
	if !b.options.Fast {
		time.Sleep(heartbeat)
	}
	before, err := os.Stat(b.log)
	if err != nil {
		return 0, err
	}
	if _, err := b.watch(ctx, func() error { time.Sleep(quiet); return nil }); err != nil {
		return 0, err
	}
	text, err := os.ReadFile(b.log)
	if err != nil {
		return 0, err
	}
	count := 0
	for _, found := range sent.FindAllString(string(text[before.Size():]), -1) {
		if !strings.HasSuffix(found, "ALTER SYSTEM") && !strings.HasSuffix(found, "SELECT pg_") {
			count++
		}
	}
	return float64(count) / quiet.Seconds(), nil
}

// capped has some processes carry jobs out and returns how many they end in a second, together.
func (b *Bed) capped(ctx context.Context, n int, scale Scale) (perSecond float64, err error) {
	database, err := b.fleet(ctx, queueBatch*unitsAHost, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	queued := 6 * scale.LongQueue // lasts for three on a fast machine
	if err := b.fillQueue(ctx, database, queued); err != nil {
		return 0, err
	}
	for range n {
		end, err := b.startCapped(ctx, database)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, end()) }()
	}
	return b.endedPerSecond(ctx, database, queued, scale.Capped)
}

// endedPerSecond watches how fast what is queued ends.
func (b *Bed) endedPerSecond(ctx context.Context, database string, queued int, lasts time.Duration) (float64, error) {
	ended := func() (int64, error) {
		return b.value(ctx, database, "SELECT count(*) FROM jobs WHERE finished_at IS NOT NULL")
	}
	time.Sleep(lasts / 5) // connections, prepared statements
	first, err := ended()
	if err != nil {
		return 0, err
	}
	begun := time.Now()
	time.Sleep(lasts)
	last, err := ended()
	if err == nil && int(last) >= queued && !b.options.Fast {
		err = errors.New("the queue ran empty: make it longer")
	}
	return float64(last-first) / time.Since(begun).Seconds(), err
}

// startCapped starts a process that carries jobs out, in a cgroup of its own, and returns what ends both.
func (b *Bed) startCapped(ctx context.Context, database string) (end func() error, err error) {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return nil, err
	}
	group, err := newCPUGroup(fmt.Sprintf("kloigos-bench-%d-%d", os.Getpid(), b.made.Add(1)), cappedAt)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, b.path("queuebench"), "work", "-database", url, "-slots", strconv.Itoa(queueSlots))
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, errors.Join(err, group.remove())
	}
	end = func() error {
		return errors.Join(input.Close(), cmd.Wait(), group.remove())
	}
	if err := group.add(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, end())
	}
	return end, nil
}
