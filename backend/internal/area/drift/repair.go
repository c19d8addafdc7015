package drift

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
)

// Due is a repair that is to be asked for: of a unit, or of the host.
type Due struct {
	Host, Unit, Allocation uuid.UUID // Unit is zeros for the host
	Drifts                 []Drift
}

// Plan moves the drifts of a host on whose repair or acceptance ended, and those that came back too often. It returns the repairs
// that are due now. Those of the host come first and alone: its job may put the units right too.
func Plan(ctx context.Context, d *db.DB, by string, h Host, now time.Time) (due []Due, err error) {
	rows, err := Unended(ctx, d.Reader, h.ID)
	if err != nil {
		return nil, fmt.Errorf("read the drifts of a host: %w", err)
	}
	scopes := []uuid.UUID{h.ID, h.WorkspaceID, h.Organization}
	for _, row := range rows {
		scopes = append(scopes, row.UnitID)
	}
	modes, err := Settings(ctx, d.Reader, scopes...)
	if err != nil {
		return nil, fmt.Errorf("read the modes of drift: %w", err)
	}
	byObject, order := map[uuid.UUID]*Due{}, []uuid.UUID{}
	for _, row := range rows {
		if row, err = settle(ctx, d, by, row, now); err != nil {
			return nil, err
		}
		if row.State != Open || !settingOf(modes, row.UnitID, h).Repairs(now) {
			continue
		}
		often, err := counted(ctx, d.Reader, sqlRepairsLately, row.HostID, row.UnitID, row.Promise)
		if err != nil {
			return nil, fmt.Errorf("count repairs: %w", err)
		}
		if often >= repairsAnHour {
			if err := giveUp(ctx, d, by, row, often); err != nil {
				return nil, err
			}
			continue
		}
		object := row.UnitID
		if row.RepairsHost() {
			object = uuid.Nil
		}
		if byObject[object] == nil {
			byObject[object] = &Due{Host: h.ID, Unit: object}
			order = append(order, object)
		}
		byObject[object].Allocation = row.AllocationID
		byObject[object].Drifts = append(byObject[object].Drifts, row)
	}
	if byObject[uuid.Nil] != nil {
		return []Due{*byObject[uuid.Nil]}, nil
	}
	for _, object := range order {
		due = append(due, *byObject[object])
	}
	return due, nil
}

// settle moves a drift on whose repair ended without putting it right, or whose acceptance is over.
func settle(ctx context.Context, d *db.DB, by string, row Drift, now time.Time) (Drift, error) {
	event, message := RepairEnded, ""
	switch row.State {
	case Repairing:
		runs, err := jobRuns(ctx, d.Reader, row.JobID)
		if err != nil || runs {
			return row, err
		}
		message = "A repair ended, and the host is still not as promised."
	case Accepted:
		if row.AcceptUntil == nil || now.Before(*row.AcceptUntil) {
			return row, nil
		}
		event = AcceptanceOver
	default:
		return row, nil
	}
	err := d.InTx(ctx, func(tx *db.Tx) error {
		held, err := hold(ctx, tx, row.ID)
		if err != nil || held.State != row.State {
			return err
		}
		_, err = move(ctx, tx, held, event, message)
		return err
	})
	if err != nil {
		return row, err
	}
	return ByID(ctx, d.Reader, row.ID)
}

func giveUp(ctx context.Context, d *db.DB, by string, row Drift, often int64) error {
	return d.InTx(ctx, func(tx *db.Tx) error {
		held, err := hold(ctx, tx, row.ID)
		if err != nil || held.State != Open {
			return err
		}
		message := fmt.Sprintf("It was repaired %d times within an hour and came back. Find who changes it, then repair or accept it.", often)
		if _, err := move(ctx, tx, held, CameBack, message); err != nil {
			return err
		}
		return audit.Append(ctx, tx, audit.Actor{Kind: audit.Policy, Name: by}, held.entry("give_up", held.facts(), map[string]any{"message": message, "promise": held.Promise}))
	})
}

// Room is how many more repairs may begin now.
func Room(ctx context.Context, q db.Reader) (int64, error) {
	n, err := counted(ctx, q, sqlUnderRepair)
	return max(0, AtOnce-n), err
}

// Repaired notes that a job was asked for that puts drifts right.
func Repaired(ctx context.Context, tx *db.Tx, by audit.Actor, drifts []Drift, job uuid.UUID) error {
	for _, row := range drifts {
		held, err := hold(ctx, tx, row.ID)
		if err != nil {
			return err
		}
		if held.CanRepair() != nil {
			continue
		}
		if _, err := move(ctx, tx, held, RepairBegan, ""); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, sqlRepair, held.ID, job); err != nil {
			return fmt.Errorf("note a repair: %w", err)
		}
		held.JobID = &job
		if err := audit.Append(ctx, tx, by, held.entry("repair", held.facts(), map[string]any{"promise": held.Promise})); err != nil {
			return err
		}
	}
	return nil
}
