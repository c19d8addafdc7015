package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListHostGrants returns one page of grants of hosts.
func (c *Client) ListHostGrants(ctx context.Context, f api.HostGrantFilter) (api.Page[api.HostGrant], error) {
	return list[api.HostGrant](ctx, c, "/host-grants", f)
}

// AllHostGrants yields the grants of all pages.
func (c *Client) AllHostGrants(ctx context.Context, f api.HostGrantFilter) iter.Seq2[api.HostGrant, error] {
	return all(func(cursor string) (api.Page[api.HostGrant], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListHostGrants(ctx, f)
	})
}

// CreateHostGrant lets a scope use a host.
func (c *Client) CreateHostGrant(ctx context.Context, in api.CreateHostGrant, opts ...Option) (api.HostGrant, error) {
	return post[api.HostGrant](ctx, c, "/host-grants", in, opts)
}

// GetHostGrant shows a grant of a host.
func (c *Client) GetHostGrant(ctx context.Context, id string) (api.HostGrant, error) {
	return get[api.HostGrant](ctx, c, pathOf("host-grants", id), nil)
}

// ChangeHostGrant changes how much of a host is granted.
func (c *Client) ChangeHostGrant(ctx context.Context, id string, body api.ChangeHostGrant, opts ...Option) (api.HostGrant, error) {
	return patch[api.HostGrant](ctx, c, pathOf("host-grants", id), body, opts)
}

// DeleteHostGrant revokes a grant of a host. Allocations that are there stay.
func (c *Client) DeleteHostGrant(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("host-grants", id), opts)
}

// ListSharedHosts returns one page of the hosts of other workspaces that this one may use.
func (c *Client) ListSharedHosts(ctx context.Context, f api.SharedHostFilter) (api.Page[api.SharedHost], error) {
	return list[api.SharedHost](ctx, c, "/shared-hosts", f)
}

// AllSharedHosts yields the shared hosts of all pages.
func (c *Client) AllSharedHosts(ctx context.Context, f api.SharedHostFilter) iter.Seq2[api.SharedHost, error] {
	return all(func(cursor string) (api.Page[api.SharedHost], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListSharedHosts(ctx, f)
	})
}
