package policy

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/store"
)

const (
	// Batches of one run. With the pause between them a run takes a few per cent
	// of the database's time, and what it leaves is the next one's.
	maxBatches = 400
	batchPause = 50 * time.Millisecond
)

// batches repeats one bounded transaction until nothing is left. What it leaves is
// the next run's, which comes soon.
func batches(ctx context.Context, db *store.DB, one func(*store.Tx) (n int64, more bool, err error)) (out reconcile.Outcome, err error) {
	for range maxBatches {
		var n int64
		var more bool
		err := db.InTx(ctx, func(tx *store.Tx) (err error) {
			n, more, err = one(tx)
			return err
		})
		if err != nil {
			return out, err
		}
		if out.Changed += n; !more {
			return out, nil
		}
		select {
		case <-ctx.Done():
			return out, ctx.Err()
		case <-time.After(batchPause):
		}
	}
	out.Again = moreSoon
	return out, nil
}

func oldJobLogs(db *store.DB, keep time.Duration) reconcile.Policy {
	return removal(reconcile.Policy{
		Name: "old_job_logs", Why: "logs are by far the most that is stored, and few look at one a month later; the job itself stays, with its steps, its error and its outcome",
		Interval: 10 * time.Minute, Jitter: 5 * time.Minute, Timeout: 5 * time.Minute,
	}, db, func(tx *store.Tx, ctx context.Context) (int64, bool, error) { return tx.ExpireLogs(ctx, keep) })
}

func oldEvents(db *store.DB, keep time.Duration) reconcile.Policy {
	const name = "old_events"
	return reconcile.Policy{
		Name: name, Why: "an operator said for how long the audit trail is to be kept",
		Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: 10 * time.Minute,
		Run: func(ctx context.Context, _ reconcile.Item) (out reconcile.Outcome, err error) {
			out, err = batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return audit.Expire(ctx, tx.Tx, keep) })
			if err != nil {
				return out, err
			}
			if out.Changed == 0 {
				return out, nil
			}
			// That a part of the trail is gone stands in the trail.
			err = db.InTx(ctx, func(tx *store.Tx) error {
				return tx.AddEvent(ctx, domain.Actor{Kind: domain.ActorPolicy, Name: name}, store.Audit{
					Workspace: domain.DefaultWorkspace, Action: "event.expire", ObjectKind: "event",
					After: map[string]any{"removed": out.Changed, "older_than": fmt.Sprintf("%d days", int(keep.Hours()/24))},
				})
			})
			return out, err
		},
	}
}
