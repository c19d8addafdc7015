package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
)

// asked_by: the account that asks. For a service account also the persons who made its keys, so that none of them approves.
const sqlInsertScopePlan = `
INSERT INTO plans (id, workspace_id, kind, action, request, state, job_id, playbook_sha256, requested_by, expires_at, scope, scope_id, scope_path,
                   scope_ids, approver_ids, asked_by)
SELECT $1, $2, $3, $4, $5, $6, $7, '', $8, now() + INTERVAL '1 hour', $10, $11, $12, $13, $14,
       (SELECT array_agg(DISTINCT b.id)
          FROM (SELECT $9::UUID AS id
                 UNION ALL
                SELECT CASE WHEN m.kind = 'person' THEN m.id ELSE '00000000-0000-0000-0000-000000000000'::UUID END AS id
                  FROM accounts s
                  JOIN tokens t ON t.account_id = s.id
                  LEFT JOIN accounts m ON m.id = t.maker_id
                 WHERE s.id = $9 AND s.kind = 'service') AS b)`

// InsertScopePlan adds a plan to delete a scope. approvers are the scopes whose approvers decide about it.
func (tx *Tx) InsertScopePlan(ctx context.Context, p Plan, asker uuid.UUID, approvers []uuid.UUID) error {
	tx.Touch(nounPlan, p.ID)
	err := tx.One(ctx, domain.ErrNotFound, sqlInsertScopePlan, p.ID, p.WorkspaceID, p.Kind, p.Action, p.Request, domain.PlanLifecycle.Initial, uuid.Nil,
		p.RequestedBy, asker, *p.Scope, *p.ScopeID, *p.ScopePath, p.ScopeIDs, approvers)
	if err != nil {
		return fmt.Errorf("insert the plan of a deletion: %w", err)
	}
	return nil
}

// PlaceOfScope is where a scope stands in the tree.
func (r Reads) PlaceOfScope(ctx context.Context, level scope.Level, id uuid.UUID) (scope.Place, error) {
	return iam.PlaceOfScope(ctx, r.q, level, id)
}

// Deletion reads what it means now to delete a scope with all that is in it.
func (r Reads) Deletion(ctx context.Context, kind string, id uuid.UUID) (iam.Deletion, error) {
	return iam.PlanDeletionByID(ctx, r.q, kind, id)
}

// PlanRules lists the rules that bind a plan: those over its workspace, and for a deletion those at each scope that goes.
func (r Reads) PlanRules(ctx context.Context, p Plan) ([]iam.ApprovalRule, error) {
	rules, err := r.ApprovalRules(ctx, p.WorkspaceID)
	if err != nil || len(p.ScopeIDs) == 0 {
		return rules, err
	}
	more, err := iam.ApprovalRulesAt(ctx, r.q, p.ScopeIDs)
	for _, m := range more {
		if !slices.ContainsFunc(rules, func(have iam.ApprovalRule) bool { return have.ID == m.ID }) {
			rules = append(rules, m)
		}
	}
	return rules, err
}
