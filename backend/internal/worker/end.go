package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/queue"
	"kloigos/backend/internal/store"
)

// endWithin bounds how long a host is asked to end what still runs on it: the
// whole of a cancel is to take no longer than ten seconds, of which one may pass
// until it is heard, and some with the end of the play and of the job.
const endWithin = 6 * time.Second

// cutShort tells whether the job ends now although something that it began may
// still go on on the host: a module there outlives the play that started it,
// and the backend as well. Who hands the job over leaves that to the next
// holder, whose first task ends it.
func (r *run) cutShort(ctx context.Context, err error) bool {
	cause := context.Cause(ctx)
	if err == nil || !r.host.Fenced || errors.Is(cause, queue.ErrLeaseLost) || errors.Is(cause, queue.ErrHandedOver) {
		return false
	}
	return (errors.Is(cause, queue.ErrCancelled) || leavesWork(err)) && r.began()
}

// leavesWork tells whether an attempt that ended so may not have been heard out
// by the host, or may have begun nothing there that would have ended what an
// earlier one of the job left.
func leavesWork(err error) bool {
	var why *domain.JobError
	if !errors.As(err, &why) {
		return !errors.Is(err, errStopping) && !errors.Is(err, errBusy) && !errors.Is(err, errUnknown)
	}
	switch why.Code {
	case domain.ErrCodeTimeout, domain.ErrCodeDeadline, domain.ErrCodeKilled, domain.ErrCodeSuperseded, domain.ErrCodePlanStale, domain.ErrCodePlaybookError:
		return true
	default:
		return false
	}
}

// began tells whether a step that holds the host was begun, by this attempt or
// an earlier one, and did not end well.
func (r *run) began() bool {
	if r.fence != 0 || r.locked {
		return true
	}
	for _, s := range r.job.Steps {
		what := r.w.handlers[r.job.Kind].steps[s.Name]
		if what.lock && (s.State == domain.StepRunning || s.State == domain.StepFailed) {
			return true
		}
	}
	return false
}

// endOnHost has the host's fence end what the job left there, by a number that
// is newer than all of its own. Where another job holds the host by now, or another
// worker has this one, their first task has done so, or will.
func (r *run) endOnHost(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer cancel()
	err := r.w.db.InTx(ctx, func(tx *store.Tx) (err error) {
		if err := tx.OwnJob(ctx, r.claim.ID, r.claim.Attempt); err != nil {
			return err
		}
		r.fence, err = tx.LockHost(ctx, r.host.ID, r.claim.ID, r.claim.Attempt)
		return err
	})
	if errors.Is(err, store.ErrHostBusy) || errors.Is(err, store.ErrLost) {
		return
	}
	if err == nil {
		err = r.comeAsNewest(ctx)
	}
	if err != nil {
		slog.Warn("end running tasks on the host failed", "job", r.claim.ID, "host", r.host.Name, "error", err)
		r.log.Note("The host did not answer the request to end running tasks. Its last task may still finish; the next job on the host ends it first.")
		return
	}
	if r.unchecked {
		r.log.Note("All tasks that ran under the host's fence were ended. The play that installs the fence runs without one: its last task may still finish.")
		return
	}
	r.log.Note("No task of the job runs on the host any more.")
}

func (r *run) comeAsNewest(ctx context.Context) error {
	a, err := r.access(ctx)
	if err != nil {
		return fmt.Errorf("reach the host: %w", err)
	}
	return r.w.runner.End(ctx, r.target(*a, true))
}
