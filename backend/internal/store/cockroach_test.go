package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit"
	"kloigos/crdb/proxy"
)

// speaking is a database that speaks as CockroachDB does.
func speaking(t *testing.T, o proxy.Options) *proxy.Proxy {
	t.Helper()
	if testkit.IsCockroach(t) {
		t.Skip("it speaks so already")
	}
	p, err := proxy.Start(testkit.MigratedURL(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// TestReadsAreTriedAgain: a statement by itself can be refused, too.
func TestReadsAreTriedAgain(t *testing.T) {
	t.Parallel()
	p := speaking(t, proxy.Options{Reads: 0.4, Commits: 0.4, Seed: 7})
	db, err := Open(t.Context(), p.URL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	me := Backend{ID: uuid.New(), Name: "b", Version: "1", Roles: "worker"}
	for range 20 {
		if place, err := db.SeenBackend(t.Context(), me); err != nil || place.Workers != 1 {
			t.Fatalf("seen: %+v, %v", place, err)
		}
		if _, err := db.LintDue(t.Context(), true); !errors.Is(err, domain.ErrNotFound) {
			t.Fatalf("lint: %v", err)
		}
		if all, err := db.Backends(t.Context()); err != nil || len(all) != 1 || all[0].ID != me.ID || all[0].Slots != nil {
			t.Fatalf("backends: %+v, %v", all, err)
		}
		if _, err := db.Job(t.Context(), uuid.New()); !errors.Is(err, domain.ErrNotFound) {
			t.Fatalf("job: %v", err)
		}
		if v, err := db.Setting(t.Context(), "none"); err != nil || v != nil {
			t.Fatalf("setting: %v", err)
		}
		if err := db.Snapshot(t.Context(), func(r Reads) error { _, err := r.CountAccounts(t.Context()); return err }); err != nil {
			t.Fatalf("snapshot: %v", err)
		}
	}
	if p.Refused() < 10 {
		t.Errorf("only %d were refused, so nothing is proven", p.Refused())
	}
	if n := db.Connections().Used; n != 0 {
		t.Errorf("%d connections are still out", n)
	}
}

// TestLocksOfJoinedPicks: only what joins has its locks taken late.
func TestLocksOfJoinedPicks(t *testing.T) {
	t.Parallel()
	p := speaking(t, proxy.Options{})
	const sqlHow = `SELECT COALESCE(current_setting('crdb.optimizer_use_lock_op_for_serializable', true), '')`
	for name, one := range map[string]struct {
		ask  func(*Tx) error
		want string
	}{
		"nothing": {func(*Tx) error { return nil }, ""},
		"claim": {func(tx *Tx) error {
			_, err := tx.ClaimJobs(t.Context(), uuid.New(), time.Second, 1)
			return err
		}, "on"},
		"take over": {func(tx *Tx) error {
			_, err := tx.TakeOverJobs(t.Context(), uuid.New(), time.Second, 1)
			return err
		}, ""},
		"pick": {func(tx *Tx) error {
			_, _, err := tx.PickUnit(t.Context(), Wanted{WorkspaceID: domain.DefaultWorkspace})
			return err
		}, "off"},
	} {
		var how string
		db := open(t, p.URL) // a setting of its own
		if err := db.InTx(t.Context(), func(tx *Tx) error {
			if err := one.ask(tx); err != nil {
				return err
			}
			return tx.QueryRow(t.Context(), sqlHow).Scan(&how)
		}); err != nil || how != one.want {
			t.Errorf("%s: %q, want %q, %v", name, how, one.want, err)
		}
	}
}
