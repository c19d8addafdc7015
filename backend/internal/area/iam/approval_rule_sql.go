package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlApprovalRules = `
SELECT r.id, r.organization_id, r.scope, r.scope_id, r.name, r.kinds, r.approvals, r.hours, r.version, r.created_by, r.created_at, r.updated_at,
       COALESCE(p.id, wp.id, '00000000-0000-0000-0000-000000000000'::UUID) AS project_id,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM approval_rules r
  JOIN organizations o ON o.id = r.organization_id
  LEFT JOIN projects p ON p.id = r.scope_id AND r.scope = 'project'
  LEFT JOIN workspaces w ON w.id = r.scope_id AND r.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true`

const (
	// Those of a workspace, of its project and of its organization.
	sqlApprovalRulesOver = sqlApprovalRules + `
   AND r.scope_id IN (SELECT ws.id
                        FROM workspaces ws
                       WHERE ws.id = $1
                       UNION ALL
                      SELECT wo.project_id
                        FROM workspaces wo
                       WHERE wo.id = $1
                       UNION ALL
                      SELECT po.organization_id
                        FROM workspaces wv
                        JOIN projects po ON po.id = wv.project_id
                       WHERE wv.id = $1)
 ORDER BY r.name
 LIMIT 200`

	// Those of a project, of its organization and of its workspaces.
	sqlApprovalRulesOfProject = sqlApprovalRules + `
   AND r.organization_id = $1 AND (r.scope_id IN ($1, $2) OR wp.id = $2)
 ORDER BY r.name
 LIMIT 200`

	sqlApprovalRulesOfOrganization = sqlApprovalRules + `
   AND r.organization_id = $1
 ORDER BY r.name
 LIMIT 200`

	sqlApprovalRuleByID = sqlApprovalRules + `
   AND r.id = $1`

	sqlHoldApprovalRule = `
SELECT r.id
  FROM approval_rules r
 WHERE r.id = $1
   FOR UPDATE`

	// An organization has no more rules than a page shows.
	sqlInsertApprovalRule = `
INSERT INTO approval_rules (id, organization_id, scope, scope_id, name, kinds, approvals, hours, created_by)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::UUID, $5::TEXT, $6::TEXT[], $7::INT8, $8::INT8, $9::TEXT
 WHERE (SELECT count(*)
          FROM approval_rules r
         WHERE r.organization_id = $2) < 100
ON CONFLICT (organization_id, name) DO NOTHING`

	sqlChangeApprovalRule = `
UPDATE approval_rules
   SET name = $2, kinds = $3, approvals = $4, hours = $5, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlDeleteApprovalRule = `
DELETE FROM approval_rules
 WHERE id = $1`

	sqlDeleteApprovalRulesAt = `
DELETE FROM approval_rules
 WHERE scope_id = $1`
)

// ApprovalRulesOver lists the rules that bind a workspace: its own, and those of its project and its organization.
func ApprovalRulesOver(ctx context.Context, q db.Reader, workspace uuid.UUID) ([]ApprovalRule, error) {
	rules, err := db.Collect[ApprovalRule](ctx, q, sqlApprovalRulesOver, workspace)
	if err != nil {
		return nil, fmt.Errorf("read the approval rules of a workspace: %w", err)
	}
	return rules, nil
}

// ApprovalRules lists the rules at a scope, above it and below it.
func ApprovalRules(ctx context.Context, q db.Reader, at Scope) ([]ApprovalRule, error) {
	switch at.Kind {
	case WorkspaceNoun:
		return ApprovalRulesOver(ctx, q, at.ID)
	case ProjectNoun:
		return db.Collect[ApprovalRule](ctx, q, sqlApprovalRulesOfProject, at.OrganizationID, at.ID)
	}
	return db.Collect[ApprovalRule](ctx, q, sqlApprovalRulesOfOrganization, at.OrganizationID)
}

// FindApprovalRule finds a rule of a scope that the viewer sees, with the scope.
func FindApprovalRule(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (ApprovalRule, Scope, scope.Ref[ApprovalRule], error) {
	rule, err := db.First[ApprovalRule](ctx, q, fault.ErrNotFound, sqlApprovalRuleByID, id)
	if err != nil {
		return ApprovalRule{}, Scope{}, scope.Ref[ApprovalRule]{}, err
	}
	at, _, err := FindScope(ctx, q, who, rule.ScopeID.String())
	if err != nil {
		return ApprovalRule{}, Scope{}, scope.Ref[ApprovalRule]{}, err
	}
	return rule, at, scope.Found[ApprovalRule](rule.ID, at.ID), nil
}
