package worker

import (
	"context"
	"errors"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/queue"
)

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
	if r.host.fence != 0 || r.host.held {
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
