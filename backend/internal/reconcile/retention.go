package reconcile

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

const (
	// Batches of one run. With the pause between them a run takes a few per cent
	// of the database's time, and what it leaves is the next one's.
	maxBatches = 400
	batchPause = 50 * time.Millisecond
)

// batches repeats one bounded transaction until nothing is left.
func batches(ctx context.Context, db *store.DB, one func(*store.Tx) (n int64, more bool, err error)) (all int64, err error) {
	for range maxBatches {
		var n int64
		var more bool
		err := db.InTx(ctx, func(tx *store.Tx) (err error) {
			n, more, err = one(tx)
			return err
		})
		if err != nil {
			return all, err
		}
		if all += n; !more {
			return all, nil
		}
		select {
		case <-ctx.Done():
			return all, ctx.Err()
		case <-time.After(batchPause):
		}
	}
	return all, nil
}

func oldJobLogs(keep time.Duration) Policy {
	return Policy{
		Name: "old_job_logs", Why: "logs are by far the most that is stored, and few look at one a month later; the job itself stays, with its steps, its error and its outcome",
		Interval: 10 * time.Minute, Jitter: 5 * time.Minute, Timeout: 5 * time.Minute,
		Run: func(ctx context.Context, db *store.DB) (int64, error) {
			return batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return tx.ExpireLogs(ctx, keep) })
		},
	}
}

func oldEvents(keep time.Duration) Policy {
	const name = "old_events"
	return Policy{
		Name: name, Why: "an operator said for how long the audit trail is to be kept",
		Interval: time.Hour, Jitter: 10 * time.Minute, Timeout: 10 * time.Minute,
		Run: func(ctx context.Context, db *store.DB) (all int64, err error) {
			workspaces, err := db.Workspaces(ctx)
			if err != nil {
				return 0, err
			}
			for _, w := range workspaces {
				n, err := batches(ctx, db, func(tx *store.Tx) (int64, bool, error) { return tx.ExpireEvents(ctx, w, keep) })
				all += n
				if err != nil {
					return all, err
				}
			}
			if all == 0 {
				return 0, nil
			}
			// That a part of the trail is gone stands in the trail.
			err = db.InTx(ctx, func(tx *store.Tx) error {
				return tx.AddEvent(ctx, domain.Actor{Kind: domain.ActorPolicy, Name: name}, store.Audit{
					Workspace: domain.DefaultWorkspace, Action: "event.expire", ObjectKind: "event",
					After: map[string]any{"removed": all, "older_than": fmt.Sprintf("%d days", int(keep.Hours()/24))},
				})
			})
			return all, err
		},
	}
}
