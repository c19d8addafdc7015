package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListEventStreams returns the event streams of an organization.
func (c *Client) ListEventStreams(ctx context.Context, f api.EventStreamFilter) (api.Page[api.EventStream], error) {
	return list[api.EventStream](ctx, c, "/event-streams", f)
}

// AllEventStreams yields the event streams of an organization.
func (c *Client) AllEventStreams(ctx context.Context, f api.EventStreamFilter) iter.Seq2[api.EventStream, error] {
	return all(func(string) (api.Page[api.EventStream], error) { return c.ListEventStreams(ctx, f) })
}

// CreateEventStream makes an event stream of an organization.
func (c *Client) CreateEventStream(ctx context.Context, in api.CreateEventStream, opts ...Option) (api.EventStream, error) {
	return post[api.EventStream](ctx, c, "/event-streams", in, opts)
}

// GetEventStream shows an event stream of an organization, by its id.
func (c *Client) GetEventStream(ctx context.Context, id string) (api.EventStream, error) {
	return get[api.EventStream](ctx, c, pathOf("event-streams", id), nil)
}

// ChangeEventStream changes or disables an event stream of an organization.
func (c *Client) ChangeEventStream(ctx context.Context, id string, body api.ChangeEventStream, opts ...Option) (api.EventStream, error) {
	return patch[api.EventStream](ctx, c, pathOf("event-streams", id), body, opts)
}

// DeleteEventStream deletes an event stream of an organization.
func (c *Client) DeleteEventStream(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("event-streams", id), opts)
}

// ListInstallationStreams returns the event streams of the installation.
func (c *Client) ListInstallationStreams(ctx context.Context) (api.Page[api.EventStream], error) {
	return get[api.Page[api.EventStream]](ctx, c, "/installation/event-streams", nil)
}

// AllInstallationStreams yields the event streams of the installation.
func (c *Client) AllInstallationStreams(ctx context.Context, _ struct{}) iter.Seq2[api.EventStream, error] {
	return all(func(string) (api.Page[api.EventStream], error) { return c.ListInstallationStreams(ctx) })
}

// CreateInstallationStream makes an event stream of the installation.
func (c *Client) CreateInstallationStream(ctx context.Context, in api.CreateInstallationStream, opts ...Option) (api.EventStream, error) {
	return post[api.EventStream](ctx, c, "/installation/event-streams", in, opts)
}

// GetInstallationStream shows an event stream of the installation, by its id or name.
func (c *Client) GetInstallationStream(ctx context.Context, id string) (api.EventStream, error) {
	return get[api.EventStream](ctx, c, pathOf("installation", "event-streams", id), nil)
}

// ChangeInstallationStream changes or disables an event stream of the installation.
func (c *Client) ChangeInstallationStream(ctx context.Context, id string, body api.ChangeEventStream, opts ...Option) (api.EventStream, error) {
	return patch[api.EventStream](ctx, c, pathOf("installation", "event-streams", id), body, opts)
}

// DeleteInstallationStream deletes an event stream of the installation.
func (c *Client) DeleteInstallationStream(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("installation", "event-streams", id), opts)
}
