package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListClusterSnapshots returns one page of snapshots of clusters.
func (c *Client) ListClusterSnapshots(ctx context.Context, f api.ClusterSnapshotFilter) (api.Page[api.ClusterSnapshot], error) {
	return list[api.ClusterSnapshot](ctx, c, "/cluster-snapshots", f)
}

// AllClusterSnapshots yields the snapshots of all pages.
func (c *Client) AllClusterSnapshots(ctx context.Context, f api.ClusterSnapshotFilter) iter.Seq2[api.ClusterSnapshot, error] {
	return all(func(cursor string) (api.Page[api.ClusterSnapshot], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListClusterSnapshots(ctx, f)
	})
}

// GetClusterSnapshot shows a snapshot.
func (c *Client) GetClusterSnapshot(ctx context.Context, id string) (api.ClusterSnapshot, error) {
	return get[api.ClusterSnapshot](ctx, c, pathOf("cluster-snapshots", id), nil)
}

// DeleteClusterSnapshot deletes a snapshot.
func (c *Client) DeleteClusterSnapshot(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("cluster-snapshots", id), opts)
}

// TakeClusterSnapshot asks for a snapshot of the etcd of a cluster.
func (c *Client) TakeClusterSnapshot(ctx context.Context, id string, opts ...Option) (cl api.Cluster, jobID string, err error) {
	return long[api.Cluster](ctx, c, http.MethodPost, pathOf("clusters", id, "snapshot"), nil, opts)
}

// SetClusterSnapshots sets how often snapshots of a cluster are taken, and which are kept.
func (c *Client) SetClusterSnapshots(ctx context.Context, id string, body api.SetClusterSnapshots, opts ...Option) (api.Cluster, error) {
	return put[api.Cluster](ctx, c, pathOf("clusters", id, "snapshots"), body, opts)
}

// RestoreClusterSnapshot asks for a cluster as it was in a snapshot.
func (c *Client) RestoreClusterSnapshot(ctx context.Context, id string, body api.RestoreClusterSnapshot, opts ...Option) (s api.ClusterSnapshot, jobID string, err error) {
	return long[api.ClusterSnapshot](ctx, c, http.MethodPost, pathOf("cluster-snapshots", id, "restore"), body, opts)
}
