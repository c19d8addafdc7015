package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListPolicies shows all policies, and what is not reconciled.
func (c *Client) ListPolicies(ctx context.Context) (api.Policies, error) {
	return get[api.Policies](ctx, c, "/policies", nil)
}

// GetPolicy shows a policy with its conditions.
func (c *Client) GetPolicy(ctx context.Context, name string) (api.Policy, error) {
	return get[api.Policy](ctx, c, pathOf("policies", name), nil)
}

// ListPolicyItems returns one page of the objects that a policy looks at.
func (c *Client) ListPolicyItems(ctx context.Context, name string, f api.PolicyItemFilter) (api.Page[api.PolicyItem], error) {
	return list[api.PolicyItem](ctx, c, pathOf("policies", name, "items"), f)
}

// AllPolicyItems yields the items of all pages.
func (c *Client) AllPolicyItems(ctx context.Context, name string, f api.PolicyItemFilter) iter.Seq2[api.PolicyItem, error] {
	return all(func(cursor string) (api.Page[api.PolicyItem], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListPolicyItems(ctx, name, f)
	})
}

// PausePolicy pauses a policy, or one object of it.
func (c *Client) PausePolicy(ctx context.Context, name string, body api.PausePolicy, opts ...Option) (api.Policy, error) {
	return post[api.Policy](ctx, c, pathOf("policies", name, "pause"), body, opts)
}

// ResumePolicy ends such a pause.
func (c *Client) ResumePolicy(ctx context.Context, name string, body api.OfObject, opts ...Option) (api.Policy, error) {
	return post[api.Policy](ctx, c, pathOf("policies", name, "resume"), body, opts)
}

// RunPolicy makes a policy, or one object of it, due now. The token of the answer
// is answered once a run that began afterwards has ended.
func (c *Client) RunPolicy(ctx context.Context, name string, body api.OfObject, opts ...Option) (api.PolicyItem, error) {
	return post[api.PolicyItem](ctx, c, pathOf("policies", name, "run"), body, opts)
}

// PauseObject pauses all policies of one object.
func (c *Client) PauseObject(ctx context.Context, body api.PauseObject, opts ...Option) (api.PolicyPause, error) {
	return post[api.PolicyPause](ctx, c, "/policies/pause", body, opts)
}

// ResumeObject ends such a pause.
func (c *Client) ResumeObject(ctx context.Context, body api.ThisObject, opts ...Option) error {
	_, err := post[struct{}](ctx, c, "/policies/resume", body, opts)
	return err
}

// ListObjectConditions shows the conditions of an object of the workspace.
func (c *Client) ListObjectConditions(ctx context.Context, f api.ObjectConditionFilter) ([]api.Condition, error) {
	page, err := list[api.Condition](ctx, c, "/object-conditions", f)
	return page.Items, err
}

// ListConditions shows the conditions of an object, or all of a noun that are not
// true.
func (c *Client) ListConditions(ctx context.Context, f api.ConditionFilter) ([]api.Condition, error) {
	page, err := list[api.Condition](ctx, c, "/conditions", f)
	return page.Items, err
}
