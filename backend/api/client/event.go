package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListEvents returns one page of audit events, newest first.
func (c *Client) ListEvents(ctx context.Context, f api.EventFilter) (api.Page[api.Event], error) {
	return list[api.Event](ctx, c, "/events", f)
}

// AllEvents yields the audit events of all pages.
func (c *Client) AllEvents(ctx context.Context, f api.EventFilter) iter.Seq2[api.Event, error] {
	return all(func(cursor string) (api.Page[api.Event], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListEvents(ctx, f)
	})
}

// ListOrganizationEvents returns one page of the audit events of the organization that
// the client's workspace is in.
func (c *Client) ListOrganizationEvents(ctx context.Context, f api.EventFilter) (api.Page[api.Event], error) {
	return list[api.Event](ctx, c, "/organization-events", f)
}

// AllOrganizationEvents yields the events of all pages.
func (c *Client) AllOrganizationEvents(ctx context.Context, f api.EventFilter) iter.Seq2[api.Event, error] {
	return all(func(cursor string) (api.Page[api.Event], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListOrganizationEvents(ctx, f)
	})
}

// ListInstallationEvents returns one page of the audit events of what is in no
// organization.
func (c *Client) ListInstallationEvents(ctx context.Context, f api.EventFilter) (api.Page[api.Event], error) {
	return list[api.Event](ctx, c, "/installation-events", f)
}

// AllInstallationEvents yields the events of all pages.
func (c *Client) AllInstallationEvents(ctx context.Context, f api.EventFilter) iter.Seq2[api.Event, error] {
	return all(func(cursor string) (api.Page[api.Event], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListInstallationEvents(ctx, f)
	})
}

// GetSystem shows backends, database and the key for hosts.
func (c *Client) GetSystem(ctx context.Context) (api.System, error) {
	return get[api.System](ctx, c, "/system", nil)
}
