package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListDNSZoneGrants returns one page of grants of DNS zones.
func (c *Client) ListDNSZoneGrants(ctx context.Context, f api.DNSZoneGrantFilter) (api.Page[api.DNSZoneGrant], error) {
	return list[api.DNSZoneGrant](ctx, c, "/dns-zone-grants", f)
}

// AllDNSZoneGrants yields the grants of all pages.
func (c *Client) AllDNSZoneGrants(ctx context.Context, f api.DNSZoneGrantFilter) iter.Seq2[api.DNSZoneGrant, error] {
	return all(func(cursor string) (api.Page[api.DNSZoneGrant], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListDNSZoneGrants(ctx, f)
	})
}

// CreateDNSZoneGrant lets a scope use a DNS zone.
func (c *Client) CreateDNSZoneGrant(ctx context.Context, in api.CreateDNSZoneGrant, opts ...Option) (api.DNSZoneGrant, error) {
	return post[api.DNSZoneGrant](ctx, c, "/dns-zone-grants", in, opts)
}

// GetDNSZoneGrant shows a grant of a DNS zone.
func (c *Client) GetDNSZoneGrant(ctx context.Context, id string) (api.DNSZoneGrant, error) {
	return get[api.DNSZoneGrant](ctx, c, pathOf("dns-zone-grants", id), nil)
}

// ChangeDNSZoneGrant changes which names of a DNS zone are granted.
func (c *Client) ChangeDNSZoneGrant(ctx context.Context, id string, body api.ChangeDNSZoneGrant, opts ...Option) (api.DNSZoneGrant, error) {
	return patch[api.DNSZoneGrant](ctx, c, pathOf("dns-zone-grants", id), body, opts)
}

// DeleteDNSZoneGrant revokes a grant of a DNS zone. Names that are there stay.
func (c *Client) DeleteDNSZoneGrant(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("dns-zone-grants", id), opts)
}

// RemoveDNSZoneNames deletes the names that a revoked grant let into a DNS zone. The answer is the grant as it was before.
func (c *Client) RemoveDNSZoneNames(ctx context.Context, id string, body api.RemoveDNSZoneNames, opts ...Option) (api.DNSZoneGrant, error) {
	return post[api.DNSZoneGrant](ctx, c, pathOf("dns-zone-grants", id, "remove-names"), body, opts)
}

// ListSharedDNSZones returns one page of the DNS zones of other workspaces that this one may use.
func (c *Client) ListSharedDNSZones(ctx context.Context, f api.SharedDNSZoneFilter) (api.Page[api.SharedDNSZone], error) {
	return list[api.SharedDNSZone](ctx, c, "/shared-dns-zones", f)
}

// AllSharedDNSZones yields the shared zones of all pages.
func (c *Client) AllSharedDNSZones(ctx context.Context, f api.SharedDNSZoneFilter) iter.Seq2[api.SharedDNSZone, error] {
	return all(func(cursor string) (api.Page[api.SharedDNSZone], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListSharedDNSZones(ctx, f)
	})
}

// GetSharedDNSZone shows a DNS zone of another workspace.
func (c *Client) GetSharedDNSZone(ctx context.Context, id string) (api.SharedDNSZone, error) {
	return get[api.SharedDNSZone](ctx, c, pathOf("shared-dns-zones", id), nil)
}

// NameInSharedDNSZone begins or stops to name the allocations of this workspace in a DNS zone of another one.
func (c *Client) NameInSharedDNSZone(ctx context.Context, id string, body api.NameInSharedDNSZone, opts ...Option) (api.SharedDNSZone, error) {
	return post[api.SharedDNSZone](ctx, c, pathOf("shared-dns-zones", id, "naming"), body, opts)
}
