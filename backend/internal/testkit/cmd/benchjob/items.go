package main

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

const (
	// benchPolicy and benchNoun name what the bench's own items are about; their objects are in no table.
	benchPolicy = "bench"
	benchNoun   = "bench"
	// manyItems is how many items one reconciler has in hand where the rate is measured.
	manyItems = 1000
)

// benchRegistry has one policy, whose runs tell run what they are about.
func benchRegistry(run func(context.Context, uuid.UUID)) (*reconcile.Registry, error) {
	return reconcile.NewRegistry(nil, reconcile.Policy{
		Name: benchPolicy, Why: "a bench", Noun: benchNoun, Triggers: []string{benchNoun}, Interval: 24 * time.Hour, Timeout: time.Minute, Cap: manyItems,
		Objects: func(context.Context, uuid.UUID, int) ([]uuid.UUID, error) { return nil, nil }, // young items without an object stay
		Run: func(ctx context.Context, item reconcile.Item) (reconcile.Outcome, error) {
			run(ctx, item.ObjectID)
			return reconcile.Outcome{}, nil
		},
	})
}

func reconciler(d *store.DB, registry *reconcile.Registry, slots int, lease time.Duration) *reconcile.Reconciler {
	return reconcile.New(d.DB, registry, reconcile.Config{
		Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Slots: slots, Lease: lease,
	})
}

// items runs as many items as are due, which the caller has made, and says how long that took until the last end was written.
func items(ctx context.Context, d *store.DB, count int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var mu sync.Mutex
	ran := map[uuid.UUID]int{}
	all := make(chan struct{})
	registry, err := benchRegistry(func(_ context.Context, id uuid.UUID) {
		mu.Lock()
		defer mu.Unlock()
		if ran[id]++; len(ran) == count && ran[id] == 1 {
			close(all)
		}
	})
	if err != nil {
		return err
	}
	begun := time.Now()
	var done sync.WaitGroup
	done.Go(func() { reconciler(d, registry, manyItems, 0).Run(ctx) })
	select {
	case <-all:
	case <-ctx.Done():
		return ctx.Err()
	}
	end()
	done.Wait() // the ends are written
	took := time.Since(begun)
	for id, n := range ran {
		if n != 1 {
			return fmt.Errorf("item %s was run %d times", id, n)
		}
	}
	return say(map[string]any{"jobs": count, "seconds": took.Seconds()})
}

// lag has three reconcilers look at items that become due one after the other, and at ones that a write makes due, and says how
// many microseconds each waited for its run.
func lag(ctx context.Context, d *store.DB, times int) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	var mu sync.Mutex
	due, waited := map[uuid.UUID]time.Time{}, map[uuid.UUID]time.Duration{}
	ran := make(chan struct{}, 2*times)
	registry, err := benchRegistry(func(_ context.Context, id uuid.UUID) {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		if at, known := due[id]; known {
			if _, again := waited[id]; !again {
				waited[id] = max(0, now.Sub(at))
				ran <- struct{}{}
			}
		}
	})
	if err != nil {
		return err
	}
	registry.Trigger(d.DB)
	var done sync.WaitGroup
	defer done.Wait()
	defer end()
	for range 3 {
		done.Go(func() { reconciler(d, registry, 0, 0).Run(ctx) })
	}
	took := func(add func(id uuid.UUID) error) (all []int64, err error) {
		var ids []uuid.UUID
		for range times {
			id := uuid.New()
			if err := add(id); err != nil {
				return nil, err
			}
			ids = append(ids, id)
			time.Sleep(rand.N(40 * time.Millisecond))
		}
		for range times {
			select {
			case <-ran:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for _, id := range ids {
			all = append(all, waited[id].Microseconds())
		}
		return all, nil
	}
	lags, err := took(func(id uuid.UUID) error {
		at := time.Now().Add(time.Second).Truncate(time.Microsecond)
		mu.Lock()
		due[id] = at
		mu.Unlock()
		return d.InTx(ctx, func(tx *store.Tx) error { return dueAt(ctx, tx.Tx, id, at) })
	})
	if err != nil {
		return err
	}
	wakes, err := took(func(id uuid.UUID) error {
		err := d.InTx(ctx, func(tx *store.Tx) error {
			mu.Lock()
			due[id] = time.Now() // before the commit: what it takes counts
			mu.Unlock()
			tx.Touch(benchNoun, id)
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	return say(map[string]any{"lags": lags, "wakes": wakes})
}

func dueAt(ctx context.Context, tx *db.Tx, id uuid.UUID, at time.Time) error {
	_, err := tx.Exec(ctx, `INSERT INTO reconcile_items (policy, object_id, due_at) VALUES ($1, $2, $3)`, benchPolicy, id, at)
	return err
}

// hold is one reconciler whose runs take a while, until it is killed or told to end.
func hold(ctx context.Context, d *store.DB, lease time.Duration) error {
	registry, err := benchRegistry(func(ctx context.Context, _ uuid.UUID) {
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	})
	if err != nil {
		return err
	}
	reconciler(d, registry, 0, lease).Run(ctx)
	return nil
}
