package client

import (
	"context"

	"kloigos/backend/api"
)

// GetQueue shows how the queue of jobs stands.
func (c *Client) GetQueue(ctx context.Context) (api.Queue, error) {
	return get[api.Queue](ctx, c, "/queue", nil)
}

// PauseQueue keeps all backends from beginning queued jobs.
func (c *Client) PauseQueue(ctx context.Context, in api.PauseQueue, opts ...Option) (api.Queue, error) {
	return post[api.Queue](ctx, c, "/queue/pause", in, opts)
}

// ResumeQueue lets jobs be begun again.
func (c *Client) ResumeQueue(ctx context.Context, opts ...Option) (api.Queue, error) {
	return post[api.Queue](ctx, c, "/queue/resume", nil, opts)
}
