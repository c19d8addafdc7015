package rollout

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// ErrMeanwhile is of a step that another one came before.
var ErrMeanwhile = fault.Conflictf("version_mismatch", "Something else moved the delivery at the same time. Reload it.")

// Driver says what a change is. All but Prove run in the transaction of a step.
type Driver struct {
	// Prove asks how targets stand that were told; back: told to go back. Outside of a transaction. It may leave targets out.
	Prove func(ctx context.Context, r Rollout, targets []Target, back bool) (map[uuid.UUID]Finding, error)
	// Late lists candidates of which some may have come since the rollout began. May be nil.
	Late func(ctx context.Context, r Rollout) ([]Candidate, error)
	// Give makes the change hold for targets; Take makes that undone.
	Give, Take func(ctx context.Context, tx *db.Tx, targets []uuid.UUID) error
	// Moved is told of each step, to touch the object and to write events.
	Moved func(ctx context.Context, tx *db.Tx, before, after Rollout) error
}

// Start begins a rollout. The first step tells the first wave.
func Start(ctx context.Context, tx *db.Tx, id uuid.UUID, plan Plan, candidates []Candidate) (waves int64, err error) {
	targets, waves := plan.cut(candidates)
	if _, err := tx.Exec(ctx, sqlInsert, id, plan, waves); err != nil {
		return 0, fmt.Errorf("insert a rollout: %w", err)
	}
	return waves, add(ctx, tx, id, targets)
}

// Advance makes the steps that are due, and returns the rollout as it is then. changed counts targets that moved. With observe
// it only looks. Any number may advance one rollout at once, and each may end at any moment.
func Advance(ctx context.Context, d *db.DB, id uuid.UUID, driver Driver, observe bool) (after Rollout, changed int, err error) {
	var targets []Target
	err = d.Snapshot(ctx, func(q db.Reader) (err error) {
		if after, err = ByID(ctx, q, id); err != nil {
			return err
		}
		targets, err = targetsOfRollout(ctx, q, id)
		return err
	})
	if err != nil || after.State.Ended() || observe {
		return after, 0, err
	}
	before := after
	late, err := lateTargets(ctx, driver, before, targets)
	if err != nil {
		return before, 0, err
	}
	targets = append(targets, late...)
	found, err := prove(ctx, driver, before, targets)
	if err != nil {
		return before, 0, fmt.Errorf("prove targets: %w", err)
	}
	after, moved := step(before, targets, found, before.Now)
	if len(moved) == 0 && len(late) == 0 && same(before, after) {
		return before, 0, nil
	}
	err = d.InTx(ctx, func(tx *db.Tx) error {
		if err := add(ctx, tx, id, late); err != nil {
			return err
		}
		return commit(ctx, tx, driver, before, after, moved)
	})
	switch {
	case errors.Is(err, ErrMeanwhile): // the other one's step holds
		return before, 0, nil
	case err != nil:
		return before, 0, err
	}
	return after, len(moved), nil
}

func same(a, b Rollout) bool {
	at := a.NextAt == nil && b.NextAt == nil || a.NextAt != nil && b.NextAt != nil && a.NextAt.Equal(*b.NextAt)
	return at && a.State == b.State && a.Wave == b.Wave && a.Reason == b.Reason
}

// lateTargets are candidates that came since the rollout began. They are told with the last wave.
func lateTargets(ctx context.Context, driver Driver, r Rollout, targets []Target) (late []Target, err error) {
	if driver.Late == nil || r.State != Running && r.State != Paused {
		return nil, nil
	}
	all, err := driver.Late(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("list targets that came late: %w", err)
	}
	known := make(map[uuid.UUID]bool, len(targets))
	for _, t := range targets {
		known[t.ID] = true
	}
	for _, c := range all {
		if !known[c.ID] {
			late = append(late, Target{ID: c.ID, Name: c.Name, Region: c.Region, Zone: c.Zone, Wave: max(1, r.Waves), State: Waiting})
		}
	}
	return late, nil
}

func prove(ctx context.Context, driver Driver, r Rollout, targets []Target) (map[uuid.UUID]Finding, error) {
	state, back := Told, r.State == Returning
	if back {
		state = TargetBack
	}
	asked := slices.DeleteFunc(slices.Clone(targets), func(t Target) bool { return t.State != state })
	if len(asked) == 0 || r.State == Halted {
		return nil, nil
	}
	return driver.Prove(ctx, r, asked, back)
}

// commit writes a step, with what it means for the targets.
func commit(ctx context.Context, tx *db.Tx, driver Driver, before, after Rollout, moved []Target) error {
	if err := write(ctx, tx, before, after, moved); err != nil {
		return err
	}
	var give, take []uuid.UUID
	for _, t := range moved {
		switch t.State {
		case Told:
			if t.ToldAt.Equal(before.Now) {
				give = append(give, t.ID)
			}
		case Failed, Waiting, TargetBack:
			take = append(take, t.ID)
		}
	}
	if len(give) > 0 {
		if err := driver.Give(ctx, tx, give); err != nil {
			return fmt.Errorf("give targets the change: %w", err)
		}
	}
	if len(take) > 0 {
		if err := driver.Take(ctx, tx, take); err != nil {
			return fmt.Errorf("take the change from targets: %w", err)
		}
	}
	return driver.Moved(ctx, tx, before, after)
}

// change is a step that a person asks for. version is the one that they saw; 0 for any.
func change(ctx context.Context, tx *db.Tx, id uuid.UUID, driver Driver, can func(Rollout) error, next func(Rollout, []Target) (Rollout, []Target)) (Rollout, error) {
	before, err := hold(ctx, tx, id)
	if err != nil {
		return Rollout{}, err
	}
	if err := can(before); err != nil {
		return Rollout{}, err
	}
	targets, err := targetsOfRollout(ctx, tx.Reader, id)
	if err != nil {
		return Rollout{}, err
	}
	after, moved := next(before, targets)
	return after, commit(ctx, tx, driver, before, after, moved)
}

// Pause keeps further targets from being told.
func Pause(ctx context.Context, tx *db.Tx, id uuid.UUID, driver Driver) (Rollout, error) {
	return change(ctx, tx, id, driver, Rollout.CanPause, func(r Rollout, targets []Target) (Rollout, []Target) {
		s := stepper{r: r, all: targets}
		s.r.State = Paused
		s.r.Reason = s.paused()
		return s.r, nil
	})
}

// Resume goes on with a rollout that is paused or halted. Failures until now count no more.
func Resume(ctx context.Context, tx *db.Tx, id uuid.UUID, driver Driver) (Rollout, error) {
	return change(ctx, tx, id, driver, Rollout.CanResume, func(r Rollout, targets []Target) (Rollout, []Target) {
		s := stepper{r: r, all: targets}
		s.r.State, s.r.Reason, s.r.Forgiven = Running, "It goes on in a moment.", int64(s.count(Failed))
		return s.r, nil
	})
}

// RollBack sends back each target that was told of the change.
func RollBack(ctx context.Context, tx *db.Tx, id uuid.UUID, driver Driver) (Rollout, error) {
	return change(ctx, tx, id, driver, Rollout.CanRollBack, func(r Rollout, targets []Target) (Rollout, []Target) { return back(r, targets, r.Now) })
}
