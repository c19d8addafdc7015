package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// PlanDecision is what one person decided about a plan.
type PlanDecision struct {
	AccountID uuid.UUID `db:"account_id"`
	Account   string    `db:"account"`
	Decision  string    `db:"decision"` // domain.DecisionApprove or domain.DecisionRefuse
	Reason    string    `db:"reason"`
	CreatedAt time.Time `db:"created_at"`
	// Counts is false once the account is disabled, or may approve plans of the workspace no more.
	Counts bool `db:"counts"`
}

// sqlDecisionCounts holds for a decision v about a plan p whose account can still log in and has a role there with the permission
// to approve plans: one of the product's, which a test compares with iam.Roles, or one that the organization made. Who decides about the
// deletion of a scope has it at that scope or above.
const sqlDecisionCounts = `
EXISTS (SELECT 1
          FROM accounts ca
          JOIN grants cg ON cg.account_id = ca.id
          JOIN workspaces cw ON cw.id = p.workspace_id
          JOIN projects cp ON cp.id = cw.project_id
          LEFT JOIN roles cr ON cr.id = cg.role_id
         WHERE ca.id = v.account_id AND ca.state = 'active' AND cg.scope_id IN (cw.id, cp.id, cp.organization_id)
           AND (p.approver_ids IS NULL OR cg.scope_id = ANY(p.approver_ids))
           AND (cg.role IN ('owner', 'admin', 'operator') OR 'project.workspace.plan:approve' = ANY(cr.permissions)))`

const sqlPlanDecisions = `
SELECT v.account_id, a.name AS account, v.decision, v.reason, v.created_at,` + sqlDecisionCounts + ` AS counts
  FROM plan_decisions v
  JOIN plans p ON p.id = v.plan_id
  JOIN accounts a ON a.id = v.account_id
 WHERE v.plan_id = $1
 ORDER BY v.created_at, v.account_id
 LIMIT 200`

// sqlRulesOver joins a plan p with the rules r over its workspace that name its kind; iam.ApprovalFor says the same.
const sqlRulesOver = `
  FROM approval_rules r
  JOIN workspaces rw ON rw.id = p.workspace_id
  JOIN projects rp ON rp.id = rw.project_id
 WHERE (r.scope_id IN (rw.id, rp.id, rp.organization_id) OR r.scope_id = ANY(p.scope_ids))
   AND (p.kind = ANY(r.kinds) OR p.kind = 'scope_delete' AND ('unit_deallocate' = ANY(r.kinds) OR 'cluster_delete' = ANY(r.kinds) OR 'hosted_cluster_delete' = ANY(r.kinds)))`

// sqlPlanLacks holds for a plan p that the present rules ask more approvals for than it has, and that nobody refused.
const sqlPlanLacks = `
NOT EXISTS (SELECT 1
              FROM plan_decisions x
             WHERE x.plan_id = p.id AND x.decision = 'refuse')
AND COALESCE((SELECT max(r.approvals)` + sqlRulesOver + `), 0) > (SELECT count(*)
                                                       FROM plan_decisions v
                                                      WHERE v.plan_id = p.id AND v.decision = 'approve' AND` + sqlDecisionCounts + `)`

// sqlPlanPending holds for a plan p that waits for approvals. One at which a run would stop waits for none.
const sqlPlanPending = `p.state = 'ready' AND p.action <> 'cross-check' AND p.expires_at > now() AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
AND p.checked_at + (SELECT min(r.hours)` + sqlRulesOver + `) * INTERVAL '1 hour' > now()
AND` + sqlPlanLacks

const sqlLapsedPlans = `
SELECT p.id, p.workspace_id, p.action, p.requested_by
  FROM plans p
 WHERE p.applied_job_id IS NULL AND p.state = 'ready' AND p.lapsed_at IS NULL AND p.action <> 'cross-check'
   AND p.expires_at <= now() AND p.expires_at > now() - INTERVAL '7 days' AND COALESCE((p.counts->>'stops')::INT8, 0) = 0
   AND` + sqlPlanLacks + `
 ORDER BY p.expires_at, p.id
 LIMIT $1`

const sqlPlanLapsed = `
UPDATE plans
   SET lapsed_at = now()
 WHERE id = $1 AND lapsed_at IS NULL AND state = 'ready'`

type lapsedPlan struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	Action      string    `db:"action"`
	RequestedBy string    `db:"requested_by"`
}

// TellLapsedPlans writes an event for each plan that expired without the approvals that it needed.
func (tx *Tx) TellLapsedPlans(ctx context.Context, who domain.Actor) (n int64, more bool, err error) {
	lapsed, err := db.Collect[lapsedPlan](ctx, tx.Reader, sqlLapsedPlans, expiryRows)
	if err != nil {
		return 0, false, fmt.Errorf("read plans that nobody approved in time: %w", err)
	}
	for _, p := range lapsed {
		tx.Touch(nounPlan, p.ID)
		if err := tx.One(ctx, movedMeanwhile("plan"), sqlPlanLapsed, p.ID); err != nil {
			return 0, false, err
		}
		err := tx.AddEvent(ctx, who, Audit{
			Workspace: p.WorkspaceID, Action: "plan.approval_expire", ObjectKind: "plan", ObjectID: p.ID, ObjectName: p.Action,
			After: map[string]any{"asked_by": p.RequestedBy},
		})
		if err != nil {
			return 0, false, err
		}
	}
	return int64(len(lapsed)), len(lapsed) == expiryRows, nil
}

// PlanDecisions lists what people decided about a plan.
func (r Reads) PlanDecisions(ctx context.Context, plan uuid.UUID) ([]PlanDecision, error) {
	decisions, err := db.Collect[PlanDecision](ctx, r.q, sqlPlanDecisions, plan)
	if err != nil {
		return nil, fmt.Errorf("read the decisions about a plan: %w", err)
	}
	return decisions, nil
}

// ApprovalRules lists the rules that bind a workspace.
func (r Reads) ApprovalRules(ctx context.Context, workspace uuid.UUID) ([]iam.ApprovalRule, error) {
	return iam.ApprovalRulesOver(ctx, r.q, workspace)
}

const sqlHoldPlan = `
SELECT p.id
  FROM plans p
 WHERE p.id = $1
   FOR UPDATE`

// HoldPlan keeps others from deciding about a plan, and from applying it, until the transaction ends.
func (tx *Tx) HoldPlan(ctx context.Context, id uuid.UUID) error {
	return tx.One(ctx, domain.ErrNotFound, sqlHoldPlan, id)
}

const sqlApprovePlan = `
INSERT INTO plan_decisions (plan_id, account_id, decision, reason)
VALUES ($1, $2, 'approve', $3)
ON CONFLICT (plan_id, account_id) DO NOTHING`

// ApprovePlan notes that an account approves a plan.
func (tx *Tx) ApprovePlan(ctx context.Context, plan, account uuid.UUID, reason string) error {
	already := domain.Conflictf("already_decided", "you have already approved or refused this plan")
	return tx.One(ctx, already, sqlApprovePlan, plan, account, reason)
}

const sqlRefusePlan = `
INSERT INTO plan_decisions (plan_id, account_id, decision, reason)
VALUES ($1, $2, 'refuse', $3)
ON CONFLICT (plan_id, account_id) DO UPDATE
   SET decision = 'refuse', reason = $3, created_at = now()
 WHERE plan_decisions.decision = 'approve'`

// RefusePlan notes that an account refuses a plan, also one that it approved before.
func (tx *Tx) RefusePlan(ctx context.Context, plan, account uuid.UUID, reason string) error {
	already := domain.Conflictf("already_decided", "you have already refused this plan")
	return tx.One(ctx, already, sqlRefusePlan, plan, account, reason)
}
