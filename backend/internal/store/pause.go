package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// QueuePause says since when the queue is paused, by whom and why.
type QueuePause struct {
	At     time.Time `db:"paused_at"`
	By     string    `db:"paused_by"`
	Reason string    `db:"reason"`
}

const sqlQueuePause = `
SELECT p.paused_at, p.paused_by, p.reason
  FROM queue_pauses p
 WHERE p.queue = 'jobs'`

// QueuePause returns the pause of the queue; nil if it is not paused.
func (r Reads) QueuePause(ctx context.Context) (*QueuePause, error) {
	p, err := db.First[QueuePause](ctx, r.q, domain.ErrNotFound, sqlQueuePause)
	if errors.Is(err, domain.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look whether the queue is paused: %w", err)
	}
	return &p, nil
}

const sqlPauseQueue = `
INSERT INTO queue_pauses (queue, paused_by, reason)
VALUES ('jobs', $1, $2)
ON CONFLICT (queue) DO NOTHING`

// PauseQueue keeps every backend from claiming queued jobs, from the moment in
// which the transaction commits.
func (tx *Tx) PauseQueue(ctx context.Context, by, reason string) error {
	return tx.One(ctx, domain.Conflictf("queue_paused", "the queue is paused already"), sqlPauseQueue, by, reason)
}

const sqlResumeQueue = `
DELETE FROM queue_pauses
 WHERE queue = 'jobs'`

// ResumeQueue lets jobs be claimed again. MoveDeadlines comes before it.
func (tx *Tx) ResumeQueue(ctx context.Context) (QueuePause, error) {
	notPaused := domain.Conflictf("queue_not_paused", "the queue is not paused")
	p, err := tx.QueuePause(ctx)
	if err != nil {
		return QueuePause{}, err
	}
	if p == nil {
		return QueuePause{}, notPaused
	}
	return *p, tx.One(ctx, notPaused, sqlResumeQueue)
}

// deadlinesAtOnce is how many jobs MoveDeadlines writes at most.
const deadlinesAtOnce = 1000

const sqlMovingDeadlines = `
UPDATE queue_pauses
   SET resumed_at = COALESCE(resumed_at, now())
 WHERE queue = 'jobs'
RETURNING paused_at, resumed_at, COALESCE(moved_to, '00000000-0000-0000-0000-000000000000'::UUID) AS moved_to`

// What waited for a person must not fail for having waited.
const sqlMoveDeadlines = `
UPDATE jobs
   SET deadline_at = deadline_at + GREATEST($2::TIMESTAMPTZ - GREATEST(created_at, $1::TIMESTAMPTZ), INTERVAL '0 seconds')
 WHERE state = 'queued'
   AND id IN (SELECT j.id
                FROM jobs j
               WHERE j.state = 'queued' AND j.id > $3
               ORDER BY j.id
               LIMIT $4)
RETURNING id`

const sqlMovedDeadlines = `
UPDATE queue_pauses
   SET moved_to = $1
 WHERE queue = 'jobs'`

// MoveDeadlines moves the deadlines of a bounded number of queued jobs by as long
// as the pause has held them up, and tells whether there are more. It notes how
// far it came, so that no deadline moves twice, whoever goes on.
func (tx *Tx) MoveDeadlines(ctx context.Context) (more bool, err error) {
	type moving struct {
		PausedAt  time.Time `db:"paused_at"`
		ResumedAt time.Time `db:"resumed_at"`
		MovedTo   uuid.UUID `db:"moved_to"`
	}
	m, err := db.First[moving](ctx, tx.q, domain.ErrNotFound, sqlMovingDeadlines)
	if errors.Is(err, domain.ErrNotFound) { // it is not paused
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("end the pause: %w", err)
	}
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	moved, err := db.Collect[row](ctx, tx.q, sqlMoveDeadlines, m.PausedAt, m.ResumedAt, m.MovedTo, deadlinesAtOnce)
	if err != nil || len(moved) == 0 {
		return false, err
	}
	last := slices.MaxFunc(moved, func(a, b row) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	if _, err := tx.Exec(ctx, sqlMovedDeadlines, last.ID); err != nil {
		return false, fmt.Errorf("note how many deadlines were moved: %w", err)
	}
	return len(moved) == deadlinesAtOnce, nil
}
