package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListReleaseDeliveries returns one page of deliveries of releases.
func (c *Client) ListReleaseDeliveries(ctx context.Context, f api.ReleaseDeliveryFilter) (api.Page[api.ReleaseDelivery], error) {
	return list[api.ReleaseDelivery](ctx, c, "/release-deliveries", f)
}

// AllReleaseDeliveries yields the deliveries of releases of all pages.
func (c *Client) AllReleaseDeliveries(ctx context.Context, f api.ReleaseDeliveryFilter) iter.Seq2[api.ReleaseDelivery, error] {
	return all(func(cursor string) (api.Page[api.ReleaseDelivery], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListReleaseDeliveries(ctx, f)
	})
}

// CreateReleaseDelivery begins a delivery of a release.
func (c *Client) CreateReleaseDelivery(ctx context.Context, in api.CreateReleaseDelivery, opts ...Option) (api.ReleaseDelivery, error) {
	return post[api.ReleaseDelivery](ctx, c, "/release-deliveries", in, opts)
}

// GetReleaseDelivery shows a delivery with its waves, by its id or name.
func (c *Client) GetReleaseDelivery(ctx context.Context, id string) (api.ReleaseDelivery, error) {
	return get[api.ReleaseDelivery](ctx, c, pathOf("release-deliveries", id), nil)
}

// PauseReleaseDelivery tells no further machines.
func (c *Client) PauseReleaseDelivery(ctx context.Context, id string, opts ...Option) (api.ReleaseDelivery, error) {
	return post[api.ReleaseDelivery](ctx, c, pathOf("release-deliveries", id, "pause"), nil, opts)
}

// ResumeReleaseDelivery goes on with a delivery.
func (c *Client) ResumeReleaseDelivery(ctx context.Context, id string, opts ...Option) (api.ReleaseDelivery, error) {
	return post[api.ReleaseDelivery](ctx, c, pathOf("release-deliveries", id, "resume"), nil, opts)
}

// RollBackReleaseDelivery tells each machine that was told to go back.
func (c *Client) RollBackReleaseDelivery(ctx context.Context, id string, opts ...Option) (api.ReleaseDelivery, error) {
	return post[api.ReleaseDelivery](ctx, c, pathOf("release-deliveries", id, "roll-back"), nil, opts)
}

// ListReleaseTargets returns one page of the machines of a delivery of a release.
func (c *Client) ListReleaseTargets(ctx context.Context, f api.ReleaseTargetFilter) (api.Page[api.ReleaseTarget], error) {
	return list[api.ReleaseTarget](ctx, c, "/release-targets", f)
}

// AllReleaseTargets yields the machines of a delivery of a release.
func (c *Client) AllReleaseTargets(ctx context.Context, f api.ReleaseTargetFilter) iter.Seq2[api.ReleaseTarget, error] {
	return all(func(cursor string) (api.Page[api.ReleaseTarget], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListReleaseTargets(ctx, f)
	})
}
