package client

import (
	"context"
	"net/http"

	"kloigos/backend/api"
)

// ClusterUpgrades shows what upgrades of a cluster would do.
func (c *Client) ClusterUpgrades(ctx context.Context, id string, _ ...Option) (api.ClusterUpgrades, error) {
	return get[api.ClusterUpgrades](ctx, c, pathOf("clusters", id, "upgrades"), nil)
}

// UpgradeCluster asks for an upgrade of a cluster.
func (c *Client) UpgradeCluster(ctx context.Context, id string, body api.UpgradeCluster, opts ...Option) (cl api.Cluster, jobID string, err error) {
	return long[api.Cluster](ctx, c, http.MethodPost, pathOf("clusters", id, "upgrade"), body, opts)
}

// SetClusterWindow sets the maintenance window of a cluster.
func (c *Client) SetClusterWindow(ctx context.Context, id string, body api.SetClusterWindow, opts ...Option) (api.Cluster, error) {
	return put[api.Cluster](ctx, c, pathOf("clusters", id, "window"), body, opts)
}

// RenewClusterCertificates asks for the renewal of the certificates of control planes.
func (c *Client) RenewClusterCertificates(ctx context.Context, id string, opts ...Option) (cl api.Cluster, jobID string, err error) {
	return long[api.Cluster](ctx, c, http.MethodPost, pathOf("clusters", id, "renew-certificates"), nil, opts)
}
