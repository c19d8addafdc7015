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

// dnsPath is where kubeadm has CoreDNS.
const dnsPath = "/apis/apps/v1/namespaces/kube-system/deployments/coredns"

// HasDNS tells whether a cluster runs the CoreDNS that kubeadm made.
func (c *Client) HasDNS(ctx context.Context) (bool, error) {
	var found struct {
		Metadata meta `json:"metadata"`
	}
	err := c.call(ctx, http.MethodGet, dnsPath, nil, nil, &found)
	if Is(err, http.StatusNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for CoreDNS: %w", err)
	}
	return found.Metadata.Name == "coredns", nil
}

// ClusterInfo tells whether a cluster shows nodes that join how to reach and check it: without that, kubeadm join waits in vain.
func (c *Client) ClusterInfo(ctx context.Context) error {
	if err := c.call(ctx, http.MethodGet, "/api/v1/namespaces/kube-public/configmaps/cluster-info", nil, nil, nil); err != nil {
		return fmt.Errorf("read what nodes join with: %w", err)
	}
	return nil
}
