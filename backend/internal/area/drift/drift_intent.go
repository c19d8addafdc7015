package drift

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
	"kloigos/backend/internal/kernel/scope"
)

func (d Drift) entry(action string, before, after map[string]any) audit.Entry {
	e := audit.Entry{Workspace: d.WorkspaceID, Action: "drift." + action, ObjectKind: HostNoun, ObjectID: d.HostID, ObjectName: d.Name, Before: before, After: after}
	if !d.OfHost() {
		e.ObjectKind, e.ObjectID = UnitNoun, d.UnitID
	}
	if d.JobID != nil {
		e.JobID = *d.JobID
	}
	return e
}

// move moves a drift that is held.
func move(ctx context.Context, tx *db.Tx, d Drift, on lifecycle.Event, message string) (State, error) {
	to, err := Lifecycle.Next(d.State, on)
	if err != nil {
		return "", err
	}
	moved := fault.Conflictf("drift_state", "Another request changed it at the same time. Reload it.")
	if err := tx.One(ctx, moved, sqlMove, d.ID, d.State, to, message); err != nil {
		return "", fmt.Errorf("move a drift: %w", err)
	}
	tx.Touch(Noun, d.ID)
	return to, nil
}

// Record writes what a look at a host found: new drifts, those that changed, and those that ended. Only what is new and what ended
// is told by an event.
func Record(ctx context.Context, d *db.DB, by string, h Host, findings []Finding) (changed int64, err error) {
	policy := audit.Actor{Kind: audit.Policy, Name: by}
	type key struct {
		unit    uuid.UUID
		promise string
	}
	before, err := Unended(ctx, d.Reader, h.ID)
	if err != nil {
		return 0, fmt.Errorf("read the drifts of a host: %w", err)
	}
	known := map[key]Drift{}
	for _, row := range before {
		known[key{row.UnitID, row.Promise}] = row
	}
	var made []Finding
	seen := map[key]bool{}
	changes := map[uuid.UUID]Finding{}
	for _, f := range findings {
		k := key{f.Unit, f.Promise}
		seen[k] = true
		switch row, ok := known[k]; {
		case !ok:
			made = append(made, f)
		case row.Promised != f.Promised || row.Found != f.Found || row.AllocationID != f.Allocation:
			changes[row.ID] = f
		}
	}
	var ended []Drift
	for k, row := range known {
		if !seen[k] {
			ended = append(ended, row)
		}
	}
	if len(made)+len(changes)+len(ended) == 0 {
		return 0, nil
	}
	err = d.InTx(ctx, func(tx *db.Tx) error {
		changed = 0
		for _, f := range made {
			n, err := begin(ctx, tx, policy, h, f)
			if err != nil {
				return err
			}
			changed += n
		}
		for id, f := range changes {
			if _, err := tx.Exec(ctx, sqlSee, id, f.Promised, f.Found, f.Allocation); err != nil {
				return fmt.Errorf("write what was found: %w", err)
			}
			tx.Touch(Noun, id)
			changed++
		}
		for _, row := range ended {
			if err := end(ctx, tx, policy, row); err != nil {
				return err
			}
			changed++
		}
		return nil
	})
	return changed, err
}

func begin(ctx context.Context, tx *db.Tx, by audit.Actor, h Host, f Finding) (int64, error) {
	id := uuid.New()
	n, err := tx.Exec(ctx, sqlInsert, id, h.WorkspaceID, h.ID, f.Unit, f.Allocation, f.Name, f.Promise, f.Promised, f.Found)
	if err != nil {
		return 0, fmt.Errorf("insert a drift: %w", err)
	}
	if n == 0 { // another run was faster
		return 0, nil
	}
	tx.Touch(Noun, id)
	d := Drift{ID: id, WorkspaceID: h.WorkspaceID, HostID: h.ID, HostName: h.Name, UnitID: f.Unit, Name: f.Name, Promise: f.Promise, Promised: f.Promised, Found: f.Found}
	return n, audit.Append(ctx, tx, by, d.entry("find", nil, d.facts()))
}

func end(ctx context.Context, tx *db.Tx, by audit.Actor, row Drift) error {
	held, err := hold(ctx, tx, row.ID)
	if err != nil {
		return err
	}
	if held.State == Ended {
		return nil
	}
	message := "It is as promised again. Nothing of Kloigos repaired it."
	if held.Repairs > 0 {
		message = "It was repaired."
	}
	if _, err := move(ctx, tx, held, AsPromised, message); err != nil {
		return err
	}
	return audit.Append(ctx, tx, by, held.entry("end", held.facts(), map[string]any{"message": message, "promise": held.Promise}))
}

// Accept says that a drift may stay as it is for some time.
func Accept(ctx context.Context, tx *intent.Tx, ref scope.Ref[Drift], version int64, reason string, length time.Duration) error {
	d, err := held(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	until := time.Now().Add(length).UTC().Truncate(time.Second)
	if err := d.CanAccept(); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlAccept, d.ID, tx.Call().Actor.Name, until); err != nil {
		return fmt.Errorf("note who accepted a drift: %w", err)
	}
	if _, err := move(ctx, tx.Tx, d, PersonAccepted, reason); err != nil {
		return err
	}
	if err := tx.Event(ctx, d.entry("accept", d.facts(), map[string]any{"reason": reason, "until": until, "promise": d.Promise})); err != nil {
		return err
	}
	return tx.Made(ctx, Noun, d.ID, uuid.Nil)
}

func held(ctx context.Context, tx *intent.Tx, ref scope.Ref[Drift], version int64) (Drift, error) {
	if ref.IsZero() {
		return Drift{}, fault.ErrNotFound
	}
	d, err := hold(ctx, tx.Tx, ref.ID())
	if err != nil {
		return d, err
	}
	return d, fault.CheckVersion("drift", d.Version, version)
}

// SetMode says what is done about drift of a workspace, a host or a unit.
func SetMode(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], of Scope, s Setting) error {
	if ref.IsZero() {
		return fault.ErrNotFound
	}
	if err := s.check(); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlPutSetting, of.Scope, ref.ID(), s.Mode, s.WindowDay, s.WindowFrom, s.WindowHours, tx.Call().Actor.Name); err != nil {
		return fmt.Errorf("set the mode of drift: %w", err)
	}
	err := tx.Event(ctx, audit.Entry{
		Workspace: ref.Workspace(), Action: "drift.set_mode", ObjectKind: of.Scope, ObjectID: of.ID, ObjectName: of.Name,
		After: map[string]any{"mode": s.Mode, "window_day": s.WindowDay, "window_from": s.WindowFrom, "window_hours": s.WindowHours},
	})
	if err != nil {
		return err
	}
	return tx.Made(ctx, "drift_mode", of.ID, uuid.Nil)
}
