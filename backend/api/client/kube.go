package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListKubeVersions returns one page of versions of Kubernetes.
func (c *Client) ListKubeVersions(ctx context.Context, f api.KubeVersionFilter) (api.Page[api.KubeVersion], error) {
	return list[api.KubeVersion](ctx, c, "/kube-versions", f)
}

// AllKubeVersions yields the versions of all pages.
func (c *Client) AllKubeVersions(ctx context.Context, f api.KubeVersionFilter) iter.Seq2[api.KubeVersion, error] {
	return all(func(cursor string) (api.Page[api.KubeVersion], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListKubeVersions(ctx, f)
	})
}

// CreateKubeVersion adds a version.
func (c *Client) CreateKubeVersion(ctx context.Context, in api.CreateKubeVersion, opts ...Option) (api.KubeVersion, error) {
	return post[api.KubeVersion](ctx, c, "/kube-versions", in, opts)
}

// GetKubeVersion shows a version, by its id or name.
func (c *Client) GetKubeVersion(ctx context.Context, id string) (api.KubeVersion, error) {
	return get[api.KubeVersion](ctx, c, pathOf("kube-versions", id), nil)
}

// ChangeKubeVersion changes a version.
func (c *Client) ChangeKubeVersion(ctx context.Context, id string, body api.ChangeKubeVersion, opts ...Option) (api.KubeVersion, error) {
	return patch[api.KubeVersion](ctx, c, pathOf("kube-versions", id), body, opts)
}

// DeleteKubeVersion deletes a version.
func (c *Client) DeleteKubeVersion(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("kube-versions", id), opts)
}

// ListClusters returns one page of clusters.
func (c *Client) ListClusters(ctx context.Context, f api.ClusterFilter) (api.Page[api.Cluster], error) {
	return list[api.Cluster](ctx, c, "/clusters", f)
}

// AllClusters yields the clusters of all pages.
func (c *Client) AllClusters(ctx context.Context, f api.ClusterFilter) iter.Seq2[api.Cluster, error] {
	return all(func(cursor string) (api.Page[api.Cluster], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListClusters(ctx, f)
	})
}

// CreateCluster asks for the cluster of a workspace.
func (c *Client) CreateCluster(ctx context.Context, body api.CreateCluster, opts ...Option) (cl api.Cluster, jobID string, err error) {
	return long[api.Cluster](ctx, c, http.MethodPost, "/clusters", body, opts)
}

// GetCluster shows a cluster, by its id or name.
func (c *Client) GetCluster(ctx context.Context, id string) (api.Cluster, error) {
	return get[api.Cluster](ctx, c, pathOf("clusters", id), nil)
}

// DeleteCluster deletes a cluster.
func (c *Client) DeleteCluster(ctx context.Context, id string, body api.DeleteCluster, opts ...Option) (cl api.Cluster, jobID string, err error) {
	return long[api.Cluster](ctx, c, http.MethodPost, pathOf("clusters", id, "delete"), body, opts)
}

// IssueKubeconfig issues a kubeconfig of the account that asks.
func (c *Client) IssueKubeconfig(ctx context.Context, id string, body api.IssueKubeconfig, opts ...Option) (api.Kubeconfig, error) {
	return post[api.Kubeconfig](ctx, c, pathOf("clusters", id, "kubeconfig"), body, opts)
}

// ListClusterNodes returns one page of nodes.
func (c *Client) ListClusterNodes(ctx context.Context, f api.ClusterNodeFilter) (api.Page[api.ClusterNode], error) {
	return list[api.ClusterNode](ctx, c, "/cluster-nodes", f)
}

// AllClusterNodes yields the nodes of all pages.
func (c *Client) AllClusterNodes(ctx context.Context, f api.ClusterNodeFilter) iter.Seq2[api.ClusterNode, error] {
	return all(func(cursor string) (api.Page[api.ClusterNode], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListClusterNodes(ctx, f)
	})
}

// GetClusterNode shows a node, by its id or name.
func (c *Client) GetClusterNode(ctx context.Context, id string) (api.ClusterNode, error) {
	return get[api.ClusterNode](ctx, c, pathOf("cluster-nodes", id), nil)
}

// ListClusterBindings returns one page of bindings.
func (c *Client) ListClusterBindings(ctx context.Context, f api.ClusterBindingFilter) (api.Page[api.ClusterBinding], error) {
	return list[api.ClusterBinding](ctx, c, "/cluster-bindings", f)
}

// AllClusterBindings yields the bindings of all pages.
func (c *Client) AllClusterBindings(ctx context.Context, f api.ClusterBindingFilter) iter.Seq2[api.ClusterBinding, error] {
	return all(func(cursor string) (api.Page[api.ClusterBinding], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListClusterBindings(ctx, f)
	})
}

// CreateClusterBinding gives an account a role in a cluster.
func (c *Client) CreateClusterBinding(ctx context.Context, in api.CreateClusterBinding, opts ...Option) (api.ClusterBinding, error) {
	return post[api.ClusterBinding](ctx, c, "/cluster-bindings", in, opts)
}

// GetClusterBinding shows a binding.
func (c *Client) GetClusterBinding(ctx context.Context, id string) (api.ClusterBinding, error) {
	return get[api.ClusterBinding](ctx, c, pathOf("cluster-bindings", id), nil)
}

// DeleteClusterBinding takes an account's role away.
func (c *Client) DeleteClusterBinding(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("cluster-bindings", id), opts)
}

// AddClusterNodes joins more hosts to a cluster.
func (c *Client) AddClusterNodes(ctx context.Context, id string, body api.AddClusterNodes, opts ...Option) (cl api.Cluster, jobID string, err error) {
	return long[api.Cluster](ctx, c, http.MethodPost, pathOf("clusters", id, "add-nodes"), body, opts)
}

// RemoveClusterNode takes a node out of its cluster.
func (c *Client) RemoveClusterNode(ctx context.Context, id string, body api.RemoveClusterNode, opts ...Option) (n api.ClusterNode, jobID string, err error) {
	return long[api.ClusterNode](ctx, c, http.MethodPost, pathOf("cluster-nodes", id, "remove"), body, opts)
}

// ReplaceClusterNode puts another host in the place of a node.
func (c *Client) ReplaceClusterNode(ctx context.Context, id string, body api.ReplaceClusterNode, opts ...Option) (n api.ClusterNode, jobID string, err error) {
	return long[api.ClusterNode](ctx, c, http.MethodPost, pathOf("cluster-nodes", id, "replace"), body, opts)
}
