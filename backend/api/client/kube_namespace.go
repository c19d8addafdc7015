package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListClusterNamespaces returns one page of namespaces.
func (c *Client) ListClusterNamespaces(ctx context.Context, f api.ClusterNamespaceFilter) (api.Page[api.ClusterNamespace], error) {
	return list[api.ClusterNamespace](ctx, c, "/cluster-namespaces", f)
}

// AllClusterNamespaces yields the namespaces of all pages.
func (c *Client) AllClusterNamespaces(ctx context.Context, f api.ClusterNamespaceFilter) iter.Seq2[api.ClusterNamespace, error] {
	return all(func(cursor string) (api.Page[api.ClusterNamespace], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListClusterNamespaces(ctx, f)
	})
}

// CreateClusterNamespace adds a namespace to a cluster.
func (c *Client) CreateClusterNamespace(ctx context.Context, in api.CreateClusterNamespace, opts ...Option) (api.ClusterNamespace, error) {
	return post[api.ClusterNamespace](ctx, c, "/cluster-namespaces", in, opts)
}

// GetClusterNamespace shows a namespace, by its id or name.
func (c *Client) GetClusterNamespace(ctx context.Context, id string) (api.ClusterNamespace, error) {
	return get[api.ClusterNamespace](ctx, c, pathOf("cluster-namespaces", id), nil)
}

// ChangeClusterNamespace changes a namespace.
func (c *Client) ChangeClusterNamespace(ctx context.Context, id string, body api.ChangeClusterNamespace, opts ...Option) (api.ClusterNamespace, error) {
	return patch[api.ClusterNamespace](ctx, c, pathOf("cluster-namespaces", id), body, opts)
}

// DeleteClusterNamespace deletes a namespace, or lets go of it.
func (c *Client) DeleteClusterNamespace(ctx context.Context, id string, body api.DeleteClusterNamespace, opts ...Option) (api.ClusterNamespace, error) {
	return post[api.ClusterNamespace](ctx, c, pathOf("cluster-namespaces", id, "delete"), body, opts)
}
