// Command queuebench puts load on the queue for ./task bench, whose figures are
// made elsewhere: this part lies here because it needs the queue itself. It runs
// in a process of its own, on a database that somebody else has filled with
// hosts, and prints what it saw as one line of JSON.
//
//	queuebench drain -database URL -jobs 20000   # enqueue and carry out; -fenced: jobs that hold their hosts
//	queuebench fill -database URL -jobs 100000   # enqueue
//	queuebench claim -database URL -times 500    # claim and give back
//	queuebench work -database URL                # carry out, until standard input ends
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
)

// options are those of all commands; each uses some.
type options struct {
	database string
	jobs     int
	batch    int // enqueued in one transaction
	feeders  int
	slots    int
	times    int
	limit    int // of one claim
	fenced   bool
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "queuebench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	commands := map[string]func(context.Context, *bench) (any, error){"drain": drain, "fill": fill, "claim": claim, "work": work}
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("usage: queuebench drain|fill|claim|work -database URL")
	}
	var o options
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&o.database, "database", "", "URL")
	flags.IntVar(&o.jobs, "jobs", 1000, "how many are enqueued")
	flags.IntVar(&o.batch, "batch", 50, "how many in one transaction")
	flags.IntVar(&o.feeders, "feeders", 2, "how many enqueue at once")
	flags.IntVar(&o.slots, "slots", 100, "how many run at once")
	flags.IntVar(&o.times, "times", 100, "how many claims")
	flags.IntVar(&o.limit, "limit", 8, "how many jobs a claim takes at most")
	flags.BoolVar(&o.fenced, "fenced", false, "jobs that hold their hosts, one at a time each")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	b, err := open(ctx, o)
	if err != nil {
		return err
	}
	defer b.db.Close()
	seen, err := commands[args[0]](ctx, b)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}

type bench struct {
	options
	db    *store.DB
	hosts []store.ShownHost
}

func open(ctx context.Context, o options) (*bench, error) {
	db, err := store.Open(ctx, o.database)
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, db: db}
	b.hosts, err = db.Hosts(ctx, store.HostFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 1000})
	if err == nil && len(b.hosts) == 0 {
		err = errors.New("the database has no hosts")
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("read the hosts: %w", err)
	}
	return b, nil
}

// feed enqueues jobs of the hosts, one host after the other. A probe takes no
// lock on its host, as it changes nothing there.
func (b *bench) feed(ctx context.Context) error {
	who := domain.Actor{Kind: domain.ActorAccount, Name: "bench"}
	var next atomic.Int64
	errs := make([]error, b.feeders)
	var all sync.WaitGroup
	for f := range b.feeders {
		all.Go(func() {
			for errs[f] == nil {
				first := int(next.Add(int64(b.batch))) - b.batch
				if first >= b.jobs {
					return
				}
				some := make([]job.Args, min(b.batch, b.jobs-first))
				for i := range some {
					some[i] = b.args(b.hosts[(first+i)%len(b.hosts)].ID)
				}
				errs[f] = b.db.InTx(ctx, func(tx *store.Tx) error {
					_, err := tx.EnqueueAll(ctx, who, domain.DefaultWorkspace, some)
					return err
				})
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

func (b *bench) args(host uuid.UUID) job.Args {
	if b.fenced {
		return job.HostDecommission{HostID: host}
	}
	return job.HostProbe{HostID: host}
}

// rate is how many jobs took how long.
type rate struct {
	Jobs    int     `json:"jobs"`
	Seconds float64 `json:"seconds"`
}

func fill(ctx context.Context, b *bench) (any, error) {
	begun := time.Now()
	err := b.feed(ctx)
	return rate{b.jobs, time.Since(begun).Seconds()}, err
}

// queue is one whose work is to do nothing, well.
func (b *bench) queue(ended *atomic.Int64) *queue.Queue {
	work := func(ctx context.Context, c store.Claim, _ *queue.Log) queue.Result {
		if b.fenced && c.Begun == nil {
			if busy := b.begin(ctx, c); busy != nil {
				return *busy
			}
		}
		ended.Add(1)
		return queue.Result{End: queue.Succeeded}
	}
	return queue.New(b.db, work, queue.NewSignals(), queue.Config{
		Worker: uuid.New(), Slots: b.slots, Logger: slog.New(slog.DiscardHandler),
	})
}

// begin begins a job's one step, where the claim could not: it returns how the
// attempt ends if that can't be done now.
func (b *bench) begin(ctx context.Context, c store.Claim) *queue.Result {
	err := b.db.InTx(ctx, func(tx *store.Tx) error {
		if err := tx.StartStep(ctx, c.ID, c.Attempt, 0); err != nil {
			return err
		}
		_, err := tx.LockHost(ctx, *c.HostID, c.ID, c.Attempt)
		return err
	})
	if err == nil {
		return nil
	}
	return &queue.Result{End: queue.PutBack}
}

// drain enqueues and carries out at the same time, until the end of every job
// is written.
func drain(ctx context.Context, b *bench) (any, error) {
	var ended atomic.Int64
	q := b.queue(&ended)
	stop, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	begun := time.Now()
	running.Go(func() { q.Run(stop, ctx) })
	err := b.feed(ctx)
	for err == nil && ended.Load() < int64(b.jobs) {
		time.Sleep(time.Millisecond)
	}
	end()
	running.Wait() // for the last ends
	return rate{b.jobs, time.Since(begun).Seconds()}, err
}

// work carries jobs out until standard input ends.
func work(ctx context.Context, b *bench) (any, error) {
	var ended atomic.Int64
	q := b.queue(&ended)
	stop, end := context.WithCancel(ctx)
	var running sync.WaitGroup
	begun := time.Now()
	running.Go(func() { q.Run(stop, ctx) })
	_, err := io.Copy(io.Discard, os.Stdin)
	end()
	running.Wait()
	return rate{int(ended.Load()), time.Since(begun).Seconds()}, err
}

// latencies of some statements, in milliseconds.
type latencies struct {
	P50 float64 `json:"p50_ms"`
	P99 float64 `json:"p99_ms"`
}

// claim claims some jobs and gives them back, again and again; only the claim,
// from BEGIN to the answer to COMMIT, is timed.
func claim(ctx context.Context, b *bench) (any, error) {
	all := make([]time.Duration, b.times)
	for n := range all {
		var claims []store.Claim
		begun := time.Now()
		err := b.db.InTx(ctx, func(tx *store.Tx) (err error) {
			claims, err = tx.ClaimJobs(ctx, uuid.New(), time.Minute, b.limit)
			return err
		})
		all[n] = time.Since(begun)
		if err == nil && len(claims) != b.limit {
			err = fmt.Errorf("claimed %d jobs, not %d", len(claims), b.limit)
		}
		if err == nil {
			err = b.db.InTx(ctx, func(tx *store.Tx) error {
				for _, c := range claims {
					if err := tx.RequeueJob(ctx, c.ID, c.Attempt, 0, nil); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(all)
	at := func(percent int) float64 {
		return float64(all[(len(all)*percent+99)/100-1]) / float64(time.Millisecond)
	}
	return latencies{at(50), at(99)}, nil
}
