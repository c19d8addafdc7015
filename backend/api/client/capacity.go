package client

import (
	"context"

	"kloigos/backend/api"
)

// GetCapacity shows what there is, by place, and the hosts in short.
func (c *Client) GetCapacity(ctx context.Context) (api.Capacity, error) {
	return get[api.Capacity](ctx, c, "/capacity", nil)
}
