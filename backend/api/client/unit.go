package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListComputeUnits returns one page of compute units.
func (c *Client) ListComputeUnits(ctx context.Context, f api.UnitFilter) (api.Page[api.ComputeUnit], error) {
	return list[api.ComputeUnit](ctx, c, "/compute-units", f)
}

// AllComputeUnits yields the compute units of all pages.
func (c *Client) AllComputeUnits(ctx context.Context, f api.UnitFilter) iter.Seq2[api.ComputeUnit, error] {
	return all(func(cursor string) (api.Page[api.ComputeUnit], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListComputeUnits(ctx, f)
	})
}

// GetComputeUnit shows a compute unit, by id or name.
func (c *Client) GetComputeUnit(ctx context.Context, id string) (api.ComputeUnit, error) {
	return get[api.ComputeUnit](ctx, c, pathOf("compute-units", id), nil)
}

// CloseComputeUnit keeps a free unit from being allocated.
func (c *Client) CloseComputeUnit(ctx context.Context, id string, opts ...Option) (api.ComputeUnit, error) {
	return post[api.ComputeUnit](ctx, c, pathOf("compute-units", id, "close"), nil, opts)
}

// OpenComputeUnit lets a closed unit be allocated.
func (c *Client) OpenComputeUnit(ctx context.Context, id string, opts ...Option) (api.ComputeUnit, error) {
	return post[api.ComputeUnit](ctx, c, pathOf("compute-units", id, "open"), nil, opts)
}
