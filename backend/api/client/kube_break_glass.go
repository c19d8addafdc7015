package client

import (
	"context"

	"kloigos/backend/api"
)

// BreakGlass issues a kubeconfig of an administrator in an emergency.
func (c *Client) BreakGlass(ctx context.Context, id string, body api.BreakGlass, opts ...Option) (api.AdminKubeconfig, error) {
	return post[api.AdminKubeconfig](ctx, c, pathOf("clusters", id, "break-glass"), body, opts)
}
