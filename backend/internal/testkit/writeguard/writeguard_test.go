package writeguard_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/writeguard"
)

// said keeps what the guard would fail a test with.
type said struct {
	testing.TB
	mu  sync.Mutex
	all []string
}

func (s *said) Errorf(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, fmt.Sprintf(format, args...))
}

// The guard finds a write that is not recorded, and nothing else: neither one that is,
// nor one of no row, nor a renewed lease, nor a transaction that is rolled back.
func TestGuard(t *testing.T) {
	t.Parallel()
	found := &said{TB: t}
	g := writeguard.New(found)
	d, err := store.Open(t.Context(), testkit.MigratedURL(t), store.WithTracer(g))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	g.Watch(d.DB)
	const add = `INSERT INTO addresses (id, workspace_id, network, address, sort_key, endpoint, state, shuffle) VALUES ($1, $2, 'default', $3, 1, '', 'free', 1)`
	run := func(want int, f func(*store.Tx) error) {
		t.Helper()
		if err := d.InTx(t.Context(), f); err != nil && want >= 0 {
			t.Fatal(err)
		}
		if len(found.all) != max(want, 0) {
			t.Errorf("found %d, want %d: %v", len(found.all), want, found.all)
		}
		found.all = nil
	}
	insert := func(tx *store.Tx, id uuid.UUID) error {
		_, err := tx.Exec(t.Context(), db.Statement(add), id, domain.DefaultWorkspace, id.String())
		return err
	}
	run(0, func(tx *store.Tx) error { return tx.EnsureDefaultScopes(t.Context()) })
	one, two := uuid.New(), uuid.New()
	run(1, func(tx *store.Tx) error { return insert(tx, one) })
	run(0, func(tx *store.Tx) error { tx.Touch("address", two); return insert(tx, two) })
	run(1, func(tx *store.Tx) error { tx.Touch("host", two); return insert(tx, uuid.New()) })
	run(0, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `DELETE FROM addresses WHERE id = $1`, uuid.New())
		return err
	})
	run(-1, func(tx *store.Tx) error {
		if err := insert(tx, uuid.New()); err != nil {
			return err
		}
		return fmt.Errorf("for a test")
	})
	run(0, func(*store.Tx) error { return nil })
	run(1, func(tx *store.Tx) error {
		_, err := tx.Exec(t.Context(), `CREATE TABLE IF NOT EXISTS strange (a TEXT)`)
		if err == nil {
			_, err = tx.Exec(t.Context(), `INSERT INTO strange (a) VALUES ('x')`)
		}
		return err
	})
}

func TestNouns(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"UPDATE hosts SET state = $1":                                                                 "host",
		"SELECT 1 FROM hosts FOR UPDATE SKIP LOCKED":                                                  "",
		"UPDATE jobs\n   SET lease_expires_at = now()":                                                "",
		"UPDATE jobs\n   SET state = $3, finished_at = now()":                                         "job",
		"INSERT INTO channels (id) VALUES ($1)":                                                       "channel",
		"DELETE FROM channel_secrets":                                                                 "",
		"INSERT INTO job_log (job_id) VALUES ($1) ON CONFLICT DO UPDATE SET x":                        "",
		"WITH e AS (UPDATE jobs SET state = 'failed' RETURNING id) UPDATE plans SET state = 'failed'": "job,plan",
	} {
		written, unknown := writeguard.Nouns(sql)
		slices.Sort(written)
		if got := strings.Join(written, ","); got != want || len(unknown) > 0 {
			t.Errorf("%q writes %q, want %q; unknown %v", sql, got, want, unknown)
		}
	}
}
