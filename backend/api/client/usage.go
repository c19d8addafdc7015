package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListUsage returns a page of usage: a line for each day and allocation.
func (c *Client) ListUsage(ctx context.Context, f api.UsageFilter) (api.Page[api.UsageLine], error) {
	return list[api.UsageLine](ctx, c, "/usage", f)
}

// AllUsage yields all lines of usage.
func (c *Client) AllUsage(ctx context.Context, f api.UsageFilter) iter.Seq2[api.UsageLine, error] {
	return all(func(cursor string) (api.Page[api.UsageLine], error) {
		f.Cursor = cursor
		return c.ListUsage(ctx, f)
	})
}

// GetStatement returns what an organization used in a month, and what it costs.
func (c *Client) GetStatement(ctx context.Context, f api.StatementFilter) (api.Statement, error) {
	return get[api.Statement](ctx, c, "/statement", queryOf(f))
}

// ListPrices returns all prices.
func (c *Client) ListPrices(ctx context.Context, f api.PriceFilter) (api.Page[api.Price], error) {
	return list[api.Price](ctx, c, "/prices", f)
}

// AllPrices yields all prices.
func (c *Client) AllPrices(ctx context.Context, f api.PriceFilter) iter.Seq2[api.Price, error] {
	return all(func(string) (api.Page[api.Price], error) { return c.ListPrices(ctx, f) })
}

// CreatePrice adds a price.
func (c *Client) CreatePrice(ctx context.Context, in api.CreatePrice, opts ...Option) (api.Price, error) {
	return post[api.Price](ctx, c, "/prices", in, opts)
}

// DeletePrice deletes a price that has not begun.
func (c *Client) DeletePrice(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("prices", id), opts)
}
