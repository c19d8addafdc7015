package kubeapi

import (
	"context"
	"fmt"
	"net/http"
)

// Version asks an API server for its version, such as v1.36.3.
func (c *Client) Version(ctx context.Context) (string, error) {
	var found struct {
		GitVersion string `json:"gitVersion"`
	}
	if err := c.call(ctx, http.MethodGet, "/version", nil, nil, &found); err != nil {
		return "", fmt.Errorf("ask for the version: %w", err)
	}
	return clean(found.GitVersion), nil
}

// ClusterInfo tells whether a cluster shows nodes that join how to reach and check it: without that, kubeadm join waits in vain.
func (c *Client) ClusterInfo(ctx context.Context) error {
	if err := c.call(ctx, http.MethodGet, "/api/v1/namespaces/kube-public/configmaps/cluster-info", nil, nil, nil); err != nil {
		return fmt.Errorf("read what nodes join with: %w", err)
	}
	return nil
}
