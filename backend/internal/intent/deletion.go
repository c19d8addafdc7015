package intent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

// deletions are the actions that delete a scope with all that is in it, by the noun of the scope.
var deletions = map[string]string{
	iam.OrganizationNoun: domain.ActionCascadeOrganization, iam.ProjectNoun: domain.ActionCascadeProject, iam.WorkspaceNoun: domain.ActionCascadeWorkspace,
}

// PlanDeletion makes a plan to delete a scope with all that is in it. It also lists what stops the deletion.
func (in *Intents) PlanDeletion(ctx context.Context, call Call, kind string, id uuid.UUID) (plan uuid.UUID, err error) {
	plan = uuid.New()
	err = in.do(ctx, call, func(tx *store.Tx) error {
		d, err := iam.PlanDeletionByID(ctx, tx.Reader, kind, id)
		if err != nil {
			return err
		}
		anchor, err := d.Anchor()
		if err != nil {
			return err
		}
		top := d.Subject()
		subject, err := json.Marshal(work.Subject{Objects: []work.Object{top}})
		if err != nil {
			return fmt.Errorf("keep the subject of a deletion: %w", err)
		}
		return in.keepListed(ctx, tx, call, store.Plan{
			ID: plan, WorkspaceID: anchor, Kind: domain.JobKind(iam.ScopeDelete.Name), Action: deletions[kind], Request: json.RawMessage("{}"), Subject: subject,
			ObjectKind: &top.Noun, ObjectID: &top.ID, ObjectName: &top.Name, Scope: &top.Noun, ScopeID: &top.ID, ScopePath: &top.Name,
		})
	})
	return plan, err
}

// Cascade is a deletion of a scope as somebody asks for it.
type Cascade struct {
	Kind    string // of the scope
	ID      uuid.UUID
	Plan    uuid.UUID
	Confirm string // the name of the scope
	Release string // version of this backend
}

// DeleteScope begins to delete a scope with all that is in it, just as a plan shows.
func (in *Intents) DeleteScope(ctx context.Context, call Call, c Cascade) (job uuid.UUID, err error) {
	call, err = call.BoundTo(c.Plan, PlanRequest{Action: deletions[c.Kind]})
	if err != nil {
		return uuid.Nil, err
	}
	err = in.do(ctx, call, func(tx *store.Tx) error {
		p, err := in.holdListed(ctx, tx, call.plan, work.Object{Noun: c.Kind, ID: c.ID})
		if err != nil {
			return err
		}
		d, err := iam.PlanDeletionByID(ctx, tx.Reader, c.Kind, c.ID) // held by the plan
		if err != nil {
			return err
		}
		if c.Confirm != d.Top.Name {
			return &domain.Invalid{Fields: []domain.FieldError{{Field: "confirm", Problem: "type the name of the " + c.Kind + ", " + d.Top.Name}}}
		}
		if err := approved(ctx, tx, p); err != nil {
			return err
		}
		job, err = in.beginDeletion(ctx, tx, call, p, d, c.Release)
		return err
	})
	return job, err
}

// DeleteEmptyScope deletes a scope without workspaces, with the scopes in it, in one transaction: no job has anything to end. A scope
// with workspaces needs a plan, and so does one that needs approvals.
func (in *Intents) DeleteEmptyScope(ctx context.Context, call Call, c Cascade) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		d, err := iam.HoldDeletion(ctx, tx.Tx, c.Kind, c.ID)
		if err != nil {
			return err
		}
		if len(d.Workspaces()) > 0 {
			return domain.Conflictf("plan_required", "a scope is deleted with all that is in it by a plan only; create a plan of it first (plan=true)")
		}
		if c.Confirm != d.Top.Name {
			return &domain.Invalid{Fields: []domain.FieldError{{Field: "confirm", Problem: "type the name of the " + c.Kind + ", " + d.Top.Name}}}
		}
		if err := d.StopsNow(); err != nil {
			return err
		}
		rules, err := iam.ApprovalRulesAt(ctx, tx.Reader, append(d.IDs(), d.Approvers()...))
		if err != nil {
			return err
		}
		if asked := iam.ApprovalFor(rules, iam.ScopeDelete.Name); asked.Needed > 0 {
			return domain.Conflictf("approval_required", "a rule asks for approvals, and the plan that people approve stands in a workspace: create a workspace in it first, then a plan")
		}
		if err := iam.OnlyThisRelease(ctx, tx.Tx, c.Release, "they would let new objects into what is being deleted"); err != nil {
			return err
		}
		if err := d.Begin(ctx, tx.Tx); err != nil {
			return err
		}
		if err := iam.Finish(ctx, tx.Tx, call.Actor, c.Kind, c.ID, uuid.Nil); err != nil {
			return err
		}
		return recordMade(ctx, tx, call, d.Top.Kind, d.Top.ID, uuid.Nil)
	})
}

func (in *Intents) beginDeletion(ctx context.Context, tx *store.Tx, call Call, p store.Plan, d iam.Deletion, release string) (uuid.UUID, error) {
	if err := iam.OnlyThisRelease(ctx, tx.Tx, release, "they would let new objects into what is being deleted"); err != nil {
		return uuid.Nil, err
	}
	if err := d.Begin(ctx, tx.Tx); err != nil {
		return uuid.Nil, err
	}
	job, err := in.cfg.Kinds.Enqueue(ctx, tx.Tx, call.Actor.Name, p.WorkspaceID, work.New{
		Kind: iam.ScopeDelete.Name, Objects: []work.Object{d.Subject()},
	})
	if err != nil {
		return uuid.Nil, fmt.Errorf("enqueue a deletion: %w", err)
	}
	if err := errors.Join(d.Note(ctx, tx.Tx, job), tx.ApplyPlan(ctx, p, job)); err != nil {
		return uuid.Nil, err
	}
	told := d.Top.Entry("begin_deletion")
	told.JobID, told.After = job, map[string]any{"plan": p.ID, "scopes": len(d.Scopes), "objects": len(d.Parts)}
	if err := tx.AddEvent(ctx, call.Actor, told); err != nil {
		return uuid.Nil, err
	}
	return job, recordMade(ctx, tx, call, d.Top.Kind, d.Top.ID, job)
}
