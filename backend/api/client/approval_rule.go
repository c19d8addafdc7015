package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListApprovalRules returns the approval rules at a scope, above it and below it.
func (c *Client) ListApprovalRules(ctx context.Context, f api.ApprovalRuleFilter) (api.Page[api.ApprovalRule], error) {
	return list[api.ApprovalRule](ctx, c, "/approval-rules", f)
}

// AllApprovalRules yields the approval rules.
func (c *Client) AllApprovalRules(ctx context.Context, f api.ApprovalRuleFilter) iter.Seq2[api.ApprovalRule, error] {
	return all(func(string) (api.Page[api.ApprovalRule], error) { return c.ListApprovalRules(ctx, f) })
}

// CreateApprovalRule asks for approvals of plans in a scope.
func (c *Client) CreateApprovalRule(ctx context.Context, in api.CreateApprovalRule, opts ...Option) (api.ApprovalRule, error) {
	return post[api.ApprovalRule](ctx, c, "/approval-rules", in, opts)
}

// GetApprovalRule shows an approval rule.
func (c *Client) GetApprovalRule(ctx context.Context, id string) (api.ApprovalRule, error) {
	return get[api.ApprovalRule](ctx, c, pathOf("approval-rules", id), nil)
}

// ChangeApprovalRule changes an approval rule, for plans that are there already as well.
func (c *Client) ChangeApprovalRule(ctx context.Context, id string, body api.ChangeApprovalRule, opts ...Option) (api.ApprovalRule, error) {
	return patch[api.ApprovalRule](ctx, c, pathOf("approval-rules", id), body, opts)
}

// DeleteApprovalRule deletes an approval rule.
func (c *Client) DeleteApprovalRule(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("approval-rules", id), opts)
}
