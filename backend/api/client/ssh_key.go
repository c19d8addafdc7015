package client

import (
	"context"

	"kloigos/backend/api"
)

// GetSSHKey shows the SSH key of an organization, and how far its replacement is.
func (c *Client) GetSSHKey(ctx context.Context, organization string) (api.SSHKey, error) {
	return get[api.SSHKey](ctx, c, pathOf("organizations", organization, "ssh-key"), nil)
}

// ReplaceSSHKey begins to replace the SSH key of an organization on all of its hosts.
func (c *Client) ReplaceSSHKey(ctx context.Context, organization string, opts ...Option) (api.SSHKey, error) {
	return post[api.SSHKey](ctx, c, pathOf("organizations", organization, "ssh-key", "replace"), nil, opts)
}

// LeaveSSHKeyHosts has the replacement of an SSH key go on without some hosts.
func (c *Client) LeaveSSHKeyHosts(ctx context.Context, organization string, in api.LeaveHosts, opts ...Option) (api.SSHKey, error) {
	return post[api.SSHKey](ctx, c, pathOf("organizations", organization, "ssh-key", "leave"), in, opts)
}
