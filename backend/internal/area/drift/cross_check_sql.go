package drift

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// Crossed is one object of the present pass over a host: the host itself, or a unit with a tenant.
type Crossed struct {
	HostID       uuid.UUID  `db:"host_id"`
	UnitID       uuid.UUID  `db:"unit_id"` // zeros for the host itself
	AllocationID uuid.UUID  `db:"allocation_id"`
	Name         string     `db:"name"`
	PlanID       *uuid.UUID `db:"plan_id"` // nil: not asked for yet
	JudgedAt     *time.Time `db:"judged_at"`

	PlanState *string         `db:"plan_state"` // nil: there is no such plan
	Version   *int64          `db:"playbook_version"`
	Changes   json.RawMessage `db:"changes"`  // what the check told, as a JSON array
	Promises  []string        `db:"promises"` // that the agent found broken meanwhile
}

// OfHost tells whether it is the host itself.
func (c Crossed) OfHost() bool { return c.UnitID == uuid.Nil }

// What the agent found counts if it held at some time between the question and the answer of the check.
const sqlCrossed = `
SELECT c.host_id, c.unit_id, c.allocation_id, c.name, c.plan_id, c.judged_at, p.state AS plan_state, v.version::INT8 AS playbook_version,
       p.result->'changes' AS changes,
       ARRAY(SELECT d.promise
               FROM drifts d
              WHERE d.host_id = c.host_id AND d.unit_id = c.unit_id AND d.since <= COALESCE(p.checked_at, now())
                AND (d.ended_at IS NULL OR d.ended_at >= p.created_at)
              ORDER BY d.promise) AS promises
  FROM cross_checks c
  LEFT JOIN plans p ON p.id = c.plan_id
  LEFT JOIN playbook_versions v ON v.id = p.playbook_version_id
 WHERE c.host_id = $1
 ORDER BY c.unit_id`

// CrossedOf reads the last pass over a host, the host itself first.
func CrossedOf(ctx context.Context, q db.Reader, host uuid.UUID) ([]Crossed, error) {
	rows, err := db.Collect[Crossed](ctx, q, sqlCrossed, host)
	if err != nil {
		return nil, fmt.Errorf("read the pass over host %s: %w", host, err)
	}
	return rows, nil
}

const sqlForgetCrossed = `
DELETE FROM cross_checks
 WHERE host_id = $1`

const sqlCross = `
INSERT INTO cross_checks (host_id, unit_id, allocation_id, name)
VALUES ($1, $2, $3, $4)`

// BeginCross begins a pass over a host and its settled units; ForgetCross ends the last one for good.
func BeginCross(ctx context.Context, tx *db.Tx, h Host, units []Unit) error {
	if err := ForgetCross(ctx, tx, h.ID); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlCross, h.ID, uuid.Nil, uuid.Nil, h.Name); err != nil {
		return fmt.Errorf("begin a pass over a host: %w", err)
	}
	for _, u := range units {
		if !u.Settled {
			continue
		}
		if _, err := tx.Exec(ctx, sqlCross, h.ID, u.ID, u.AllocationID, u.Name); err != nil {
			return fmt.Errorf("begin a pass over a host: %w", err)
		}
	}
	return nil
}

// ForgetCross forgets the last pass over a host.
func ForgetCross(ctx context.Context, tx *db.Tx, host uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlForgetCrossed, host); err != nil {
		return fmt.Errorf("forget the pass over a host: %w", err)
	}
	return nil
}

const sqlCrossAsked = `
UPDATE cross_checks
   SET plan_id = $3
 WHERE host_id = $1 AND unit_id = $2 AND plan_id IS NULL`

// CrossAsked notes the plan that checks an object.
func CrossAsked(ctx context.Context, tx *db.Tx, c Crossed, plan uuid.UUID) error {
	if _, err := tx.Exec(ctx, sqlCrossAsked, c.HostID, c.UnitID, plan); err != nil {
		return fmt.Errorf("note the plan of a check: %w", err)
	}
	return nil
}

const sqlCrossJudged = `
UPDATE cross_checks
   SET judged_at = now()
 WHERE host_id = $1 AND unit_id = $2`

// CrossJudged notes that an object of the pass is done with.
func CrossJudged(ctx context.Context, tx *db.Tx, c Crossed) error {
	if _, err := tx.Exec(ctx, sqlCrossJudged, c.HostID, c.UnitID); err != nil {
		return fmt.Errorf("note the end of a check: %w", err)
	}
	return nil
}
