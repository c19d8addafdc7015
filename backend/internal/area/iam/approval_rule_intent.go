package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (r ApprovalRule) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	err := tx.Event(ctx, at.entry(audit.Entry{
		Action: ApprovalRuleNoun + "." + action, ObjectKind: ApprovalRuleNoun, ObjectID: r.ID, ObjectName: r.Name, Before: before, After: after,
	}))
	if err != nil {
		return err
	}
	return tx.Made(ctx, ApprovalRuleNoun, r.ID, uuid.Nil)
}

// olderIgnoreRules says why backends of other releases have to be gone.
const olderIgnoreRules = "they would apply plans without approvals"

// CreateApprovalRule makes a rule of a scope. Backends of another release would apply plans without approvals, so they are kept
// out from then on. planned are the kinds of jobs that have plans.
func CreateApprovalRule(ctx context.Context, tx *intent.Tx, ref scope.Ref[Scope], level string, draft ApprovalRuleDraft, planned []string, release string) (ApprovalRule, error) {
	if err := draft.check(planned); err != nil {
		return ApprovalRule{}, err
	}
	at, err := levelOf(level).keep(ctx, tx.Tx, ref.ID())
	if err != nil {
		return ApprovalRule{}, err
	}
	if err := at.CanWrite(); err != nil {
		return ApprovalRule{}, err
	}
	if err := OnlyThisRelease(ctx, tx.Tx, release, olderIgnoreRules); err != nil {
		return ApprovalRule{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("approval_rule_exists", "The organization has an approval rule %s already, or 100 rules.", draft.Name)
	err = tx.One(ctx, taken, sqlInsertApprovalRule, id, at.OrganizationID, at.Kind, at.ID, draft.Name, draft.Kinds, draft.Approvals, draft.Hours, tx.Call().Actor.Name)
	if err != nil {
		return ApprovalRule{}, fmt.Errorf("make an approval rule: %w", err)
	}
	made, err := db.First[ApprovalRule](ctx, tx.Reader, fault.ErrNotFound, sqlApprovalRuleByID, id)
	if err != nil {
		return ApprovalRule{}, err
	}
	return made, made.told(ctx, tx, at, "create", nil, made.facts())
}

// approvalRuleAt returns a rule that nobody else changes, with its scope.
func approvalRuleAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[ApprovalRule], version int64) (ApprovalRule, Scope, error) {
	if err := tx.One(ctx, fault.ErrNotFound, sqlHoldApprovalRule, ref.ID()); err != nil {
		return ApprovalRule{}, Scope{}, err
	}
	rule, err := db.First[ApprovalRule](ctx, tx.Reader, fault.ErrNotFound, sqlApprovalRuleByID, ref.ID())
	if err != nil {
		return ApprovalRule{}, Scope{}, err
	}
	if err := fault.CheckVersion("approval rule", rule.Version, version); err != nil {
		return ApprovalRule{}, Scope{}, err
	}
	at, err := levelOf(rule.Scope).byID(ctx, tx.Reader, rule.ScopeID)
	if err != nil {
		return ApprovalRule{}, Scope{}, err
	}
	return rule, at, at.CanWrite()
}

// ChangeApprovalRule changes a rule, for plans that are there already as well. change is given it as it is. Backends of another release
// are kept out as by CreateApprovalRule: the rule may name a kind of job that they make no plans of.
func ChangeApprovalRule(ctx context.Context, tx *intent.Tx, ref scope.Ref[ApprovalRule], version int64, planned []string, release string, change func(*ApprovalRuleDraft)) error {
	before, at, err := approvalRuleAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	draft := ApprovalRuleDraft{Name: before.Name, Kinds: before.Kinds, Approvals: before.Approvals, Hours: before.Hours}
	change(&draft)
	if err := draft.check(planned); err != nil {
		return err
	}
	if err := OnlyThisRelease(ctx, tx.Tx, release, olderIgnoreRules); err != nil {
		return err
	}
	err = tx.One(ctx, fault.ErrNotFound, sqlChangeApprovalRule, before.ID, draft.Name, draft.Kinds, draft.Approvals, draft.Hours)
	if _, taken := db.UniqueViolation(err); taken {
		return fault.Conflictf("approval_rule_exists", "The organization has an approval rule %s already.", draft.Name)
	}
	if err != nil {
		return fmt.Errorf("change an approval rule: %w", err)
	}
	after, err := db.First[ApprovalRule](ctx, tx.Reader, fault.ErrNotFound, sqlApprovalRuleByID, before.ID)
	if err != nil {
		return err
	}
	return after.told(ctx, tx, at, "change", before.facts(), after.facts())
}

// DeleteApprovalRule deletes a rule. Plans that waited for it need it no more.
func DeleteApprovalRule(ctx context.Context, tx *intent.Tx, ref scope.Ref[ApprovalRule], version int64) error {
	rule, at, err := approvalRuleAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteApprovalRule, rule.ID); err != nil {
		return fmt.Errorf("delete an approval rule: %w", err)
	}
	return rule.told(ctx, tx, at, "delete", rule.facts(), nil)
}
