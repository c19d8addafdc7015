package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListDrifts returns one page of what is not as promised.
func (c *Client) ListDrifts(ctx context.Context, f api.DriftFilter) (api.Page[api.Drift], error) {
	return list[api.Drift](ctx, c, "/drifts", f)
}

// AllDrifts yields the drifts of all pages.
func (c *Client) AllDrifts(ctx context.Context, f api.DriftFilter) iter.Seq2[api.Drift, error] {
	return all(func(cursor string) (api.Page[api.Drift], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListDrifts(ctx, f)
	})
}

// GetDrift shows a drift.
func (c *Client) GetDrift(ctx context.Context, id string) (api.Drift, error) {
	return get[api.Drift](ctx, c, pathOf("drifts", id), nil)
}

// AcceptDrift accepts a drift until a time.
func (c *Client) AcceptDrift(ctx context.Context, id string, body api.AcceptDrift, opts ...Option) (api.Drift, error) {
	return post[api.Drift](ctx, c, pathOf("drifts", id, "accept"), body, opts)
}

// RepairDrift runs the job that puts a drift right.
func (c *Client) RepairDrift(ctx context.Context, id string, opts ...Option) (d api.Drift, jobID string, err error) {
	return long[api.Drift](ctx, c, http.MethodPost, pathOf("drifts", id, "repair"), nil, opts)
}

// ListDriftModes returns what is done about drift.
func (c *Client) ListDriftModes(ctx context.Context, f api.DriftModeFilter) (api.Page[api.DriftMode], error) {
	return list[api.DriftMode](ctx, c, "/drift-modes", f)
}

// AllDriftModes yields what is done about drift.
func (c *Client) AllDriftModes(ctx context.Context, f api.DriftModeFilter) iter.Seq2[api.DriftMode, error] {
	return all(func(string) (api.Page[api.DriftMode], error) { return c.ListDriftModes(ctx, f) })
}

// SetDriftMode says what is done about drift.
func (c *Client) SetDriftMode(ctx context.Context, body api.SetDriftMode, opts ...Option) (api.DriftMode, error) {
	return post[api.DriftMode](ctx, c, "/drift-modes", body, opts)
}
