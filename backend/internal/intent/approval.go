package intent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// PlanApproval is what is asked of a plan, and what people decided about it.
type PlanApproval struct {
	domain.Approval
	Rules     []string // names of the rules that ask for it
	Decisions []store.PlanDecision
}

// approvalOf joins what the rules over a plan ask with what people decided.
func approvalOf(p store.Plan, rules []iam.ApprovalRule, decisions []store.PlanDecision) PlanApproval {
	asked := iam.ApprovalFor(rules, string(p.Kind))
	if p.Action == domain.ActionCrossCheck { // nobody applies it
		asked = iam.Approval{}
	}
	out := PlanApproval{
		Approval: domain.Approval{
			Needed: int(asked.Needed), Within: time.Duration(asked.Hours) * time.Hour, Age: time.Duration(p.AgeSeconds) * time.Second,
		},
		Rules: asked.Rules, Decisions: decisions,
	}
	for _, d := range decisions {
		switch {
		case d.Decision == domain.DecisionRefuse:
			out.Refused = true
		case d.Counts:
			out.Given++
		}
	}
	return out
}

// approval reads what is asked of a plan now, and what people decided.
func approval(ctx context.Context, r store.Reads, p store.Plan) (PlanApproval, error) {
	rules, err := r.PlanRules(ctx, p)
	if err != nil {
		return PlanApproval{}, err
	}
	decisions, err := r.PlanDecisions(ctx, p.ID)
	if err != nil {
		return PlanApproval{}, err
	}
	return approvalOf(p, rules, decisions), nil
}

// ApprovalRules are those that bind a workspace.
type ApprovalRules []iam.ApprovalRule

// ApprovalRules reads the rules that bind a workspace.
func (in *Intents) ApprovalRules(ctx context.Context, workspace uuid.UUID) (ApprovalRules, error) {
	return in.db.ApprovalRules(ctx, workspace)
}

// RulesOfPlan reads the rules that bind a plan.
func (in *Intents) RulesOfPlan(ctx context.Context, p store.Plan) (ApprovalRules, error) {
	return in.db.PlanRules(ctx, p)
}

// PlanApproval is what is asked of a plan, for who reads it. Without rules over its workspace nobody decides, and nothing is read.
func (in *Intents) PlanApproval(ctx context.Context, p store.Plan, rules ApprovalRules) (PlanApproval, error) {
	if len(rules) == 0 {
		return approvalOf(p, nil, nil), nil
	}
	decisions, err := in.db.PlanDecisions(ctx, p.ID)
	return approvalOf(p, rules, decisions), err
}

// approved refuses to apply a plan that lacks approvals. It holds the plan, so that who refuses it meanwhile waits.
func approved(ctx context.Context, tx *store.Tx, p store.Plan) error {
	if err := tx.HoldPlan(ctx, p.ID); err != nil {
		return fmt.Errorf("hold the plan: %w", err)
	}
	now, err := approval(ctx, tx.Reads, p)
	if err != nil {
		return err
	}
	return now.Check()
}

// withoutApproval is Unplanned for a kind whose jobs change a host.
func withoutApproval(ctx context.Context, tx *store.Tx, who domain.Actor, workspace uuid.UUID, kind domain.JobKind) error {
	if joint, ok := domain.JointOf(kind); !ok || !joint.Changes() {
		return nil
	}
	return Unplanned(ctx, tx.Tx, who, workspace, string(kind))
}

// Decider is who approves or refuses.
type Decider struct {
	Account uuid.UUID
	Person  bool // false: a service account
	Narrow  bool // may approve plans of the workspace, and not at the scope that a plan deletes
}

// CanDecide tells why somebody can't approve or refuse a plan now; nil if they can.
func CanDecide(p store.Plan, a PlanApproval, by Decider, decision string) error {
	if err := canApply(p); err != nil {
		return err
	}
	switch {
	case !by.Person:
		return domain.Conflictf("not_a_person", "only people approve or refuse plans; a service account does not")
	case by.Narrow:
		return domain.Conflictf("not_an_approver", "the plan deletes more than the workspace; who may approve plans in all that goes decides about it")
	case a.Needed == 0:
		return domain.Conflictf("no_approval_needed", "no rule asks for an approval of this plan")
	case a.Refused || a.Late():
		return a.Check()
	case slices.ContainsFunc(a.Decisions, func(d store.PlanDecision) bool { return d.AccountID == by.Account && d.Decision == decision }):
		return domain.Conflictf("already_decided", "you have already decided about this plan")
	case decision == domain.DecisionRefuse:
		return nil
	case p.AskedBy == nil:
		return domain.Conflictf("unknown_author", "a backend of an older release made this plan; create another plan")
	case slices.Contains(p.AskedBy, uuid.Nil):
		return domain.Conflictf("unknown_author", "it is not known which people hold the keys of the service account that asked for the plan; rotate its keys, then create another plan")
	case slices.Contains(p.AskedBy, by.Account):
		return domain.Conflictf("own_plan", "you asked for this plan, or made a key of the service account that did; others have to approve it")
	}
	return nil
}

// DecidePlan approves or refuses a plan.
func (in *Intents) DecidePlan(ctx context.Context, call Call, id uuid.UUID, by Decider, decision, reason string) error {
	return in.do(ctx, call, func(tx *store.Tx) error {
		if err := tx.HoldPlan(ctx, id); err != nil {
			return err
		}
		p, err := tx.Plan(ctx, id)
		if err != nil {
			return err
		}
		now, err := approval(ctx, tx.Reads, p)
		if err != nil {
			return err
		}
		if err := CanDecide(p, now, by, decision); err != nil {
			return err
		}
		decide := tx.RefusePlan
		if decision == domain.DecisionApprove {
			decide = tx.ApprovePlan
			now.Given++
			stale, err := in.moved(ctx, tx.Reads, p, about(p, p.Proposal))
			if err != nil {
				return err
			}
			if stale != nil {
				return stale
			}
		}
		if err := decide(ctx, id, call.Actor.ID, reason); err != nil {
			return err
		}
		after := map[string]any{"needed": now.Needed, "given": now.Given, "asked_by": p.RequestedBy}
		if reason != "" {
			after["reason"] = reason
		}
		a := planAudit(p, "plan."+decision)
		a.After = after
		if err := tx.AddEvent(ctx, call.Actor, a); err != nil {
			return err
		}
		return recordMade(ctx, tx, call, "plan", p.ID, p.JobID)
	})
}

func planAudit(p store.Plan, action string) store.Audit {
	return store.Audit{Workspace: p.WorkspaceID, Action: action, ObjectKind: "plan", ObjectID: p.ID, ObjectName: p.Action}
}
