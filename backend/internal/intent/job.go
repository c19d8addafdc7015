package intent

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/job"
	"kloigos/backend/internal/store"
)

func (in *Intents) onJob(ctx context.Context, call Call, id uuid.UUID, f func(*store.Tx, store.Job) error) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		j, err := tx.HeldJob(ctx, id)
		if err != nil {
			return err
		}
		return f(tx, j)
	})
}

// RetryJob queues a failed or cancelled job again, from the step that failed,
// with the playbook version it was bound to or with today's default. Its
// objects must still be where the failure left them: a unit that is someone
// else's by now is a Conflict.
func (in *Intents) RetryJob(ctx context.Context, call Call, id uuid.UUID, useDefaultPlaybook bool) error {
	return in.RetryJobFrom(ctx, call, id, useDefaultPlaybook, "")
}

// RetryJobFrom is RetryJob from a step that is done: that one, and what follows
// it, is done again. Steps are idempotent, so any that was reached will do; one
// that comes after the first that is not done would leave that out.
func (in *Intents) RetryJobFrom(ctx context.Context, call Call, id uuid.UUID, useDefaultPlaybook bool, step string) error {
	return in.onJob(ctx, call, id, func(tx *store.Tx, j store.Job) error {
		if _, ok := in.cfg.Kinds.Kind(string(j.Kind)); ok {
			return in.retryOfArea(ctx, tx, call, j, useDefaultPlaybook, step)
		}
		joint, ok := domain.JointOf(j.Kind)
		if !ok {
			return domain.Conflictf("job_kind", "this backend does not know jobs of kind %q", j.Kind)
		}
		err := stillItsOwn(ctx, tx, j)
		if err != nil {
			return err
		}
		var version *uuid.UUID
		if useDefaultPlaybook && joint.Checks {
			return domain.Conflictf("plan_version", "a plan belongs to one version of the playbook; create another plan")
		}
		if useDefaultPlaybook {
			if version, err = presentVersion(ctx, tx, joint.Playbook, j.Subject()[domain.OfHost]); err != nil {
				return err
			}
		}
		released := withoutPlan(j, version)
		if released || j.PlanID == nil { // what the job does then, nobody approved
			if err := withoutApproval(ctx, tx, call.Actor, j.WorkspaceID, j.Kind); err != nil {
				return err
			}
		}
		if err := tx.RetryJob(ctx, j, job.PolicyOf(j.Kind).Deadline, version, released); err != nil {
			return err
		}
		if err := asItFailed(ctx, tx, j, joint); err != nil {
			return err
		}
		from, err := repeatFrom(ctx, tx, j, step)
		if err != nil {
			return err
		}
		if err := tx.Apply(ctx, joint.Start, j.Subject(), ""); err != nil {
			return err
		}
		return tellRetry(ctx, tx, call, j, from)
	})
}

// retryOfArea is RetryJobFrom for a kind that an area handed in. Where its objects
// do not take its start once more, the retry is refused as a whole.
func (in *Intents) retryOfArea(ctx context.Context, tx *store.Tx, call Call, j store.Job, useDefaultPlaybook bool, step string) error {
	if useDefaultPlaybook {
		return domain.Conflictf("no_playbook", "a job of kind %s has no playbook", j.Kind)
	}
	if err := tx.RetryJob(ctx, j, in.cfg.Kinds.Deadline(string(j.Kind)), nil, false); err != nil {
		return err
	}
	from, err := repeatFrom(ctx, tx, j, step)
	if err != nil {
		return err
	}
	if err := in.cfg.Kinds.Again(ctx, tx.Tx, string(j.Kind), j.Objects); err != nil {
		return err
	}
	if err := in.approvedOrPlanned(ctx, tx, call, j); err != nil {
		return err
	}
	return tellRetry(ctx, tx, call, j, from)
}

// approvedOrPlanned refuses to try a job once more that does what nobody approved, where a rule asks for approvals.
func (in *Intents) approvedOrPlanned(ctx context.Context, tx *store.Tx, call Call, j store.Job) error {
	if k, _ := in.cfg.Kinds.Kind(string(j.Kind)); k.Plan == nil {
		return nil
	}
	if bound, err := tx.PlanOfJob(ctx, j.WorkspaceID, j.ID); err != nil || bound != nil {
		return err
	}
	return Unplanned(ctx, tx.Tx, call.Actor, j.WorkspaceID, string(j.Kind))
}

// repeatFrom sets the step that a retry begins with, and those after it, back to
// pending. So a step that waits is given its whole time again. A step that is still
// marked as running stays so, because a host may still carry some of it out.
func repeatFrom(ctx context.Context, tx *store.Tx, j store.Job, step string) (store.Step, error) {
	from, err := beginning(j, step)
	if err == nil && from.State != domain.StepRunning {
		err = tx.RepeatSteps(ctx, j.ID, from.Position)
	}
	return from, err
}

func tellRetry(ctx context.Context, tx *store.Tx, call Call, j store.Job, from store.Step) error {
	a := jobAudit(j, "job.retry")
	a.After = map[string]any{"state": domain.JobQueued, "from_step": from.Name}
	if err := tx.AddEvent(ctx, call.Actor, a); err != nil {
		return err
	}
	return recordMade(ctx, tx, call, "job", j.ID, j.ID)
}

// beginning is the step that a retry begins with: the one that is asked for, or
// the first that is not done.
func beginning(j store.Job, wanted string) (store.Step, error) {
	undone := slices.IndexFunc(j.Steps, func(s store.Step) bool { return s.State != domain.StepSucceeded })
	if undone < 0 {
		return store.Step{}, fmt.Errorf("job %s is %s, and all of its steps are done", j.ID, j.State)
	}
	if wanted == "" {
		return j.Steps[undone], nil
	}
	i := slices.IndexFunc(j.Steps, func(s store.Step) bool { return s.Name == wanted })
	if i < 0 {
		var bad domain.Invalid
		bad.Add("from_step", "a job of kind %s has no step %q", j.Kind, wanted)
		return store.Step{}, &bad
	}
	if i > undone {
		return store.Step{}, domain.Conflictf("step_not_reached", "the step %s comes after %s, which is not done; begin with that step or an earlier one", wanted, j.Steps[undone].Name)
	}
	return j.Steps[i], nil
}

// withoutPlan tells whether a retry lets go of the plan that the job was bound
// to: a person asks for it who was told that the plan no longer holds, or who
// takes another version of the playbook than it has.
func withoutPlan(j store.Job, version *uuid.UUID) bool {
	if joint, _ := domain.JointOf(j.Kind); joint.Checks || j.PlanID == nil {
		return false
	}
	stale := j.Error != nil && j.Error.Code == domain.ErrCodePlanStale
	return stale || version != nil && (j.PlaybookVersionID == nil || *version != *j.PlaybookVersionID)
}

func presentVersion(ctx context.Context, tx *store.Tx, playbook string, host uuid.UUID) (*uuid.UUID, error) {
	v, err := tx.VersionOnHost(ctx, playbook, host)
	if err != nil {
		return nil, fmt.Errorf("load the version of %s that holds: %w", playbook, err)
	}
	return &v.ID, nil
}

// stillItsOwn makes sure that the host of a failed job is still worked on, and
// that its allocation still has the unit that the job names.
func stillItsOwn(ctx context.Context, tx *store.Tx, j store.Job) error {
	if joint, _ := domain.JointOf(j.Kind); joint.Several {
		return someAreLeft(ctx, tx, j)
	}
	if j.HostID != nil {
		h, err := tx.Host(ctx, *j.HostID)
		if err != nil {
			return fmt.Errorf("load host: %w", err)
		}
		if err := worksOn(h); err != nil {
			return err
		}
	}
	if j.AllocationID == nil {
		return nil
	}
	a, err := tx.Allocation(ctx, *j.AllocationID)
	if err != nil {
		return fmt.Errorf("load allocation: %w", err)
	}
	if a.EndedAt != nil || j.UnitID == nil || a.UnitID != *j.UnitID {
		return domain.Conflictf("job_superseded", "the allocation is now %s (%s) and no longer has the unit of this job; no action is needed", a.State, domain.AllocationLifecycle.Info(a.State).Means)
	}
	return nil
}

// worksOn makes sure that a host is one that anything is still done on.
func worksOn(h store.Host) error {
	if h.RemovedAt != nil {
		return domain.Conflictf("job_superseded", "its host was removed; no action is needed")
	}
	if info := domain.HostLifecycle.Info(h.State); info.Final {
		return domain.Conflictf("job_superseded", "its host is %s (%s); Kloigos no longer changes it", h.State, info.Means)
	}
	return nil
}

// someAreLeft makes sure that anything is still done on one of the hosts that a
// job has left.
func someAreLeft(ctx context.Context, tx *store.Tx, j store.Job) error {
	hosts, err := tx.HostsToDo(ctx, j.ID)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(hosts, func(h store.Host) bool { return worksOn(h) == nil }) {
		return domain.Conflictf("job_superseded", "the remaining hosts were removed or are lost; no action is needed")
	}
	return nil
}

// asItFailed makes sure that what a job changes is still where its failure left
// it: whatever was asked for since is not done again, or undone, by an old job.
func asItFailed(ctx context.Context, tx *store.Tx, j store.Job, joint domain.Joint) error {
	if on := joint.Failure.On(domain.OfHost); on != "" && joint.Changes() {
		h, err := tx.Host(ctx, j.Subject()[domain.OfHost])
		if err != nil {
			return fmt.Errorf("load host: %w", err)
		}
		if !slices.Contains(domain.HostLifecycle.After(on), h.State) {
			return domain.Conflictf("job_superseded", "its host is now %s (%s); this job has nothing left to do or to clean", h.State, domain.HostLifecycle.Info(h.State).Means)
		}
		since, err := tx.DoneSince(ctx, j)
		if err != nil {
			return err
		}
		if since {
			return domain.Conflictf("job_superseded", "another job has changed its host since; this job has nothing left to do or to clean")
		}
	}
	if on := joint.Failure.On(domain.OfAllocation); on != "" {
		a, err := tx.Allocation(ctx, j.Subject()[domain.OfAllocation])
		if err != nil {
			return fmt.Errorf("load allocation: %w", err)
		}
		if !slices.Contains(domain.AllocationLifecycle.After(on), a.State) {
			return domain.Conflictf("job_superseded", "its allocation is now %s (%s); choose an action of the allocation instead", a.State, domain.AllocationLifecycle.Info(a.State).Means)
		}
	}
	return nil
}

// CancelJob ends a queued job, or has one stopped that has begun.
func (in *Intents) CancelJob(ctx context.Context, call Call, id uuid.UUID) error {
	return in.onJob(ctx, call, id, func(tx *store.Tx, j store.Job) error {
		ended, err := tx.CancelJob(ctx, j, "cancelled by "+call.Actor.Name+" before it began")
		if err != nil {
			return err
		}
		audit := jobAudit(j, "job.cancel")
		audit.After = map[string]any{"state": domain.JobCancelling}
		if ended {
			audit.After["state"] = domain.JobCancelled
			if err := in.leaveQueue(ctx, tx, call, j, audit.After); err != nil {
				return err
			}
		}
		if err := tx.AddEvent(ctx, call.Actor, audit); err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "job", j.ID, j.ID)
	})
}

// leaveQueue says what it means that a job was cancelled while it was queued;
// what else follows is told as well.
func (in *Intents) leaveQueue(ctx context.Context, tx *store.Tx, call Call, j store.Job, told map[string]any) error {
	joint, ok := domain.JointOf(j.Kind)
	if !ok {
		return in.cfg.Kinds.Cancelled(ctx, tx.Tx, string(j.Kind), j.Objects, hasBegun(j))
	}
	if w, ok := withdrawals[j.Kind]; ok {
		unbegun, err := w.unbegun(tx.Reads, ctx, j.Subject()[domain.OfAllocation])
		if err != nil {
			return err
		}
		if unbegun {
			if err := tx.Apply(ctx, joint.Withdrawn, j.Subject(), ""); err != nil {
				return err
			}
			return w.then(ctx, tx, call.Actor, j, told)
		}
	}
	return tx.Apply(ctx, joint.Failure, j.Subject(), "its job was cancelled")
}

// hasBegun tells whether a step of a job has begun; an attempt that only found
// another job at work has begun none.
func hasBegun(j store.Job) bool {
	return slices.ContainsFunc(j.Steps, func(s store.Step) bool { return s.State != domain.StepPending })
}

// withdrawal is how a kind of job is withdrawn.
type withdrawal struct {
	// unbegun tells whether its allocation is as it was before the job was asked for.
	unbegun func(store.Reads, context.Context, uuid.UUID) (bool, error)
	then    func(ctx context.Context, tx *store.Tx, who domain.Actor, j store.Job, told map[string]any) error
}

// withdrawals has every kind with a Withdrawn in the joint table.
var withdrawals = map[domain.JobKind]withdrawal{
	domain.KindUnitAllocate:   {store.Reads.IsUntouched, freeUID},
	domain.KindUnitDeallocate: {store.Reads.IsWhole, bringKeys},
}

// freeUID lets another allocation have the UID of one that no host ever saw.
func freeUID(ctx context.Context, tx *store.Tx, _ domain.Actor, j store.Job, told map[string]any) error {
	a, err := tx.Allocation(ctx, j.Subject()[domain.OfAllocation])
	if err != nil {
		return fmt.Errorf("load allocation: %w", err)
	}
	told["allocation"] = a.State
	return tx.UIDWiped(ctx, a.UID, a.ID)
}

// bringKeys has the keys of an allocation brought to its host that a job for them
// found on its way out: it left that be.
func bringKeys(ctx context.Context, tx *store.Tx, who domain.Actor, j store.Job, told map[string]any) error {
	a, err := tx.Allocation(ctx, j.Subject()[domain.OfAllocation])
	if err != nil {
		return fmt.Errorf("load allocation: %w", err)
	}
	if a.KeysApplied >= a.KeysVersion {
		return nil
	}
	told["keys_job"], err = tx.Enqueue(ctx, who, j.WorkspaceID, job.AllocationKeys{HostID: a.HostID, UnitID: a.UnitID, AllocationID: a.ID})
	return err
}

// GiveUpJob cleans up after a job that failed, by another job.
func (in *Intents) GiveUpJob(ctx context.Context, call Call, id uuid.UUID) (jobID uuid.UUID, err error) {
	err = in.onJob(ctx, call, id, func(tx *store.Tx, j store.Job) error {
		args, err := cleanUp(j)
		if err != nil {
			return err
		}
		if args.Kind() == domain.KindHostRelayout {
			jobID, err = in.withdrawLayout(ctx, tx, call, args.Subject()[domain.OfHost], jobAudit(j, "job.give_up"))
			return err
		}
		if err := stillItsOwn(ctx, tx, j); err != nil {
			return err
		}
		if args.Kind() == domain.KindHostDecommission {
			// What was initialized after all is not taken apart by what failed before.
			joint, _ := domain.JointOf(j.Kind)
			if err := asItFailed(ctx, tx, j, joint); err != nil {
				return err
			}
		}
		jobID, err = in.startAndEnqueue(ctx, tx, call, args, jobAudit(j, "job.give_up"))
		return err
	})
	return jobID, err
}

func cleanUp(j store.Job) (job.Args, error) {
	if j.State != domain.JobFailed && j.State != domain.JobCancelled {
		return nil, domain.Conflictf("job_state", "it is %s; only a failed or cancelled job can be given up", j.State)
	}
	if err := stillHasItsAllocation(j); err != nil {
		return nil, err
	}
	joint, _ := domain.JointOf(j.Kind)
	switch joint.GiveUp {
	case domain.KindUnitDeallocate:
		of := j.Subject()
		return job.UnitDeallocate{HostID: of[domain.OfHost], UnitID: of[domain.OfUnit], AllocationID: of[domain.OfAllocation]}, nil
	case domain.KindHostRelayout:
		return job.HostRelayout{HostID: j.Subject()[domain.OfHost]}, nil
	case domain.KindHostDecommission:
		return job.HostDecommission{HostID: j.Subject()[domain.OfHost]}, nil
	default:
		return nil, domain.Conflictf("nothing_to_clean", "a job of kind %s leaves nothing to clean; retry it, or leave it", j.Kind)
	}
}

// stillHasItsAllocation makes sure that the allocation of a job has not ended.
func stillHasItsAllocation(j store.Job) error {
	if j.AllocationEndedAt != nil {
		return domain.Conflictf("job_superseded", "its allocation has ended; no action is needed")
	}
	return nil
}

func jobAudit(j store.Job, action string) store.Audit {
	return store.Audit{
		Workspace: j.WorkspaceID, Action: action, ObjectKind: "job", ObjectID: j.ID, ObjectName: string(j.Kind), JobID: j.ID,
		Before: map[string]any{"state": j.State},
	}
}

// JobOperations tells what can be done with a job now. What its objects allow
// is only known when it is tried.
func JobOperations(j store.Job) []domain.Operation {
	_, giveUp := cleanUp(j)
	retry := takes(domain.JobLifecycle, j.State, domain.JobRetryRequested)
	if retry == nil {
		retry = stillHasItsAllocation(j)
	}
	return []domain.Operation{
		operation("retry", retry),
		operation("cancel", takes(domain.JobLifecycle, j.State, domain.JobCancelRequested)),
		operation("give-up", giveUp),
	}
}
