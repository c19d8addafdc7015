package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListDNSRecordSets returns one page of record sets.
func (c *Client) ListDNSRecordSets(ctx context.Context, f api.DNSRecordSetFilter) (api.Page[api.DNSRecordSet], error) {
	return list[api.DNSRecordSet](ctx, c, "/dns-record-sets", f)
}

// AllDNSRecordSets yields the record sets of all pages.
func (c *Client) AllDNSRecordSets(ctx context.Context, f api.DNSRecordSetFilter) iter.Seq2[api.DNSRecordSet, error] {
	return all(func(cursor string) (api.Page[api.DNSRecordSet], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListDNSRecordSets(ctx, f)
	})
}

// CreateDNSRecordSet adds a record set.
func (c *Client) CreateDNSRecordSet(ctx context.Context, in api.CreateDNSRecordSet, opts ...Option) (api.DNSRecordSet, error) {
	return post[api.DNSRecordSet](ctx, c, "/dns-record-sets", in, opts)
}

// GetDNSRecordSet shows a record set.
func (c *Client) GetDNSRecordSet(ctx context.Context, id string) (api.DNSRecordSet, error) {
	return get[api.DNSRecordSet](ctx, c, pathOf("dns-record-sets", id), nil)
}

// ChangeDNSRecordSet changes TTL or values.
func (c *Client) ChangeDNSRecordSet(ctx context.Context, id string, body api.ChangeDNSRecordSet, opts ...Option) (api.DNSRecordSet, error) {
	return patch[api.DNSRecordSet](ctx, c, pathOf("dns-record-sets", id), body, opts)
}

// DeleteDNSRecordSet deletes a record set.
func (c *Client) DeleteDNSRecordSet(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("dns-record-sets", id), opts)
}

// CheckDNSRecordSet asks all servers until they tell the record set.
func (c *Client) CheckDNSRecordSet(ctx context.Context, id string, opts ...Option) (s api.DNSRecordSet, jobID string, err error) {
	return long[api.DNSRecordSet](ctx, c, http.MethodPost, pathOf("dns-record-sets", id, "check"), nil, opts)
}
