package client

import (
	"context"
	"net/http"

	"kloigos/backend/api"
)

// PlanOrganizationCascade makes a plan to delete an organization with all that is in it.
func (c *Client) PlanOrganizationCascade(ctx context.Context, id string, opts ...Option) (api.Plan, error) {
	return c.planCascade(ctx, "organizations", id, opts)
}

// PlanProjectCascade makes a plan to delete a project with all that is in it.
func (c *Client) PlanProjectCascade(ctx context.Context, id string, opts ...Option) (api.Plan, error) {
	return c.planCascade(ctx, "projects", id, opts)
}

// PlanWorkspaceCascade makes a plan to delete a workspace with all that is in it.
func (c *Client) PlanWorkspaceCascade(ctx context.Context, id string, opts ...Option) (api.Plan, error) {
	return c.planCascade(ctx, "workspaces", id, opts)
}

func (c *Client) planCascade(ctx context.Context, scopes, id string, opts []Option) (api.Plan, error) {
	p, _, err := c.plan(ctx, http.MethodPost, pathOf(scopes, id, "cascade"), api.Cascade{}, opts)
	return p, err
}

// CascadeOrganization begins to delete an organization as a plan shows. Confirm is its name.
func (c *Client) CascadeOrganization(ctx context.Context, id string, body api.Cascade, opts ...Option) (s api.Scope, jobID string, err error) {
	return long[api.Scope](ctx, c, http.MethodPost, pathOf("organizations", id, "cascade"), body, opts)
}

// CascadeProject begins to delete a project as a plan shows. Confirm is its name.
func (c *Client) CascadeProject(ctx context.Context, id string, body api.Cascade, opts ...Option) (s api.Scope, jobID string, err error) {
	return long[api.Scope](ctx, c, http.MethodPost, pathOf("projects", id, "cascade"), body, opts)
}

// CascadeWorkspace begins to delete a workspace as a plan shows. Confirm is its name.
func (c *Client) CascadeWorkspace(ctx context.Context, id string, body api.Cascade, opts ...Option) (s api.Scope, jobID string, err error) {
	return long[api.Scope](ctx, c, http.MethodPost, pathOf("workspaces", id, "cascade"), body, opts)
}
