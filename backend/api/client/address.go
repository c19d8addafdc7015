package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListAddresses returns one page of the address pool.
func (c *Client) ListAddresses(ctx context.Context, f api.AddressFilter) (api.Page[api.Address], error) {
	return list[api.Address](ctx, c, "/address-pool", f)
}

// AllAddresses yields the addresses of all pages.
func (c *Client) AllAddresses(ctx context.Context, f api.AddressFilter) iter.Seq2[api.Address, error] {
	return all(func(cursor string) (api.Page[api.Address], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListAddresses(ctx, f)
	})
}

// AddAddresses adds addresses, all of them or none, and returns them.
func (c *Client) AddAddresses(ctx context.Context, in api.AddAddresses, opts ...Option) ([]api.Address, error) {
	added, err := post[api.Page[api.Address]](ctx, c, "/address-pool", in, opts)
	return added.Items, err
}

// RemoveAddress removes a free address.
func (c *Client) RemoveAddress(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("address-pool", id), opts)
}

// CloseAddress keeps a free address from being given out.
func (c *Client) CloseAddress(ctx context.Context, id string, opts ...Option) (api.Address, error) {
	return post[api.Address](ctx, c, pathOf("address-pool", id, "close"), nil, opts)
}

// OpenAddress lets a closed address be given out.
func (c *Client) OpenAddress(ctx context.Context, id string, opts ...Option) (api.Address, error) {
	return post[api.Address](ctx, c, pathOf("address-pool", id, "open"), nil, opts)
}

// ReleaseAddress takes an address out of quarantine.
func (c *Client) ReleaseAddress(ctx context.Context, id string, opts ...Option) (api.Address, error) {
	return post[api.Address](ctx, c, pathOf("address-pool", id, "release"), nil, opts)
}
