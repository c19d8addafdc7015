package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// Modes of a pause.
const (
	ModePause   = "pause"   // nothing is run
	ModeObserve = "observe" // runs look and change nothing
)

// Pause says what is not reconciled for now, since when, by whom and why.
type Pause struct {
	Policy   string     `db:"policy"`    // "": every policy
	ObjectID uuid.UUID  `db:"object_id"` // zeros: every object of the policy
	Mode     string     `db:"mode"`
	At       time.Time  `db:"paused_at"`
	By       string     `db:"paused_by"`
	Reason   string     `db:"reason"`
	Until    *time.Time `db:"until"` // nil: until somebody resumes
}

// One that is over counts as none.
const sqlPause = `
INSERT INTO reconcile_pauses (policy, object_id, mode, paused_by, reason, until)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (policy, object_id) DO UPDATE
   SET mode = excluded.mode, paused_at = now(), paused_by = excluded.paused_by, reason = excluded.reason, until = excluded.until
 WHERE reconcile_pauses.until <= statement_timestamp()`

// SetPause pauses a policy, an object, or both. Runs that have begun go on.
func SetPause(ctx context.Context, tx *db.Tx, p Pause) error {
	err := tx.One(ctx, fault.Conflictf("policy_paused", "it is paused already; resume it first"), sqlPause, p.Policy, p.ObjectID, p.Mode, p.By, p.Reason, p.Until)
	if err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	return nil
}

const sqlWatched = `
SELECT i.policy
  FROM reconcile_items i
 WHERE i.object_id = $1 AND ($2::TEXT = '' OR i.policy = $2)
 LIMIT 1`

// Watched is fault.ErrNotFound unless a policy, or any if none is named, looks at the object.
func Watched(ctx context.Context, r db.Reader, policy string, object uuid.UUID) error {
	_, err := db.First[watched](ctx, r, fault.ErrNotFound, sqlWatched, object, policy)
	if err != nil {
		return fmt.Errorf("look for the item of an object: %w", err)
	}
	return nil
}

// watched is an item that a policy looks at.
type watched struct {
	Policy string `db:"policy"`
}

const sqlResume = `
DELETE FROM reconcile_pauses
 WHERE policy = $1 AND object_id = $2
RETURNING policy, object_id, mode, paused_at, paused_by, reason, until`

// Resume ends a pause. What has become due meanwhile is run at once.
func Resume(ctx context.Context, tx *db.Tx, policy string, object uuid.UUID) (Pause, error) {
	p, err := db.First[Pause](ctx, tx.Reader, fault.Conflictf("policy_not_paused", "it is not paused"), sqlResume, policy, object)
	if err != nil {
		return p, fmt.Errorf("resume: %w", err)
	}
	return p, nil
}

const sqlPauses = `
SELECT s.policy, s.object_id, s.mode, s.paused_at, s.paused_by, s.reason, s.until
  FROM reconcile_pauses s
 WHERE s.until IS NULL OR s.until > statement_timestamp()
 ORDER BY s.policy, s.object_id
 LIMIT 1000`

// Pauses are those that count now, the first thousand.
func Pauses(ctx context.Context, r db.Reader) ([]Pause, error) {
	all, err := db.Collect[Pause](ctx, r, sqlPauses)
	if err != nil {
		return nil, fmt.Errorf("read pauses: %w", err)
	}
	return all, nil
}
