package client

import (
	"context"
	"iter"
	"net/http"
	"strconv"

	"kloigos/backend/api"
)

// maxPage is the largest page that the API gives.
const maxPage = 500

// ListHosts returns one page of hosts.
func (c *Client) ListHosts(ctx context.Context, f api.HostFilter) (api.Page[api.Host], error) {
	return list[api.Host](ctx, c, "/hosts", f)
}

// AllHosts yields the hosts of all pages.
func (c *Client) AllHosts(ctx context.Context, f api.HostFilter) iter.Seq2[api.Host, error] {
	return all(func(cursor string) (api.Page[api.Host], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListHosts(ctx, f)
	})
}

func orMax(limit int) int {
	if limit == 0 {
		return maxPage
	}
	return limit
}

// RegisterHost registers a host; the job probes it.
func (c *Client) RegisterHost(ctx context.Context, in api.RegisterHost, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, "/hosts", in, opts)
}

// GetHost shows a host, by id or name.
func (c *Client) GetHost(ctx context.Context, id string) (api.Host, error) {
	return get[api.Host](ctx, c, pathOf("hosts", id), nil)
}

// UpdateHost changes what is given of it; the job probes it at a new address, and
// is "" for another change.
func (c *Client) UpdateHost(ctx context.Context, id string, body api.UpdateHost, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPatch, pathOf("hosts", id), body, opts)
}

// ProbeHost reads its facts again.
func (c *Client) ProbeHost(ctx context.Context, id string, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "probe"), nil, opts)
}

// ProbeHosts reads the facts of several hosts again, by one job.
func (c *Client) ProbeHosts(ctx context.Context, body api.ProbeHosts, opts ...Option) (j api.Job, jobID string, err error) {
	return long[api.Job](ctx, c, http.MethodPost, "/hosts/probe", body, opts)
}

// MeasureHost measures what its tenants use, a number of times.
func (c *Client) MeasureHost(ctx context.Context, id string, samples int, opts ...Option) (h api.Host, jobID string, err error) {
	opts = append([]Option{func(r *request) { r.ask("samples", strconv.Itoa(samples)) }}, opts...)
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "measure"), nil, opts)
}

// ConfirmHostKey confirms the SSH host key that it offers; the job probes it.
func (c *Client) ConfirmHostKey(ctx context.Context, id string, body api.ConfirmHostKey, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "host-key"), body, opts)
}

// SetLayout sets how it is cut into units.
func (c *Client) SetLayout(ctx context.Context, id string, body api.SetLayout, opts ...Option) (api.Host, error) {
	return put[api.Host](ctx, c, pathOf("hosts", id, "layout"), body, opts)
}

// PreviewLayout computes a layout without setting it.
func (c *Client) PreviewLayout(ctx context.Context, id string, body api.SetLayout) (api.Layout, error) {
	return post[api.Layout](ctx, c, pathOf("hosts", id, "layout", "preview"), body, nil)
}

// RelayoutHost lays its free part out anew; units in use stay as they are.
func (c *Client) RelayoutHost(ctx context.Context, id string, body api.SetLayout, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "relayout"), body, opts)
}

// InitializeHost prepares it and its units.
func (c *Client) InitializeHost(ctx context.Context, id string, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "initialize"), nil, opts)
}

// RefenceHost initializes it, replacing another incarnation in its fence.
func (c *Client) RefenceHost(ctx context.Context, id string, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "refence"), nil, opts)
}

// DrainHost makes it take no new allocations.
func (c *Client) DrainHost(ctx context.Context, id string, opts ...Option) (api.Host, error) {
	return post[api.Host](ctx, c, pathOf("hosts", id, "drain"), nil, opts)
}

// UndrainHost makes it take allocations again.
func (c *Client) UndrainHost(ctx context.Context, id string, opts ...Option) (api.Host, error) {
	return post[api.Host](ctx, c, pathOf("hosts", id, "undrain"), nil, opts)
}

// DecommissionHost removes everything of Kloigos from it.
func (c *Client) DecommissionHost(ctx context.Context, id string, opts ...Option) (h api.Host, jobID string, err error) {
	return long[api.Host](ctx, c, http.MethodPost, pathOf("hosts", id, "decommission"), nil, opts)
}

// DeclareHostLost declares it gone for good.
func (c *Client) DeclareHostLost(ctx context.Context, id string, body api.DeclareLost, opts ...Option) (api.Host, error) {
	return post[api.Host](ctx, c, pathOf("hosts", id, "declare-lost"), body, opts)
}

// RemoveHost takes it out of the lists.
func (c *Client) RemoveHost(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("hosts", id), opts)
}
