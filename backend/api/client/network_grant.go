package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListNetworkGrants returns one page of grants of networks.
func (c *Client) ListNetworkGrants(ctx context.Context, f api.NetworkGrantFilter) (api.Page[api.NetworkGrant], error) {
	return list[api.NetworkGrant](ctx, c, "/network-grants", f)
}

// AllNetworkGrants yields the grants of all pages.
func (c *Client) AllNetworkGrants(ctx context.Context, f api.NetworkGrantFilter) iter.Seq2[api.NetworkGrant, error] {
	return all(func(cursor string) (api.Page[api.NetworkGrant], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListNetworkGrants(ctx, f)
	})
}

// CreateNetworkGrant lets hosts of a scope carry a network.
func (c *Client) CreateNetworkGrant(ctx context.Context, in api.CreateNetworkGrant, opts ...Option) (api.NetworkGrant, error) {
	return post[api.NetworkGrant](ctx, c, "/network-grants", in, opts)
}

// GetNetworkGrant shows a grant of a network.
func (c *Client) GetNetworkGrant(ctx context.Context, id string) (api.NetworkGrant, error) {
	return get[api.NetworkGrant](ctx, c, pathOf("network-grants", id), nil)
}

// ChangeNetworkGrant changes how many addresses of a network are granted.
func (c *Client) ChangeNetworkGrant(ctx context.Context, id string, body api.ChangeNetworkGrant, opts ...Option) (api.NetworkGrant, error) {
	return patch[api.NetworkGrant](ctx, c, pathOf("network-grants", id), body, opts)
}

// DeleteNetworkGrant revokes a grant of a network. Addresses in use stay.
func (c *Client) DeleteNetworkGrant(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("network-grants", id), opts)
}

// ListSharedNetworks returns one page of the networks of other workspaces that hosts of this one may carry.
func (c *Client) ListSharedNetworks(ctx context.Context, f api.SharedNetworkFilter) (api.Page[api.SharedNetwork], error) {
	return list[api.SharedNetwork](ctx, c, "/shared-networks", f)
}

// AllSharedNetworks yields the shared networks of all pages.
func (c *Client) AllSharedNetworks(ctx context.Context, f api.SharedNetworkFilter) iter.Seq2[api.SharedNetwork, error] {
	return all(func(cursor string) (api.Page[api.SharedNetwork], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListSharedNetworks(ctx, f)
	})
}
