package rollout

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/testkit"
)

// bench is a database with a table that notes who has the change.
type bench struct {
	*testing.T
	*db.DB
	id uuid.UUID
	// broken ends some steps in their transaction, as a process that dies does.
	broken  bool
	verdict func(Target) Verdict
}

func setup(t *testing.T, p Plan, n int) *bench {
	t.Helper()
	d, err := db.Open(t.Context(), testkit.MigratedURL(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	d.TryTwice()
	b := &bench{T: t, DB: d, id: uuid.New()}
	err = d.InTx(t.Context(), func(tx *db.Tx) error {
		if _, err := tx.Exec(t.Context(), "CREATE TABLE IF NOT EXISTS given (id UUID PRIMARY KEY, times INT8 NOT NULL)"); err != nil {
			return err
		}
		_, err := Start(t.Context(), tx, b.id, p, candidates(n))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

var errBroken = errors.New("broken on purpose")

func (b *bench) driver() Driver {
	return Driver{
		Prove: func(_ context.Context, _ Rollout, targets []Target, _ bool) (map[uuid.UUID]Finding, error) {
			found := map[uuid.UUID]Finding{}
			for _, t := range targets {
				found[t.ID] = Finding{b.verdict(t), "so it is"}
			}
			return found, nil
		},
		Give: func(ctx context.Context, tx *db.Tx, targets []uuid.UUID) error {
			_, err := tx.Exec(ctx, "INSERT INTO given SELECT id, 1 FROM unnest($1::UUID[]) AS b (id) ON CONFLICT (id) DO UPDATE SET times = given.times + 1", targets)
			return err
		},
		Take: func(ctx context.Context, tx *db.Tx, targets []uuid.UUID) error {
			_, err := tx.Exec(ctx, "DELETE FROM given WHERE id = ANY($1)", targets)
			return err
		},
		Moved: func(context.Context, *db.Tx, Rollout, Rollout) error {
			if b.broken && rand.IntN(3) == 0 {
				return errBroken
			}
			return nil
		},
	}
}

func (b *bench) given() (n, most int64) {
	b.Helper()
	if err := b.QueryRow(b.Context(), "SELECT count(*), COALESCE(max(times), 0) FROM given").Scan(&n, &most); err != nil {
		b.Fatal(err)
	}
	return n, most
}

// run lets four reconcilers advance the rollout at once until it stands.
func (b *bench) run() Rollout {
	b.Helper()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 400 {
				r, _, err := Advance(b.Context(), b.DB, b.id, b.driver(), false)
				if err != nil && !errors.Is(err, errBroken) {
					b.Error(err)
					return
				}
				if r.State.Ended() || r.State == Halted { // a step that broke has not ended it
					return
				}
			}
		})
	}
	all.Wait()
	r, err := ByID(b.Context(), b.Reader, b.id)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

// TestFourReconcilersThatDie: each target is given the change once, whoever ends in the middle of a step.
func TestFourReconcilersThatDie(t *testing.T) {
	t.Parallel()
	p := plan()
	p.GapMS = 0
	b := setup(t, p, 60)
	b.broken, b.verdict = true, func(Target) Verdict { return Good }
	r := b.run()
	if n, most := b.given(); r.State != Done || n != 60 || most != 1 {
		t.Fatalf("%s: %s; %d have the change, one of them %d times", r.State, r.Reason, n, most)
	}
	// And back: nobody has it then.
	err := b.InTx(t.Context(), func(tx *db.Tx) error {
		_, err := RollBack(t.Context(), tx, b.id, Driver{Give: b.driver().Give, Take: b.driver().Take, Moved: func(context.Context, *db.Tx, Rollout, Rollout) error { return nil }})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r = b.run()
	if n, _ := b.given(); r.State != Returned || n != 0 {
		t.Errorf("%s: %s; %d still have the change", r.State, r.Reason, n)
	}
}

// TestHaltAndResume: what failed keeps the old one, and resuming forgives it.
func TestHaltAndResume(t *testing.T) {
	t.Parallel()
	p := plan()
	p.GapMS, p.Limit = 0, 0
	b := setup(t, p, 30)
	b.verdict = func(t Target) Verdict {
		if t.Name == "host-0000" {
			return Bad
		}
		return Good
	}
	r := b.run()
	if n, _ := b.given(); r.State != Halted || n != 2 {
		t.Fatalf("%s: %s; %d have the change", r.State, r.Reason, n)
	}
	err := b.InTx(t.Context(), func(tx *db.Tx) error {
		_, err := Resume(t.Context(), tx, b.id, b.driver())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r = b.run()
	waves, err := Waves(t.Context(), b.Reader, b.id)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := b.given(); r.State != Done || n != 29 || len(waves) != 5 {
		t.Errorf("%s: %s; %d have the change; %v", r.State, r.Reason, n, waves)
	}
}

// TestAPersonAndAReconcilerAtOnce: a step that was read before a pause does not undo it.
func TestAPersonAndAReconcilerAtOnce(t *testing.T) {
	t.Parallel()
	b := setup(t, plan(), 30)
	b.verdict = func(Target) Verdict { return NotYet }
	before, err := ByID(t.Context(), b.Reader, b.id)
	if err != nil {
		t.Fatal(err)
	}
	err = b.InTx(t.Context(), func(tx *db.Tx) error {
		_, err := Pause(t.Context(), tx, b.id, b.driver())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	err = b.InTx(t.Context(), func(tx *db.Tx) error { return commit(t.Context(), tx, b.driver(), before, before, nil) })
	if !errors.Is(err, ErrMeanwhile) {
		t.Errorf("the older step was written: %v", err)
	}
	if r := b.run(); r.State != Paused {
		t.Errorf("it is %s", r.State)
	}
	if n, _ := b.given(); n != 0 {
		t.Errorf("%d were told", n)
	}
}
