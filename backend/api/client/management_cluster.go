package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListManagementClusters returns one page of management clusters.
func (c *Client) ListManagementClusters(ctx context.Context, f api.ManagementClusterFilter) (api.Page[api.ManagementCluster], error) {
	return list[api.ManagementCluster](ctx, c, "/management-clusters", f)
}

// AllManagementClusters yields the management clusters of all pages.
func (c *Client) AllManagementClusters(ctx context.Context, f api.ManagementClusterFilter) iter.Seq2[api.ManagementCluster, error] {
	return all(func(cursor string) (api.Page[api.ManagementCluster], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListManagementClusters(ctx, f)
	})
}

// CreateManagementCluster adds a management cluster.
func (c *Client) CreateManagementCluster(ctx context.Context, in api.CreateManagementCluster, opts ...Option) (api.ManagementCluster, error) {
	return post[api.ManagementCluster](ctx, c, "/management-clusters", in, opts)
}

// GetManagementCluster shows a management cluster, by its id or name.
func (c *Client) GetManagementCluster(ctx context.Context, id string) (api.ManagementCluster, error) {
	return get[api.ManagementCluster](ctx, c, pathOf("management-clusters", id), nil)
}

// ChangeManagementCluster changes a management cluster.
func (c *Client) ChangeManagementCluster(ctx context.Context, id string, body api.ChangeManagementCluster, opts ...Option) (api.ManagementCluster, error) {
	return patch[api.ManagementCluster](ctx, c, pathOf("management-clusters", id), body, opts)
}

// DeleteManagementCluster forgets a management cluster.
func (c *Client) DeleteManagementCluster(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("management-clusters", id), opts)
}

// CheckManagementCluster looks at a management cluster now.
func (c *Client) CheckManagementCluster(ctx context.Context, id string, opts ...Option) (api.ManagementCheck, error) {
	return post[api.ManagementCheck](ctx, c, pathOf("management-clusters", id, "check"), nil, opts)
}
