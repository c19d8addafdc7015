package worker

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/ansible"
	"kloigos/backend/internal/bundle"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/kernel/failpoint"
)

// play runs one play of the job's playbook on its host and keeps what it
// returned. fenced says whether the host's fence checks every module's start:
// always, but for plays that only read and the one that brings the fence.
func (r *run) play(ctx context.Context, what inputs.Play, fenced bool) error {
	out, err := r.ansible(ctx, what, fenced, false, nil)
	if err != nil {
		return err
	}
	r.result = out.Results[r.host.Name]
	return nil
}

// ansible runs one play, or only checks it. seen is told of every event, those
// that are not for the log among them: what a check would change, and results.
func (r *run) ansible(ctx context.Context, what inputs.Play, fenced, check bool, seen func(ansible.Event)) (ansible.Outcome, error) {
	if r.job.PlaybookVersionID == nil {
		return ansible.Outcome{}, fmt.Errorf("job is bound to no playbook version")
	}
	if r.plan.ID != uuid.Nil && bundle.Digest(r.content) != r.plan.PlaybookSHA256 {
		return ansible.Outcome{}, r.stale(domain.MovedPlaybook, "What is stored as this version of the playbook is not what the plan was made with.")
	}
	to, err := r.host.access(ctx)
	if err != nil {
		return ansible.Outcome{}, err
	}
	r.unchecked = r.unchecked || r.host.held && !fenced && !check
	out, err := r.carryOut(ctx, r.playOf(what, *to, fenced, check), what, seen)
	if err == nil && !check { // a plan uses the same playbook; the failpoint is for what changed the host
		r.w.cfg.Failpoints.Hit(failpoint.PlayDone(r.playbook, what.File))
	}
	return out, err
}
