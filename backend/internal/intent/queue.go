package intent

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// PauseQueue keeps every backend from beginning queued jobs until ResumeQueue.
// Jobs that run go on, and are taken over if their backend dies.
func (in *Intents) PauseQueue(ctx context.Context, call Call, reason string) error {
	var bad domain.Invalid
	if strings.TrimSpace(reason) == "" || len(reason) > 2000 || strings.ContainsFunc(reason, unicode.IsControl) {
		bad.Add("reason", "give the reason in one line; everyone who waits sees it")
	}
	if err := bad.OrNil(); err != nil {
		return err
	}
	return in.do(ctx, call, func(tx *store.Tx) error {
		if err := tx.PauseQueue(ctx, call.Actor.Name, reason); err != nil {
			return err
		}
		return queueEvent(ctx, tx, call, "queue.pause", nil, map[string]any{"paused": true, "reason": reason})
	})
}

// ResumeQueue ends a pause. The deadlines of what has waited move before, in
// transactions of their own, since one for all of a long queue would hold up what
// else writes these jobs. A resume that is cut is simply asked for again.
func (in *Intents) ResumeQueue(ctx context.Context, call Call) error {
	for more := true; more; {
		err := in.db.InTx(ctx, func(tx *store.Tx) (err error) {
			more, err = tx.MoveDeadlines(ctx)
			return err
		})
		if err != nil {
			return fmt.Errorf("move deadlines: %w", err)
		}
	}
	return in.do(ctx, call, func(tx *store.Tx) error {
		p, err := tx.ResumeQueue(ctx)
		if err != nil {
			return err
		}
		before := map[string]any{"paused": true, "reason": p.Reason, "since": p.At.UTC().Format(time.RFC3339), "by": p.By}
		return queueEvent(ctx, tx, call, "queue.resume", before, map[string]any{"paused": false})
	})
}

func queueEvent(ctx context.Context, tx *store.Tx, call Call, action string, before, after map[string]any) error {
	err := tx.AddEvent(ctx, call.Actor, store.Audit{
		Workspace: domain.DefaultWorkspace, Action: action, ObjectKind: "queue", ObjectName: "jobs", Before: before, After: after,
	})
	if err != nil {
		return err
	}
	return recordMade(ctx, tx, call, "queue", uuid.Nil, uuid.Nil)
}
