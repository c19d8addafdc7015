// Command river has riverqueue/river enqueue and carry out jobs that do nothing, for ./task bench to compare the queue
// with. It is a module of its own, so that nothing of Kloigos depends on it.
//
// Its settings are those of River's own benchmark, which are kinder to its rate than its defaults: it fetches every 2 ms,
// and enqueues with COPY. It prints what it saw as one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// probe is a job with the arguments that Kloigos' has.
type probe struct {
	HostID string `json:"host_id"`
}

// Kind implements river.JobArgs.
func (probe) Kind() string { return "host_probe" }

type worker struct {
	river.WorkerDefaults[probe]
	worked *atomic.Int64
}

// Work implements river.Worker.
func (w *worker) Work(context.Context, *river.Job[probe]) error {
	w.worked.Add(1)
	return nil
}

func main() {
	database := flag.String("database", "", "URL")
	jobs := flag.Int("jobs", 1000, "how many are enqueued")
	batch := flag.Int("batch", 50, "how many in one statement")
	feeders := flag.Int("feeders", 2, "how many enqueue at once")
	slots := flag.Int("slots", 100, "how many run at once")
	flag.Parse()
	seconds, err := drain(context.Background(), *database, *jobs, *batch, *feeders, *slots)
	if err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
	_ = json.NewEncoder(os.Stdout).Encode(map[string]any{"jobs": *jobs, "seconds": seconds.Seconds()})
}

// drain enqueues and carries out at the same time, until the end of every job is written.
func drain(ctx context.Context, database string, jobs, batch, feeders, slots int) (time.Duration, error) {
	cfg, err := pgxpool.ParseConfig(database)
	if err != nil {
		return 0, fmt.Errorf("read the URL: %w", err)
	}
	cfg.MaxConns = 16 // as many as a backend has
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return 0, fmt.Errorf("connect: %w", err)
	}
	defer pool.Close()
	driver := riverpgxv5.New(pool)
	migrator, err := rivermigrate.New(driver, nil)
	if err != nil {
		return 0, fmt.Errorf("prepare the schema: %w", err)
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return 0, fmt.Errorf("make the schema: %w", err)
	}
	var worked atomic.Int64
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{worked: &worked})
	client, err := river.NewClient(driver, &river.Config{
		FetchCooldown: 2 * time.Millisecond, FetchPollInterval: 20 * time.Millisecond, Workers: workers,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: slots}}, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return 0, fmt.Errorf("make a client: %w", err)
	}
	begun := time.Now()
	if err := client.Start(ctx); err != nil {
		return 0, fmt.Errorf("start: %w", err)
	}
	if err := feed(ctx, client.InsertManyFast, jobs, batch, feeders); err != nil {
		return 0, err
	}
	for worked.Load() < int64(jobs) {
		time.Sleep(time.Millisecond)
	}
	if err := client.Stop(ctx); err != nil { // writes the last ends
		return 0, fmt.Errorf("stop: %w", err)
	}
	took := time.Since(begun)
	var left int
	if err := pool.QueryRow(ctx, "SELECT count(*) FROM river_job WHERE state <> 'completed'").Scan(&left); err != nil || left > 0 {
		return 0, fmt.Errorf("%d jobs are not completed (%w)", left, err)
	}
	return took, nil
}

func feed(ctx context.Context, insert func(context.Context, []river.InsertManyParams) (int, error), jobs, batch, feeders int) error {
	var next atomic.Int64
	failed := make(chan error, feeders)
	var all sync.WaitGroup
	for range feeders {
		all.Go(func() {
			for {
				first := int(next.Add(int64(batch))) - batch
				if first >= jobs {
					return
				}
				some := make([]river.InsertManyParams, min(batch, jobs-first))
				for i := range some {
					some[i].Args = probe{HostID: "6c7f5c4e-0d9f-4a51-8f1e-3a1b2c3d4e5f"}
				}
				if _, err := insert(ctx, some); err != nil {
					failed <- fmt.Errorf("enqueue: %w", err)
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}
