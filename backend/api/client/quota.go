package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListQuotas returns the quotas of a scope and of what is in it.
func (c *Client) ListQuotas(ctx context.Context, f api.QuotaFilter) (api.Page[api.Quota], error) {
	return list[api.Quota](ctx, c, "/quotas", f)
}

// AllQuotas yields the quotas of a scope and of what is in it.
func (c *Client) AllQuotas(ctx context.Context, f api.QuotaFilter) iter.Seq2[api.Quota, error] {
	return all(func(string) (api.Page[api.Quota], error) { return c.ListQuotas(ctx, f) })
}

// SetQuota limits a resource in a scope.
func (c *Client) SetQuota(ctx context.Context, in api.SetQuota, opts ...Option) (api.Quota, error) {
	return post[api.Quota](ctx, c, "/quotas", in, opts)
}

// RemoveQuota takes a limit away.
func (c *Client) RemoveQuota(ctx context.Context, in api.QuotaOf, opts ...Option) (struct{}, error) {
	return post[struct{}](ctx, c, "/quotas/remove", in, opts)
}
