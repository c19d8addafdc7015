package reconcile

import (
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"kloigos/backend/internal/kernel/db"
)

// Triggers, ends and renewals that meet on the same items wait for each other and end: none is ended as a deadlock, which a
// database finds a second later, or only when its clock is right again.
func TestItemsAreTakenInOneOrder(t *testing.T) {
	t.Parallel()
	const rounds = 40
	b := setup(t, 6)
	d := b.open()
	if d.Cockroach() {
		t.Skip("CockroachDB does not count deadlocks")
	}
	before, after := b.policy("a", nil), b.policy("z", nil)
	before.Triggers, after.Triggers = []string{"thing"}, []string{"thing"}
	moving := Policy{Name: "m", Why: "a test", Noun: "thing", Triggers: []string{"thing"}, Interval: time.Hour, Timeout: time.Second, deadlines: &Deadlines{
		Noun: "m", States: func() ([]string, []int64) { return []string{"s"}, []int64{60} },
		Due: SQLDue + `FROM (SELECT w.id, statement_timestamp() AS since, s.seconds FROM unnest($1::TEXT[], $2::INT8[]) AS s (state, seconds), unnest($4::UUID[]) AS w (id)) l` + SQLDueOf,
	}}
	moving.Name = moving.deadlines.policy()
	moving.Objects, moving.Run = before.Objects, before.Run
	r := b.registry(before, moving, after)
	r.Trigger(d)
	var keys []key
	for _, p := range []string{"a", moving.Name, "z"} {
		b.add(p)
		for _, id := range b.ids {
			keys = append(keys, key{p, id})
		}
	}
	b.exec(`UPDATE reconcile_items SET run = 1, holder = $1`, uuid.Max)
	reconciler := New(d, r, Config{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry(), Holder: uuid.Max})
	for _, k := range keys {
		reconciler.inHand[k] = &running{key: k, claimed: claimed{Run: 1}, cancel: func(error) {}}
	}
	shuffled := func() []uuid.UUID {
		ids := slices.Clone(b.ids)
		rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		return ids
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			for range rounds {
				if err := d.InTx(t.Context(), func(tx *db.Tx) error { tx.Touch("thing", shuffled()...); return nil }); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range rounds {
				var ends []result
				for i, id := range shuffled() {
					for _, p := range []string{"z", "a", moving.Name} {
						ends = append(ends, result{key: key{p, id}, claimed: claimed{Run: 1}, outcome: "ok", interrupted: i == 0, gone: i == 1, noun: "thing"})
					}
				}
				if err := d.InTx(t.Context(), func(tx *db.Tx) error { return writeEnds(t.Context(), tx, ends) }); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range rounds {
				reconciler.renewOnce(t.Context())
			}
		})
	}
	all.Wait()
	d.Close() // what its sessions counted is known with their end
	var n int64
	one := func(sql db.Statement) {
		t.Helper()
		if err := b.plain.QueryRow(t.Context(), sql).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	b.until("the sessions have ended", func() bool {
		one(`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state IS NOT NULL`)
		return n <= 1
	})
	one(`SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`)
	if n > 0 {
		t.Errorf("%d deadlocks", n)
	}
}
