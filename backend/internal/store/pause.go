package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kloigos/backend/internal/domain"
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
	p, err := first[QueuePause](ctx, r.q, domain.ErrNotFound, sqlQueuePause)
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
	return tx.one(ctx, domain.Conflictf("queue_paused", "the queue is paused already"), sqlPauseQueue, by, reason)
}

const sqlResumeQueue = `
DELETE FROM queue_pauses
 WHERE queue = 'jobs'`

// What waited for a person must not fail for having waited.
const sqlMoveDeadlines = `
UPDATE jobs
   SET deadline_at = deadline_at + (now() - GREATEST(created_at, $1::TIMESTAMPTZ))
 WHERE state = 'queued'`

// ResumeQueue lets jobs be claimed again, and moves the deadlines of those that
// wait by as long as the pause held them up.
func (tx *Tx) ResumeQueue(ctx context.Context) (QueuePause, error) {
	notPaused := domain.Conflictf("queue_not_paused", "the queue is not paused")
	p, err := tx.QueuePause(ctx)
	if err != nil {
		return QueuePause{}, err
	}
	if p == nil {
		return QueuePause{}, notPaused
	}
	if err := tx.one(ctx, notPaused, sqlResumeQueue); err != nil {
		return QueuePause{}, err
	}
	if _, err := tx.exec(ctx, sqlMoveDeadlines, p.At); err != nil {
		return QueuePause{}, fmt.Errorf("move deadlines: %w", err)
	}
	return *p, nil
}
