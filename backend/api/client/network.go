package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListNetworks returns one page of networks.
func (c *Client) ListNetworks(ctx context.Context, f api.NetworkFilter) (api.Page[api.Network], error) {
	return list[api.Network](ctx, c, "/networks", f)
}

// AllNetworks yields the networks of all pages.
func (c *Client) AllNetworks(ctx context.Context, f api.NetworkFilter) iter.Seq2[api.Network, error] {
	return all(func(cursor string) (api.Page[api.Network], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListNetworks(ctx, f)
	})
}

// CreateNetwork adds a network.
func (c *Client) CreateNetwork(ctx context.Context, in api.CreateNetwork, opts ...Option) (api.Network, error) {
	return post[api.Network](ctx, c, "/networks", in, opts)
}

// GetNetwork shows a network, by its id or name.
func (c *Client) GetNetwork(ctx context.Context, id string) (api.Network, error) {
	return get[api.Network](ctx, c, pathOf("networks", id), nil)
}

// ChangeNetwork changes the description or the range of a network.
func (c *Client) ChangeNetwork(ctx context.Context, id string, body api.ChangeNetwork, opts ...Option) (api.Network, error) {
	return patch[api.Network](ctx, c, pathOf("networks", id), body, opts)
}

// DeleteNetwork deletes a network that nothing uses.
func (c *Client) DeleteNetwork(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("networks", id), opts)
}
