package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListDNSZones returns one page of zones.
func (c *Client) ListDNSZones(ctx context.Context, f api.DNSZoneFilter) (api.Page[api.DNSZone], error) {
	return list[api.DNSZone](ctx, c, "/dns-zones", f)
}

// AllDNSZones yields the zones of all pages.
func (c *Client) AllDNSZones(ctx context.Context, f api.DNSZoneFilter) iter.Seq2[api.DNSZone, error] {
	return all(func(cursor string) (api.Page[api.DNSZone], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListDNSZones(ctx, f)
	})
}

// CreateDNSZone adds a zone.
func (c *Client) CreateDNSZone(ctx context.Context, in api.CreateDNSZone, opts ...Option) (api.DNSZone, error) {
	return post[api.DNSZone](ctx, c, "/dns-zones", in, opts)
}

// GetDNSZone shows a zone, by its id or name.
func (c *Client) GetDNSZone(ctx context.Context, id string) (api.DNSZone, error) {
	return get[api.DNSZone](ctx, c, pathOf("dns-zones", id), nil)
}

// ChangeDNSZone changes settings of a zone.
func (c *Client) ChangeDNSZone(ctx context.Context, id string, body api.ChangeDNSZone, opts ...Option) (api.DNSZone, error) {
	return patch[api.DNSZone](ctx, c, pathOf("dns-zones", id), body, opts)
}

// DeleteDNSZone deletes a zone without record sets.
func (c *Client) DeleteDNSZone(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("dns-zones", id), opts)
}

// SyncDNSZone synchronizes a zone now.
func (c *Client) SyncDNSZone(ctx context.Context, id string, opts ...Option) (z api.DNSZone, jobID string, err error) {
	return long[api.DNSZone](ctx, c, http.MethodPost, pathOf("dns-zones", id, "sync"), nil, opts)
}

// ConfirmDNSPlan confirms a plan that the brake holds.
func (c *Client) ConfirmDNSPlan(ctx context.Context, id string, body api.ConfirmDNSPlan, opts ...Option) (z api.DNSZone, jobID string, err error) {
	return long[api.DNSZone](ctx, c, http.MethodPost, pathOf("dns-zones", id, "confirm"), body, opts)
}

// ListDNSForeignRecords returns one page of records on name servers that nobody asked for here.
func (c *Client) ListDNSForeignRecords(ctx context.Context, f api.DNSForeignFilter) (api.Page[api.DNSForeignRecord], error) {
	return list[api.DNSForeignRecord](ctx, c, "/dns-foreign-records", f)
}

// AllDNSForeignRecords yields those of all pages.
func (c *Client) AllDNSForeignRecords(ctx context.Context, f api.DNSForeignFilter) iter.Seq2[api.DNSForeignRecord, error] {
	return all(func(cursor string) (api.Page[api.DNSForeignRecord], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListDNSForeignRecords(ctx, f)
	})
}

// AdoptDNSRecord takes over what the name server holds.
func (c *Client) AdoptDNSRecord(ctx context.Context, zone string, body api.AdoptDNSRecord, opts ...Option) (api.DNSRecordSet, error) {
	return post[api.DNSRecordSet](ctx, c, pathOf("dns-zones", zone, "adopt"), body, opts)
}
