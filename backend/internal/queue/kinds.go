package queue

import (
	"cmp"
	"context"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

// Kinds carries out the jobs of the kinds that areas handed in, and leaves all
// others to others.
func Kinds(r *work.Runner, others Work) Work {
	r.Stopping = Stopping
	return func(ctx context.Context, c store.Claim, log *Log) Result {
		if _, known := r.Registry.Kind(string(c.Kind)); !known {
			return others(ctx, c, log)
		}
		return result(c, r.Run(ctx, c.ID, c.Attempt, log, Backoff))
	}
}

// result also lets go of hosts: a play of the job may have been cut with its backend.
func result(c store.Claim, of work.Result) Result {
	ends := map[work.End]End{work.Succeeded: Succeeded, work.Failed: Failed, work.Cancelled: Cancelled, work.Retry: Retry, work.HandOver: HandOver}
	r := Result{End: ends[of.End], Outcome: of.Outcome, After: of.After}
	if of.Error != nil {
		r.Error = &domain.JobError{Code: of.Error.Code, Message: of.Error.Message, NextStep: cmp.Or(of.Error.NextStep, domain.NextStep(of.Error.Code))}
	}
	if of.Apply != nil {
		r.Apply = func(ctx context.Context, tx *store.Tx) error {
			if err := of.Apply(ctx, tx.Tx); err != nil {
				return err
			}
			return tx.UnlockHostsOf(ctx, c.ID, c.Attempt)
		}
	}
	return r
}
