package rollout

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

const sqlRollout = `
SELECT r.id, r.state, r.plan, r.wave, r.waves, r.forgiven, r.reason, r.next_at, r.ended_at, r.version, r.created_at, r.updated_at, now() AS now
  FROM rollouts r
 WHERE r.id = $1`

// ByID returns a rollout.
func ByID(ctx context.Context, q db.Reader, id uuid.UUID) (Rollout, error) {
	return db.First[Rollout](ctx, q, fault.ErrNotFound, sqlRollout, id)
}

func hold(ctx context.Context, tx *db.Tx, id uuid.UUID) (Rollout, error) {
	return db.First[Rollout](ctx, tx.Reader, fault.ErrNotFound, sqlRollout+" FOR UPDATE", id)
}

const sqlTarget = `
SELECT t.target_id, t.name, t.region, t.zone, t.wave, t.state, t.reason, t.told_at, t.ended_at
  FROM rollout_targets t
 WHERE true`

func targetsOfRollout(ctx context.Context, q db.Reader, id uuid.UUID) ([]Target, error) {
	all, err := db.Collect[Target](ctx, q, sqlTarget+" AND t.rollout_id = $1 ORDER BY t.wave, t.name, t.target_id", id)
	if err != nil {
		return nil, fmt.Errorf("read the targets of rollout %s: %w", id, err)
	}
	return all, nil
}

// TargetSorting is the orders that targets can be listed in.
var TargetSorting = db.Sorting[Target]{
	{Name: "wave", Columns: []db.Column{db.ByNumber("t.wave", 1<<31), db.ByText("t.name"), db.ByID("t.target_id")}, At: func(t Target) db.Position {
		return db.Position{Number: t.Wave, Text: t.Name, ID: t.ID}
	}},
}

// TargetFilter narrows a list of targets.
type TargetFilter struct {
	Rollout uuid.UUID
	State   string
	Sort    string // one of TargetSorting; "" for the first
	After   *db.Position
	Limit   int
}

// Targets lists targets of a rollout.
func Targets(ctx context.Context, q db.Reader, f TargetFilter) ([]Target, error) {
	l := db.NewList(sqlTarget).And("t.rollout_id = ?", f.Rollout).AndIf(f.State, "t.state = ?")
	return TargetSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// Wave is how many targets of a wave are in each state.
type Wave struct {
	Wave  int64       `db:"wave"`
	State TargetState `db:"state"`
	Count int64       `db:"count"`
}

const sqlWaves = `
SELECT t.wave, t.state, count(*) AS count
  FROM rollout_targets t
 WHERE t.rollout_id = $1
 GROUP BY t.wave, t.state
 ORDER BY t.wave, t.state`

// Waves counts targets by wave and state.
func Waves(ctx context.Context, q db.Reader, id uuid.UUID) ([]Wave, error) {
	all, err := db.Collect[Wave](ctx, q, sqlWaves, id)
	if err != nil {
		return nil, fmt.Errorf("count the targets of rollout %s: %w", id, err)
	}
	return all, nil
}

const sqlInsert = `
INSERT INTO rollouts (id, state, plan, waves, reason)
VALUES ($1, 'running', $2, $3, 'It begins in a moment.')`

const sqlAdd = `
INSERT INTO rollout_targets (rollout_id, target_id, name, region, zone, wave, state)
SELECT $1, b.id, b.name, b.region, b.zone, b.wave, 'waiting'
  FROM unnest($2::UUID[], $3::TEXT[], $4::TEXT[], $5::TEXT[], $6::INT8[]) AS b (id, name, region, zone, wave)
ON CONFLICT (rollout_id, target_id) DO NOTHING`

func add(ctx context.Context, tx *db.Tx, id uuid.UUID, targets []Target) error {
	ids, waves := make([]uuid.UUID, len(targets)), make([]int64, len(targets))
	names, regions, zones := make([]string, len(targets)), make([]string, len(targets)), make([]string, len(targets))
	for i, t := range targets {
		ids[i], names[i], regions[i], zones[i], waves[i] = t.ID, t.Name, t.Region, t.Zone, t.Wave
	}
	if _, err := tx.Exec(ctx, sqlAdd, id, ids, names, regions, zones, waves); err != nil {
		return fmt.Errorf("add targets: %w", err)
	}
	return nil
}

const sqlWrite = `
UPDATE rollouts
   SET state = $3, wave = $4, forgiven = $5, reason = $6, next_at = $7, ended_at = $8, version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2`

const sqlWriteTargets = `
UPDATE rollout_targets
   SET state = b.state, reason = b.reason, told_at = b.told_at, ended_at = b.ended_at
  FROM unnest($2::UUID[], $3::TEXT[], $4::TEXT[], $5::TIMESTAMPTZ[], $6::TIMESTAMPTZ[]) AS b (id, state, reason, told_at, ended_at)
 WHERE rollout_targets.rollout_id = $1 AND rollout_targets.target_id = b.id`

// write stores a step, if nobody made one since before was read.
func write(ctx context.Context, tx *db.Tx, before, after Rollout, targets []Target) error {
	err := tx.One(ctx, ErrMeanwhile, sqlWrite, before.ID, before.Version, after.State, after.Wave, after.Forgiven, after.Reason, after.NextAt, after.EndedAt)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return nil
	}
	ids, states, reasons := make([]uuid.UUID, len(targets)), make([]string, len(targets)), make([]string, len(targets))
	told, ended := make([]*time.Time, len(targets)), make([]*time.Time, len(targets))
	for i, t := range targets {
		ids[i], states[i], reasons[i], told[i], ended[i] = t.ID, string(t.State), t.Reason, t.ToldAt, t.EndedAt
	}
	if _, err := tx.Exec(ctx, sqlWriteTargets, before.ID, ids, states, reasons, told, ended); err != nil {
		return fmt.Errorf("write targets: %w", err)
	}
	return nil
}

const sqlForgetTargets = `
DELETE FROM rollout_targets
 WHERE rollout_id = $1`

const sqlForget = `
DELETE FROM rollouts
 WHERE id = $1`

// Forget deletes a rollout with its targets.
func Forget(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	for _, sql := range []db.Statement{sqlForgetTargets, sqlForget} {
		if _, err := tx.Exec(ctx, sql, id); err != nil {
			return fmt.Errorf("forget rollout %s: %w", id, err)
		}
	}
	return nil
}
