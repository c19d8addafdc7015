package main

import (
	"context"
	"fmt"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/policy"
	"kloigos/backend/internal/store"
)

// clock times, so many times, the claim of a queued job and a look at the pulse of one that runs, in microseconds.
func clock(ctx context.Context, db *store.DB, times int) error {
	worker, err := appear(ctx, db)
	if err != nil {
		return err
	}
	var claims, pulses []int64
	for range times {
		id, err := enqueue(ctx, db)
		if err != nil {
			return err
		}
		var got []store.Claim
		begun := time.Now()
		err = db.InTx(ctx, func(tx *store.Tx) (err error) {
			got, err = tx.ClaimJobs(ctx, worker, time.Minute, 1)
			return err
		})
		claims = append(claims, time.Since(begun).Microseconds())
		if err != nil || len(got) != 1 || got[0].ID != id {
			return fmt.Errorf("claimed %v instead of %s: %w", got, id, err)
		}
		begun = time.Now()
		pulse, err := db.JobPulse(ctx, id)
		pulses = append(pulses, time.Since(begun).Microseconds())
		if err != nil || pulse.State != domain.JobRunning {
			return fmt.Errorf("the pulse is %+v: %w", pulse, err)
		}
		err = db.InTx(ctx, func(tx *store.Tx) error { return tx.FinishJob(ctx, id, got[0].Attempt, domain.JobSucceeded, nil, "") })
		if err != nil {
			return err
		}
	}
	return say(map[string]any{"claims": claims, "pulses": pulses})
}

// expire has the reconciler's policies remove what is old until nothing is, without the pauses between their runs.
func expire(ctx context.Context, db *store.DB, keep time.Duration) error {
	begun := time.Now()
	var removed int64
	for {
		before := removed
		for _, p := range policy.Policies(db, policy.Retention{Logs: keep, Events: keep}) {
			out, err := p.Run(ctx, reconcile.Item{})
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			removed += out.Changed
		}
		if removed == before {
			return say(map[string]any{"removed": removed, "seconds": time.Since(begun).Seconds()})
		}
	}
}
