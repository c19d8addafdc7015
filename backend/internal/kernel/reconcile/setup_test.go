package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
)

const (
	testPoll  = 20 * time.Millisecond
	testLease = 1500 * time.Millisecond
)

// bench is a database and the objects that policies of a test are about.
type bench struct {
	*testing.T
	db    *db.DB
	plain *db.DB // takes statements that are no part of the program
	open  func(...db.Option) *db.DB
	lease time.Duration // of reconcilers; testLease if zero

	mu   sync.Mutex
	ids  []uuid.UUID
	runs map[uuid.UUID]int
}

func setup(t *testing.T, objects int) *bench {
	t.Helper()
	url := testkit.MigratedURL(t)
	open := func(options ...db.Option) *db.DB {
		d, err := db.Open(t.Context(), url, options...)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		return d
	}
	d, plain := open(db.WithTracer(sqlguard.Tracer(t))), open()
	if testkit.Twice() {
		d.TryTwice()
	}
	b := &bench{T: t, db: d, plain: plain, open: open, runs: map[uuid.UUID]int{}}
	for range objects {
		b.ids = append(b.ids, uuid.New())
	}
	slices.SortFunc(b.ids, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	return b
}

// policy looks at the objects of the test, far apart, and counts its runs.
func (b *bench) policy(name string, run func(context.Context, Item) (Outcome, error)) Policy {
	return Policy{
		Name: name, Why: "a test", Noun: "thing", Interval: time.Hour, Timeout: 10 * time.Second,
		Objects: func(_ context.Context, after uuid.UUID, limit int) (page []uuid.UUID, err error) {
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, id := range b.ids {
				if bytes.Compare(id[:], after[:]) > 0 && len(page) < limit {
					page = append(page, id)
				}
			}
			return page, nil
		},
		Run: func(ctx context.Context, i Item) (Outcome, error) {
			b.mu.Lock()
			b.runs[i.ObjectID]++
			b.mu.Unlock()
			if run == nil {
				return Outcome{}, nil
			}
			return run(ctx, i)
		},
	}
}

func (b *bench) registry(policies ...Policy) *Registry {
	b.Helper()
	r, err := NewRegistry(nil, policies...)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// start runs a reconciler until stop is called, or the test ends.
func (b *bench) start(r *Registry) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	one := New(b.db, r, Config{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Poll: testPoll, Lease: cmp.Or(b.lease, testLease)})
	var done sync.WaitGroup
	done.Go(func() { one.Run(ctx) })
	stop = func() { cancel(); done.Wait() }
	b.Cleanup(stop)
	return stop
}

// until waits for something that is to come, for as long as a slow machine may
// take.
func (b *bench) until(what string, holds func() bool) {
	b.Helper()
	for begun := time.Now(); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Since(begun) > 30*time.Second {
			b.Fatalf("in vain: %s", what)
		}
	}
}

func (b *bench) ran(id uuid.UUID) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.runs[id]
}

func (b *bench) item(policy string, id uuid.UUID) StoredItem {
	b.Helper()
	all, err := Items(b.Context(), b.db.Reader, ItemFilter{Policy: policy, ObjectID: &id, Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	if len(all) == 0 {
		return StoredItem{}
	}
	return all[0]
}

// ended tells whether a run of an item has been written.
func (b *bench) ended(policy string, id uuid.UUID) bool {
	return b.item(policy, id).LastEnded != nil
}

func (b *bench) tx(f func(*db.Tx) error) {
	b.Helper()
	if err := b.db.InTx(b.Context(), f); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) exec(sql db.Statement, args ...any) {
	b.Helper()
	err := b.plain.InTx(b.Context(), func(tx *db.Tx) error { _, err := tx.Exec(b.Context(), sql, args...); return err })
	if err != nil {
		b.Fatal(err)
	}
}

// due makes all items of a policy due.
func (b *bench) due(policy string) {
	b.Helper()
	b.exec(`UPDATE reconcile_items SET due_at = now() WHERE policy = $1`, policy)
}

// add makes the items of a policy, due now, as its listing would.
func (b *bench) add(policy string) {
	b.Helper()
	b.exec(sqlAddItems, policy, b.ids, make([]int64, len(b.ids)))
}

func (b *bench) now() (at time.Time) {
	b.Helper()
	if err := b.db.QueryRow(b.Context(), sqlNow).Scan(&at); err != nil {
		b.Fatal(err)
	}
	return at
}

func (b *bench) condition(noun string, id uuid.UUID, kind string) Found {
	b.Helper()
	all, err := Conditions(b.Context(), b.db.Reader, noun, id)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range all {
		if c.Type == kind {
			return c
		}
	}
	return Found{}
}

var errTest = errors.New("for a test")
