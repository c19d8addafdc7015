package intent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/inputs"
	"kloigos/backend/internal/kernel/work"
	"kloigos/backend/internal/store"
)

// deletions are the actions that delete a scope with all that is in it, by the noun of the scope.
var deletions = map[string]string{
	iam.OrganizationNoun: domain.ActionCascadeOrganization, iam.ProjectNoun: domain.ActionCascadeProject, iam.WorkspaceNoun: domain.ActionCascadeWorkspace,
}

// MeansOfDeletion says what the job of such an action does.
func MeansOfDeletion() string { return iam.ScopeDelete.Means }

// PlanDeletion makes a plan to delete a scope with all that is in it. Nothing has to be checked on a host, so it is ready at once.
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
		path := d.Top.Path()
		p := store.Plan{
			ID: plan, WorkspaceID: anchor, Kind: domain.JobKind(iam.ScopeDelete.Name), Action: deletions[kind], Request: json.RawMessage("{}"),
			RequestedBy: call.Actor.Name, Scope: &kind, ScopeID: &id, ScopePath: &path, ScopeIDs: d.IDs(), RowsSHA256: d.Digest(), VariablesSHA256: d.Digest(),
			State: domain.PlanLifecycle.Initial, Result: planned(d),
		}
		if p.ReportSHA256, err = inputs.Sum(*p.Result); err != nil {
			return err
		}
		return in.planned(ctx, tx, call, p, d)
	})
	return plan, err
}

func (in *Intents) planned(ctx context.Context, tx *store.Tx, call Call, p store.Plan, d iam.Deletion) error {
	if err := tx.InsertScopePlan(ctx, p, call.Actor.ID, d.Approvers()); err != nil {
		return err
	}
	asked, err := tx.SetPlanResult(ctx, p)
	if err != nil {
		return err
	}
	if _, err := tx.MovePlan(ctx, p.ID, p.State, domain.CheckSucceeded); err != nil {
		return err
	}
	told := planAudit(p, "plan.create")
	told.After = map[string]any{"of": d.Top.Path()}
	if err := tx.AddEvent(ctx, call.Actor, told); err != nil {
		return err
	}
	if asked.Needed > 0 && len(d.Stops) == 0 {
		told := planAudit(p, "plan.request_approval")
		told.After = map[string]any{"needed": asked.Needed, "hours": asked.Hours, "rules": asked.Rules, "asked_by": p.RequestedBy}
		if err := tx.AddEvent(ctx, call.Actor, told); err != nil {
			return err
		}
	}
	return recordMade(ctx, tx, call, "plan", p.ID, uuid.Nil)
}

// planned lists what goes, and what stops the deletion.
func planned(d iam.Deletion) *domain.PlanResult {
	out := &domain.PlanResult{Tasks: len(d.Parts) + len(d.Scopes)}
	for _, p := range d.Stops {
		out.Add(domain.PlanChange{Task: d.Path(p.ScopeID), Kind: p.Noun, Name: p.Name, Action: domain.ActionStops, Note: p.Why})
	}
	for _, p := range d.Parts {
		out.Add(domain.PlanChange{Task: d.Path(p.ScopeID), Kind: p.Noun, Name: p.Name, Action: domain.ActionRemove, Before: p.State})
	}
	for _, s := range d.Scopes {
		out.Add(domain.PlanChange{Task: s.Path(), Kind: s.Kind, Name: s.Path(), Action: domain.ActionRemove})
	}
	return out
}

// deletionMoved tells whether something else would go than a plan shows; nil if not.
func deletionMoved(ctx context.Context, r store.Reads, p store.Plan) (*PlanStale, error) {
	d, err := r.Deletion(ctx, *p.Scope, *p.ScopeID)
	if err != nil {
		return nil, err
	}
	return deletionStale(p, d), nil
}

func deletionStale(p store.Plan, d iam.Deletion) *PlanStale {
	if d.Digest() == p.RowsSHA256 {
		return nil
	}
	return &PlanStale{Moved: []string{domain.MovedState}, Why: []string{"What would be deleted has changed since the plan was made."}}
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
		p, err := call.plan.load(ctx, tx)
		if err != nil {
			return err
		}
		if p.ScopeID == nil || *p.ScopeID != c.ID {
			return domain.Conflictf("plan_mismatch", "the plan belongs to another object")
		}
		d, err := iam.HoldDeletion(ctx, tx.Tx, c.Kind, c.ID)
		if err != nil {
			return err
		}
		if c.Confirm != d.Top.Name {
			return &domain.Invalid{Fields: []domain.FieldError{{Field: "confirm", Problem: "type the name of the " + c.Kind + ", " + d.Top.Name}}}
		}
		if stale := deletionStale(p, d); stale != nil {
			return stale
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
		Kind: iam.ScopeDelete.Name, Objects: []work.Object{{Role: iam.DeletedRole, Noun: d.Top.Kind, ID: d.Top.ID, Name: d.Top.Path()}},
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
