package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListUpdateDeliveries returns one page of deliveries.
func (c *Client) ListUpdateDeliveries(ctx context.Context, f api.UpdateDeliveryFilter) (api.Page[api.UpdateDelivery], error) {
	return list[api.UpdateDelivery](ctx, c, "/update-deliveries", f)
}

// AllUpdateDeliveries yields the deliveries of all pages.
func (c *Client) AllUpdateDeliveries(ctx context.Context, f api.UpdateDeliveryFilter) iter.Seq2[api.UpdateDelivery, error] {
	return all(func(cursor string) (api.Page[api.UpdateDelivery], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListUpdateDeliveries(ctx, f)
	})
}

// CreateUpdateDelivery begins a delivery.
func (c *Client) CreateUpdateDelivery(ctx context.Context, in api.CreateUpdateDelivery, opts ...Option) (api.UpdateDelivery, error) {
	return post[api.UpdateDelivery](ctx, c, "/update-deliveries", in, opts)
}

// GetUpdateDelivery shows a delivery with its waves, by its id or name.
func (c *Client) GetUpdateDelivery(ctx context.Context, id string) (api.UpdateDelivery, error) {
	return get[api.UpdateDelivery](ctx, c, pathOf("update-deliveries", id), nil)
}

// PauseUpdateDelivery tells no further hosts.
func (c *Client) PauseUpdateDelivery(ctx context.Context, id string, opts ...Option) (api.UpdateDelivery, error) {
	return post[api.UpdateDelivery](ctx, c, pathOf("update-deliveries", id, "pause"), nil, opts)
}

// ResumeUpdateDelivery goes on with a delivery.
func (c *Client) ResumeUpdateDelivery(ctx context.Context, id string, opts ...Option) (api.UpdateDelivery, error) {
	return post[api.UpdateDelivery](ctx, c, pathOf("update-deliveries", id, "resume"), nil, opts)
}

// RollBackUpdateDelivery sends hosts back to the version before.
func (c *Client) RollBackUpdateDelivery(ctx context.Context, id string, opts ...Option) (api.UpdateDelivery, error) {
	return post[api.UpdateDelivery](ctx, c, pathOf("update-deliveries", id, "roll-back"), nil, opts)
}

// ListDeliveryTargets returns one page of the hosts of a delivery.
func (c *Client) ListDeliveryTargets(ctx context.Context, f api.DeliveryTargetFilter) (api.Page[api.DeliveryTarget], error) {
	return list[api.DeliveryTarget](ctx, c, "/delivery-targets", f)
}

// AllDeliveryTargets yields the hosts of a delivery.
func (c *Client) AllDeliveryTargets(ctx context.Context, f api.DeliveryTargetFilter) iter.Seq2[api.DeliveryTarget, error] {
	return all(func(cursor string) (api.Page[api.DeliveryTarget], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListDeliveryTargets(ctx, f)
	})
}

// ListAgentBuilds returns one page of builds of the agent.
func (c *Client) ListAgentBuilds(ctx context.Context, f api.AgentBuildFilter) (api.Page[api.AgentBuild], error) {
	return list[api.AgentBuild](ctx, c, "/agent-builds", f)
}

// AllAgentBuilds yields the builds of all pages.
func (c *Client) AllAgentBuilds(ctx context.Context, f api.AgentBuildFilter) iter.Seq2[api.AgentBuild, error] {
	return all(func(cursor string) (api.Page[api.AgentBuild], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListAgentBuilds(ctx, f)
	})
}
