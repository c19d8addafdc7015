package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/work"
)

// asked_by: the account that asks. For a service account also the persons who made its keys, so that none of them approves.
const sqlInsertListedPlan = `
INSERT INTO plans (id, workspace_id, kind, action, request, state, job_id, playbook_sha256, requested_by, expires_at, object_kind, object_id, object_name,
                   subject, scope, scope_id, scope_path, scope_ids, approver_ids, asked_by)
SELECT $1, $2, $3, $4, $5, $6, $7, '', $8, now() + INTERVAL '1 hour', $10, $11, $12, $13, $14, $15, $16, $17, $18,
       (SELECT array_agg(DISTINCT b.id)
          FROM (SELECT $9::UUID AS id
                 UNION ALL
                SELECT CASE WHEN m.kind = 'person' THEN m.id ELSE '00000000-0000-0000-0000-000000000000'::UUID END AS id
                  FROM accounts s
                  JOIN tokens t ON t.account_id = s.id
                  LEFT JOIN accounts m ON m.id = t.maker_id
                 WHERE s.id = $9 AND s.kind = 'service') AS b)`

// InsertListedPlan adds a plan that lists what a job would do. approvers are the scopes whose approvers decide about it; nil for those of
// its workspace.
func (tx *Tx) InsertListedPlan(ctx context.Context, p Plan, asker uuid.UUID, approvers []uuid.UUID) error {
	tx.Touch(nounPlan, p.ID)
	err := tx.One(ctx, domain.ErrNotFound, sqlInsertListedPlan, p.ID, p.WorkspaceID, p.Kind, p.Action, p.Request, domain.PlanLifecycle.Initial, uuid.Nil,
		p.RequestedBy, asker, p.ObjectKind, p.ObjectID, p.ObjectName, p.Subject, p.Scope, p.ScopeID, p.ScopePath, p.ScopeIDs, approvers)
	if err != nil {
		return fmt.Errorf("insert a plan: %w", err)
	}
	return nil
}

// Listed tells whether the plan lists what a job would do, and has no host, no playbook and no check.
func (p Plan) Listed() bool { return p.ObjectKind != nil || p.ScopeID != nil }

// About is the id of what the action of such a plan is about; zeros: the action makes it.
func (p Plan) About() uuid.UUID {
	if p.ObjectID != nil {
		return *p.ObjectID
	}
	if p.ScopeID != nil {
		return *p.ScopeID
	}
	return uuid.Nil
}

// SubjectOf is what a plan is about that lists what a job would do.
func (p Plan) SubjectOf() (s work.Subject, err error) {
	if p.Subject == nil { // made by a backend of an older release, which listed deletions of scopes only
		return work.Subject{Objects: []work.Object{{Role: iam.DeletedRole, Noun: *p.Scope, ID: *p.ScopeID, Name: *p.ScopePath}}}, nil
	}
	if s, err = work.ReadSubject(p.Subject); err != nil {
		return s, fmt.Errorf("plan %s: %w", p.ID, err)
	}
	return s, nil
}

const sqlAppliedBy = `
SELECT p.id FROM plans p WHERE p.workspace_id = $1 AND p.applied_job_id = $2 LIMIT 1`

// PlanOfJob is the plan that a job applies; nil if none does.
func (r Reads) PlanOfJob(ctx context.Context, workspace, job uuid.UUID) (*uuid.UUID, error) {
	var plan uuid.UUID
	switch err := r.q.QueryRow(ctx, sqlAppliedBy, workspace, job).Scan(&plan); {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look for the plan of a job: %w", err)
	}
	return &plan, nil
}

// PlaceOfScope is where a scope stands in the tree.
func (r Reads) PlaceOfScope(ctx context.Context, level scope.Level, id uuid.UUID) (scope.Place, error) {
	return iam.PlaceOfScope(ctx, r.q, level, id)
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
