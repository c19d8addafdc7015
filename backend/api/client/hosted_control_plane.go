package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListHostedControlPlanes returns one page of hosted control planes.
func (c *Client) ListHostedControlPlanes(ctx context.Context, f api.HostedControlPlaneFilter) (api.Page[api.HostedControlPlane], error) {
	return list[api.HostedControlPlane](ctx, c, "/hosted-control-planes", f)
}

// AllHostedControlPlanes yields the hosted control planes of all pages.
func (c *Client) AllHostedControlPlanes(ctx context.Context, f api.HostedControlPlaneFilter) iter.Seq2[api.HostedControlPlane, error] {
	return all(func(cursor string) (api.Page[api.HostedControlPlane], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListHostedControlPlanes(ctx, f)
	})
}

// CreateHostedControlPlane asks for a cluster with a hosted control plane.
func (c *Client) CreateHostedControlPlane(ctx context.Context, body api.CreateHostedControlPlane, opts ...Option) (h api.HostedControlPlane, jobID string, err error) {
	return long[api.HostedControlPlane](ctx, c, http.MethodPost, "/hosted-control-planes", body, opts)
}

// GetHostedControlPlane shows a hosted control plane, by its id or the name of its cluster.
func (c *Client) GetHostedControlPlane(ctx context.Context, id string) (api.HostedControlPlane, error) {
	return get[api.HostedControlPlane](ctx, c, pathOf("hosted-control-planes", id), nil)
}

// UpgradeHostedControlPlane asks for another version.
func (c *Client) UpgradeHostedControlPlane(ctx context.Context, id string, body api.UpgradeHostedControlPlane, opts ...Option) (h api.HostedControlPlane, jobID string, err error) {
	return long[api.HostedControlPlane](ctx, c, http.MethodPost, pathOf("hosted-control-planes", id, "upgrade"), body, opts)
}

// SleepHostedControlPlane puts a control plane to sleep.
func (c *Client) SleepHostedControlPlane(ctx context.Context, id string, opts ...Option) (h api.HostedControlPlane, jobID string, err error) {
	return long[api.HostedControlPlane](ctx, c, http.MethodPost, pathOf("hosted-control-planes", id, "sleep"), nil, opts)
}

// WakeHostedControlPlane wakes a control plane.
func (c *Client) WakeHostedControlPlane(ctx context.Context, id string, opts ...Option) (h api.HostedControlPlane, jobID string, err error) {
	return long[api.HostedControlPlane](ctx, c, http.MethodPost, pathOf("hosted-control-planes", id, "wake"), nil, opts)
}

// DeleteHostedControlPlane deletes a cluster with its hosted control plane.
func (c *Client) DeleteHostedControlPlane(ctx context.Context, id string, body api.DeleteCluster, opts ...Option) (h api.HostedControlPlane, jobID string, err error) {
	return long[api.HostedControlPlane](ctx, c, http.MethodPost, pathOf("hosted-control-planes", id, "delete"), body, opts)
}
