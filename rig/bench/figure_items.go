package bench

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"time"

	"github.com/google/uuid"
)

//go:embed sql/items.sql
var itemsSQL string

const (
	itemBatch     = 200 // items that one transaction of either side claims or ends at most
	itemPoll      = 200 * time.Millisecond
	itemLease     = 5 * time.Second
	itemsOverTime = 15 * time.Second // in which the items become due of which some are held by a reconciler that is killed
)

// items measures the scheduler: how many due items it moves beside pgbench, how long one waits that becomes due, or is woken, and
// how long those of a reconciler that is killed.
func items(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	var bare, ours []float64
	for range scale.Rounds {
		theirs, err := b.onItems(ctx, scale.Items, "pgbench", func(database string) (measured, error) { return b.itemsBare(ctx, database, scale.Items) })
		if err != nil {
			return nil, err
		}
		m, err := b.onItems(ctx, scale.Items, "Kloigos", func(database string) (measured, error) {
			var d drained
			err := b.benchjobSays(ctx, database, &d, "items", "-entries", strconv.Itoa(scale.Items))
			return measured{perSecond: float64(d.Jobs) / d.Seconds}, err
		})
		if err != nil {
			return nil, err
		}
		bare, ours = append(bare, theirs.perSecond), append(ours, m.perSecond)
	}
	results = append(results, Result{
		What:  fmt.Sprintf("items a second claimed, run and ended, of %d that are due, over pgbench that moves the same rows %d at a time", scale.Items, itemBatch),
		Limit: Limit{Value: 0.5, AtLeast: true}, Measured: median(ours) / median(bare), Raw: fmt.Sprintf("%.0f/s, pgbench %.0f/s", median(ours), median(bare)),
	})
	waits, err := b.itemWaits(ctx, scale)
	if err != nil {
		return nil, err
	}
	killed, err := b.itemsOfKilled(ctx, scale)
	return append(append(results, waits...), killed), err
}

// dueItems fills a fresh database with items, all due, or due one after the other.
func (b *Bed) dueItems(ctx context.Context, count int, over time.Duration) (string, error) {
	database, err := b.copyDatabase(ctx, prepared)
	if err != nil {
		return "", err
	}
	return database, b.exec(ctx, database, fmt.Sprintf(`
INSERT INTO reconcile_items (policy, object_id, due_at)
SELECT 'bench', gen_random_uuid(), now() + n * INTERVAL '%d microseconds' FROM generate_series(1, %d) AS n`, over.Microseconds()/int64(count), count),
		"CREATE TABLE bench_due AS SELECT i.object_id, i.due_at FROM reconcile_items i", "ANALYZE reconcile_items")
}

func (b *Bed) onItems(ctx context.Context, count int, name string, run func(database string) (measured, error)) (measured, error) {
	database, err := b.dueItems(ctx, count, 0)
	if err != nil {
		return measured{}, err
	}
	m, err := b.costed(name, 0, func() (measured, error) { return run(database) })
	if err != nil {
		return m, err
	}
	ended, err := b.value(ctx, database, "SELECT count(*) FROM reconcile_items i WHERE i.policy = 'bench' AND i.run = 1 AND i.last_ended IS NOT NULL AND i.lease_until IS NULL")
	if err == nil && name != "pgbench" && ended != int64(count) {
		err = fmt.Errorf("%d of %d items ended, once each", ended, count)
	}
	return m, errors.Join(err, b.dropDatabase(ctx, database))
}

// itemsBare has pgbench move the rows. What it counts is what has ended, as queueBare does.
func (b *Bed) itemsBare(ctx context.Context, database string, count int) (measured, error) {
	const clients = 2
	m, err := b.runPgbench(ctx, script{
		texts: []string{itemsSQL}, variables: []string{"holder=" + uuid.NewString()}, clients: clients, each: max(1, count/itemBatch/clients), database: database,
	})
	if err != nil {
		return m, err
	}
	ended, err := b.value(ctx, database, "SELECT count(*) FROM reconcile_items i WHERE i.policy = 'bench' AND i.last_ended IS NOT NULL")
	m.perSecond *= float64(ended) / float64(len(m.latencies))
	return m, err
}

// itemWaits has three reconcilers in one process look at items that become due, or that a write makes due.
func (b *Bed) itemWaits(ctx context.Context, scale Scale) ([]Result, error) {
	database, err := b.copyDatabase(ctx, prepared)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(context.WithoutCancel(ctx), database) }()
	var took struct{ Lags, Wakes []time.Duration } // in microseconds
	if err := b.benchjobSays(ctx, database, &took, "lag", "-times", strconv.Itoa(scale.Woken)); err != nil {
		return nil, err
	}
	result := func(what string, limit Limit, unit time.Duration, all []time.Duration) Result {
		p50, p99 := percentile(all, 50)*time.Microsecond, percentile(all, 99)*time.Microsecond
		return Result{What: what, Limit: limit, Measured: float64(p99) / float64(unit), Raw: fmt.Sprintf("of %d: p50 %s, p99 %s", len(all), milliseconds(p50), milliseconds(p99))}
	}
	return []Result{
		result(fmt.Sprintf("p99 of the lag of a due item, three reconcilers, over their interval of polling (%s)", itemPoll), Limit{Value: 2}, itemPoll, took.Lags),
		result("p99 from a write to the run that it makes due, three reconcilers", Limit{Value: 500, Unit: "ms"}, time.Millisecond, took.Wakes),
	}, nil
}

// itemsOfKilled kills one of three reconcilers in the middle of its runs, and looks how late the latest item was run.
func (b *Bed) itemsOfKilled(ctx context.Context, scale Scale) (_ Result, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	database, err := b.dueItems(ctx, scale.Woken, itemsOverTime)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = b.dropDatabase(context.WithoutCancel(ctx), database) }()
	var all []*exec.Cmd
	defer func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill() // the one that was killed has ended
			_ = cmd.Wait()
		}
	}()
	for range 3 {
		cmd, err := b.benchjob(ctx, database, "reconcile", "-lease", itemLease.String())
		if err != nil {
			return Result{}, err
		}
		cmd.Stderr = &bytes.Buffer{}
		if err := cmd.Start(); err != nil {
			return Result{}, fmt.Errorf("start benchjob: %w", err)
		}
		all = append(all, cmd)
	}
	left := func(what string) (int64, error) {
		return b.value(ctx, database, "SELECT count(*) FROM reconcile_items i WHERE i.policy = 'bench' AND i.object_id IN (SELECT d.object_id FROM bench_due d) AND "+what)
	}
	for n := int64(scale.Woken); n > int64(scale.Woken)/2; time.Sleep(10 * time.Millisecond) {
		if n, err = left("i.last_ended IS NULL"); err != nil {
			return Result{}, fmt.Errorf("wait for the first half: %w", err)
		}
	}
	if err := all[0].Process.Kill(); err != nil {
		return Result{}, err
	}
	for n := int64(1); n > 0; time.Sleep(50 * time.Millisecond) {
		if n, err = left("i.last_ended IS NULL"); err != nil {
			return Result{}, fmt.Errorf("wait for the rest: %w", err)
		}
	}
	again, err := left("i.run > 1")
	if err != nil {
		return Result{}, err
	}
	latest, err := b.value(ctx, database, `
SELECT (EXTRACT(EPOCH FROM max(i.last_started - d.due_at)) * 1000000)::INT8
  FROM reconcile_items i
  JOIN bench_due d ON d.object_id = i.object_id
 WHERE i.policy = 'bench'`)
	if err != nil {
		return Result{}, err
	}
	took := time.Duration(latest) * time.Microsecond
	return Result{
		What:  fmt.Sprintf("the latest run after kill -9 of one of three reconcilers, over its lease of %s and two intervals of polling", itemLease),
		Limit: Limit{Value: 1}, Measured: float64(took) / float64(itemLease+2*itemPoll),
		Raw: fmt.Sprintf("%.2f s after it was due; it held %d of %d items", took.Seconds(), again, scale.Woken),
	}, nil
}
