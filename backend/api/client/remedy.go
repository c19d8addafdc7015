package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListRemedies returns one page of remedies.
func (c *Client) ListRemedies(ctx context.Context, f api.RemedyFilter) (api.Page[api.Remedy], error) {
	return list[api.Remedy](ctx, c, "/remedies", f)
}

// AllRemedies yields the remedies of all pages.
func (c *Client) AllRemedies(ctx context.Context, f api.RemedyFilter) iter.Seq2[api.Remedy, error] {
	return all(func(cursor string) (api.Page[api.Remedy], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListRemedies(ctx, f)
	})
}

// CreateRemedy adds a remedy.
func (c *Client) CreateRemedy(ctx context.Context, in api.CreateRemedy, opts ...Option) (api.Remedy, error) {
	return post[api.Remedy](ctx, c, "/remedies", in, opts)
}

// GetRemedy shows a remedy, by its id or name.
func (c *Client) GetRemedy(ctx context.Context, id string) (api.Remedy, error) {
	return get[api.Remedy](ctx, c, pathOf("remedies", id), nil)
}

// ChangeRemedy changes a remedy.
func (c *Client) ChangeRemedy(ctx context.Context, id string, body api.ChangeRemedy, opts ...Option) (api.Remedy, error) {
	return patch[api.Remedy](ctx, c, pathOf("remedies", id), body, opts)
}

// DeleteRemedy deletes a remedy.
func (c *Client) DeleteRemedy(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("remedies", id), opts)
}

// ListRemedyRuns returns one page of what remedies did, newest first.
func (c *Client) ListRemedyRuns(ctx context.Context, f api.RemedyRunFilter) (api.Page[api.RemedyRun], error) {
	return list[api.RemedyRun](ctx, c, "/remedy-runs", f)
}

// AllRemedyRuns yields the runs of all pages.
func (c *Client) AllRemedyRuns(ctx context.Context, f api.RemedyRunFilter) iter.Seq2[api.RemedyRun, error] {
	return all(func(cursor string) (api.Page[api.RemedyRun], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListRemedyRuns(ctx, f)
	})
}
