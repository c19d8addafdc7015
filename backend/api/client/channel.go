package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListChannels returns one page of channels.
func (c *Client) ListChannels(ctx context.Context, f api.ChannelFilter) (api.Page[api.Channel], error) {
	return list[api.Channel](ctx, c, "/channels", f)
}

// AllChannels yields the channels of all pages.
func (c *Client) AllChannels(ctx context.Context, f api.ChannelFilter) iter.Seq2[api.Channel, error] {
	return all(func(cursor string) (api.Page[api.Channel], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListChannels(ctx, f)
	})
}

// CreateChannel adds a channel.
func (c *Client) CreateChannel(ctx context.Context, in api.CreateChannel, opts ...Option) (api.Channel, error) {
	return post[api.Channel](ctx, c, "/channels", in, opts)
}

// GetChannel shows a channel, by its id or name.
func (c *Client) GetChannel(ctx context.Context, id string) (api.Channel, error) {
	return get[api.Channel](ctx, c, pathOf("channels", id), nil)
}

// ChangeChannel changes settings of a channel.
func (c *Client) ChangeChannel(ctx context.Context, id string, body api.ChangeChannel, opts ...Option) (api.Channel, error) {
	return patch[api.Channel](ctx, c, pathOf("channels", id), body, opts)
}

// DeleteChannel deletes a channel.
func (c *Client) DeleteChannel(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("channels", id), opts)
}

// TestChannel delivers a test message.
func (c *Client) TestChannel(ctx context.Context, id string, opts ...Option) (ch api.Channel, jobID string, err error) {
	return long[api.Channel](ctx, c, http.MethodPost, pathOf("channels", id, "test"), nil, opts)
}

// AddChannelSecret adds a secret that messages are signed with.
func (c *Client) AddChannelSecret(ctx context.Context, id string, body api.AddChannelSecret, opts ...Option) (api.Channel, error) {
	return post[api.Channel](ctx, c, pathOf("channels", id, "add-secret"), body, opts)
}

// RemoveChannelSecret removes a secret.
func (c *Client) RemoveChannelSecret(ctx context.Context, id string, body api.RemoveChannelSecret, opts ...Option) (api.Channel, error) {
	return post[api.Channel](ctx, c, pathOf("channels", id, "remove-secret"), body, opts)
}

// ListChannelDeliveries returns one page of deliveries.
func (c *Client) ListChannelDeliveries(ctx context.Context, f api.ChannelDeliveryFilter) (api.Page[api.ChannelDelivery], error) {
	return list[api.ChannelDelivery](ctx, c, "/channel-deliveries", f)
}

// AllChannelDeliveries yields the deliveries of all pages.
func (c *Client) AllChannelDeliveries(ctx context.Context, f api.ChannelDeliveryFilter) iter.Seq2[api.ChannelDelivery, error] {
	return all(func(cursor string) (api.Page[api.ChannelDelivery], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListChannelDeliveries(ctx, f)
	})
}
