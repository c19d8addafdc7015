package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListPlaybookDeliveries returns one page of deliveries of playbooks.
func (c *Client) ListPlaybookDeliveries(ctx context.Context, f api.PlaybookDeliveryFilter) (api.Page[api.PlaybookDelivery], error) {
	return list[api.PlaybookDelivery](ctx, c, "/playbook-deliveries", f)
}

// AllPlaybookDeliveries yields the deliveries of playbooks of all pages.
func (c *Client) AllPlaybookDeliveries(ctx context.Context, f api.PlaybookDeliveryFilter) iter.Seq2[api.PlaybookDelivery, error] {
	return all(func(cursor string) (api.Page[api.PlaybookDelivery], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListPlaybookDeliveries(ctx, f)
	})
}

// CreatePlaybookDelivery begins a delivery of a playbook.
func (c *Client) CreatePlaybookDelivery(ctx context.Context, in api.CreatePlaybookDelivery, opts ...Option) (api.PlaybookDelivery, error) {
	return post[api.PlaybookDelivery](ctx, c, "/playbook-deliveries", in, opts)
}

// GetPlaybookDelivery shows a delivery with its waves, by its id or name.
func (c *Client) GetPlaybookDelivery(ctx context.Context, id string) (api.PlaybookDelivery, error) {
	return get[api.PlaybookDelivery](ctx, c, pathOf("playbook-deliveries", id), nil)
}

// PausePlaybookDelivery gives the version to no further hosts.
func (c *Client) PausePlaybookDelivery(ctx context.Context, id string, opts ...Option) (api.PlaybookDelivery, error) {
	return post[api.PlaybookDelivery](ctx, c, pathOf("playbook-deliveries", id, "pause"), nil, opts)
}

// ResumePlaybookDelivery goes on with a delivery.
func (c *Client) ResumePlaybookDelivery(ctx context.Context, id string, opts ...Option) (api.PlaybookDelivery, error) {
	return post[api.PlaybookDelivery](ctx, c, pathOf("playbook-deliveries", id, "resume"), nil, opts)
}

// RollBackPlaybookDelivery binds the jobs of all hosts to the default again.
func (c *Client) RollBackPlaybookDelivery(ctx context.Context, id string, opts ...Option) (api.PlaybookDelivery, error) {
	return post[api.PlaybookDelivery](ctx, c, pathOf("playbook-deliveries", id, "roll-back"), nil, opts)
}

// ListPlaybookDeliveryTargets returns one page of the hosts of a delivery of a playbook.
func (c *Client) ListPlaybookDeliveryTargets(ctx context.Context, f api.PlaybookDeliveryTargetFilter) (api.Page[api.DeliveryTarget], error) {
	return list[api.DeliveryTarget](ctx, c, "/playbook-delivery-targets", f)
}

// AllPlaybookDeliveryTargets yields the hosts of a delivery of a playbook.
func (c *Client) AllPlaybookDeliveryTargets(ctx context.Context, f api.PlaybookDeliveryTargetFilter) iter.Seq2[api.DeliveryTarget, error] {
	return all(func(cursor string) (api.Page[api.DeliveryTarget], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListPlaybookDeliveryTargets(ctx, f)
	})
}
