package bench

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/google/uuid"

	"kloigos/crdb/localdb"
)

//go:embed sql/queue.sql
var queueSQL string

const (
	queueBatch   = 50 // jobs enqueued in one transaction, on every side
	queueFeeders = 2  // that enqueue at once
	queueSlots   = 1000
)

// queueRate compares the queue with the same rows moved by pgbench, and with riverqueue/river: jobs that do nothing are
// enqueued and carried out at the same time, until the end of each is written. Every round of every side has a fresh
// database on the same server.
func queueRate(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	fleet, err := b.fleet(ctx, queueBatch*unitsAHost, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, fleet) }()
	if err := b.buildQueueBench(ctx); err != nil {
		return nil, err
	}
	args := []string{
		"-jobs", strconv.Itoa(scale.QueueJobs), "-batch", strconv.Itoa(queueBatch), "-feeders", strconv.Itoa(queueFeeders), "-slots", strconv.Itoa(queueSlots),
	}
	sides := []struct {
		name string
		run  func(database string) (measured, error)
	}{
		{"pgbench", func(database string) (measured, error) { return b.queueBare(ctx, database, scale.QueueJobs) }},
		{"Kloigos", func(database string) (measured, error) {
			return b.jobsASecond(ctx, database, "queuebench", append([]string{"drain"}, args...)...)
		}},
		{"River", func(database string) (measured, error) { return b.jobsASecond(ctx, database, "riverbench", args...) }},
	}
	rates := make([][]float64, len(sides))
	for range scale.Rounds {
		for i, side := range sides {
			database, err := b.copyDatabase(ctx, fleet)
			if err != nil {
				return nil, err
			}
			m, err := b.costed(side.name, 0, func() (measured, error) { return side.run(database) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.name, err)
			}
			if side.name == "Kloigos" {
				if err := b.allEnded(ctx, database, scale.QueueJobs); err != nil {
					return nil, err
				}
			}
			if err := b.dropDatabase(ctx, database); err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], m.perSecond)
		}
	}
	bare, ours, river := median(rates[0]), median(rates[1]), median(rates[2])
	return []Result{
		{
			What:  fmt.Sprintf("jobs a second that do nothing, through the whole queue, over pgbench that moves the same rows %d at a time (READ COMMITTED)", queueBatch),
			Limit: Limit{Value: 0.5, AtLeast: true}, Measured: ours / bare, Raw: fmt.Sprintf("%.0f/s, pgbench %.0f/s", ours, bare),
		},
		{
			What: "the same over riverqueue/river on the same server", Limit: Limit{Value: 1, AtLeast: true}, Measured: ours / river,
			Raw: fmt.Sprintf("%.0f/s, River %.0f/s", ours, river),
		},
	}, nil
}

// buildQueueBench builds the programs that put load on the queue, ours and River's.
func (b *Bed) buildQueueBench(ctx context.Context) error {
	for _, program := range []struct{ name, module, from string }{
		{"queuebench", "", "./backend/internal/testkit/cmd/queuebench"}, {"riverbench", "inventory/bench/river", "."},
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

// queueBare has pgbench do the same, on as many connections as suit it best. What it counts is what has ended: where both
// claim at once, one may find nothing and leave a batch to the end.
func (b *Bed) queueBare(ctx context.Context, database string, jobs int) (measured, error) {
	const clients = 2
	m, err := b.runPgbench(ctx, script{texts: []string{queueSQL}, variables: []string{"worker=" + uuid.NewString()}, clients: clients, each: max(1, jobs/queueBatch/clients), database: database})
	if err != nil {
		return measured{}, err
	}
	ended, err := b.value(ctx, database, "SELECT count(*) FROM jobs WHERE state = 'succeeded' AND attempt = 1")
	m.perSecond *= float64(ended) / float64(len(m.latencies))
	return m, err
}

// allEnded makes sure that every job was carried out, once, and left nothing behind.
func (b *Bed) allEnded(ctx context.Context, database string, want int) error {
	for query, want := range map[string]int{
		"SELECT count(*) FROM jobs WHERE state = 'succeeded' AND attempt = 1 AND finished_at IS NOT NULL": want,
		"SELECT count(*) FROM jobs": want, "SELECT count(*) FROM job_steps": 2 * want, "SELECT count(*) FROM host_locks WHERE job_id IS NOT NULL": 0,
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
