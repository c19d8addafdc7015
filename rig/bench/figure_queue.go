package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"kloigos/crdb/localdb"
)

var (
	//go:embed sql/queue.sql
	queueSQL string
	//go:embed sql/queue_fenced.sql
	queueFencedSQL string
)

const (
	queueBatch   = 50 // jobs enqueued in one transaction, on every side
	queueFeeders = 2  // that enqueue at once
	queueSlots   = 1000
	queueHosts   = 1000 // each holds one job at a time
)

// queueLoad is jobs that do nothing: such as only read, which hold no host, or such as hold theirs.
type queueLoad struct {
	sql   string // what pgbench does instead
	steps int    // a job
	holds int    // hosts a job
	args  []string
}

// queueRate compares the queue with the same rows moved by pgbench, and with riverqueue/river: jobs that do nothing are
// enqueued and carried out at the same time, until the end of each is written. Every round of every side has a fresh
// database on the same server.
func queueRate(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	hosts, err := b.fleetOf(ctx, fleet{units: queueHosts, each: 1, address: "127.0.0.1", port: 22, hostKey: someHostKey})
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, hosts) }()
	if err := b.buildQueueBench(ctx); err != nil {
		return nil, err
	}
	args := []string{
		"-jobs", strconv.Itoa(scale.QueueJobs), "-batch", strconv.Itoa(queueBatch), "-feeders", strconv.Itoa(queueFeeders), "-slots", strconv.Itoa(queueSlots),
	}
	reading := queueLoad{sql: queueSQL, steps: 2, args: slices.Concat([]string{"drain"}, args)}
	holding := queueLoad{sql: queueFencedSQL, steps: 1, holds: 1, args: slices.Concat([]string{"drain", "-fenced"}, args)}
	sides := []struct {
		name string
		run  func(database string) (measured, error)
	}{
		{"pgbench", func(database string) (measured, error) { return b.queueBare(ctx, database, reading, scale.QueueJobs) }},
		{"Kloigos", func(database string) (measured, error) { return b.queueOurs(ctx, database, reading, scale.QueueJobs) }},
		{"pgbench, fenced", func(database string) (measured, error) { return b.queueBare(ctx, database, holding, scale.QueueJobs) }},
		{"Kloigos, fenced", func(database string) (measured, error) { return b.queueOurs(ctx, database, holding, scale.QueueJobs) }},
		{"River", func(database string) (measured, error) { return b.jobsASecond(ctx, database, "riverbench", args...) }},
	}
	rates := make([][]float64, len(sides))
	for range scale.Rounds {
		for i, side := range sides {
			database, err := b.copyDatabase(ctx, hosts)
			if err != nil {
				return nil, err
			}
			m, err := b.costed(side.name, 0, func() (measured, error) { return side.run(database) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
			if err := b.dropDatabase(ctx, database); err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], m.perSecond)
		}
	}
	return queueResults(median(rates[0]), median(rates[1]), median(rates[2]), median(rates[3]), median(rates[4])), nil
}

func queueResults(bare, ours, bareFenced, fenced, river float64) []Result {
	overBare, overRiver := Limit{Value: 0.5, AtLeast: true}, Limit{Value: 1, AtLeast: true}
	return []Result{
		{
			What:  fmt.Sprintf("jobs a second that do nothing and hold their hosts, through the whole queue, over pgbench that moves the same rows %d at a time (READ COMMITTED)", queueBatch),
			Limit: overBare, Measured: fenced / bareFenced, Raw: fmt.Sprintf("%.0f/s, pgbench %.0f/s", fenced, bareFenced),
		},
		{
			What: "the same over riverqueue/river on the same server, whose jobs hold nothing", Limit: overRiver, Measured: fenced / river,
			Raw: fmt.Sprintf("%.0f/s, River %.0f/s", fenced, river),
		},
		{
			What: "jobs a second that do nothing and only read, over pgbench with their rows", Limit: overBare, Measured: ours / bare,
			Raw: fmt.Sprintf("%.0f/s, pgbench %.0f/s", ours, bare),
		},
		{
			What: "the same over riverqueue/river", Limit: overRiver, Measured: ours / river, Raw: fmt.Sprintf("%.0f/s, River %.0f/s", ours, river),
		},
	}
}

// queueOurs has the queue carry jobs out, and makes sure that it did.
func (b *Bed) queueOurs(ctx context.Context, database string, load queueLoad, jobs int) (measured, error) {
	m, err := b.jobsASecond(ctx, database, "queuebench", load.args...)
	if err != nil {
		return m, err
	}
	return m, b.allEnded(ctx, database, jobs, load)
}

// buildQueueBench builds the programs that put load on the queue, ours and River's.
func (b *Bed) buildQueueBench(ctx context.Context) error {
	for _, program := range []struct{ name, module, from string }{
		{"queuebench", "", "./backend/internal/testkit/cmd/queuebench"}, {"riverbench", "rig/bench/river", "."},
	} {
		cmd := exec.CommandContext(ctx, "go", "build", "-o", b.path(program.name), program.from)
		cmd.Dir = filepath.Join(b.options.Root, program.module)
		if output, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", program.name, err, bytes.TrimSpace(output))
		}
	}
	return nil
}

// runJSON runs one of those programs on a database and reads the line that it prints.
func (b *Bed) runJSON(ctx context.Context, into any, database, program string, args ...string) error {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, b.path(program), append(args, "-database", url)...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(stderr.Bytes()))
	}
	if err := json.Unmarshal(output, into); err != nil {
		return fmt.Errorf("%s told %q: %w", program, output, err)
	}
	return nil
}

// drained is what the programs print.
type drained struct {
	Jobs    int     `json:"jobs"`
	Seconds float64 `json:"seconds"`
}

func (b *Bed) jobsASecond(ctx context.Context, database, program string, args ...string) (measured, error) {
	var d drained
	err := b.runJSON(ctx, &d, database, program, args...)
	return measured{perSecond: float64(d.Jobs) / d.Seconds}, err
}

// queueBare has pgbench move the same rows, on as many connections as suit it best. What it counts is what has ended: where both
// claim at once, one may find nothing and leave a batch to the end.
func (b *Bed) queueBare(ctx context.Context, database string, load queueLoad, jobs int) (measured, error) {
	const clients = 2
	m, err := b.runPgbench(ctx, script{texts: []string{load.sql}, variables: []string{"worker=" + uuid.NewString()}, clients: clients, each: max(1, jobs/queueBatch/clients), database: database})
	if err != nil {
		return measured{}, err
	}
	ended, err := b.value(ctx, database, "SELECT count(*) FROM jobs WHERE state = 'succeeded' AND attempt = 1")
	m.perSecond *= float64(ended) / float64(len(m.latencies))
	return m, err
}

// allEnded makes sure that every job was carried out, once, with a number of its own for each host that it held, and left
// nothing behind.
func (b *Bed) allEnded(ctx context.Context, database string, want int, load queueLoad) error {
	for query, want := range map[string]int{
		"SELECT count(*) FROM jobs WHERE state = 'succeeded' AND attempt = 1 AND finished_at IS NOT NULL": want,
		"SELECT count(*) FROM jobs": want, "SELECT count(*) FROM job_steps": load.steps * want, "SELECT count(*) FROM host_locks WHERE job_id IS NOT NULL": 0,
		"SELECT sum(number)::INT8 FROM host_locks": load.holds * want, "SELECT count(*) FROM job_steps WHERE state = 'succeeded'": load.holds * want,
	} {
		n, err := b.value(ctx, database, query)
		if err != nil {
			return err
		}
		if int(n) != want {
			return fmt.Errorf("%d instead of %d: %s", n, want, query)
		}
	}
	return nil
}
