package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// CreateSession logs in. No idempotency key goes with it: its answer is a
// secret, which the API must not keep to give it again.
func (c *Client) CreateSession(ctx context.Context, in api.Login) (api.Session, error) {
	s, _, err := send[api.Session](ctx, c, request{method: http.MethodPost, path: "/sessions", body: in, noKey: true})
	return s, err
}

// DeleteSession logs out: it ends the session whose token the client shows.
func (c *Client) DeleteSession(ctx context.Context) error {
	return remove(ctx, c, pathOf("sessions", "current"), nil)
}

// Whoami shows who the bearer is.
func (c *Client) Whoami(ctx context.Context) (api.Whoami, error) {
	return get[api.Whoami](ctx, c, "/whoami", nil)
}

// ListTokens returns one page of the bearer's tokens and sessions.
func (c *Client) ListTokens(ctx context.Context, q api.PageQuery) (api.Page[api.Token], error) {
	return list[api.Token](ctx, c, "/tokens", q)
}

// AllTokens yields the bearer's tokens and sessions of all pages.
func (c *Client) AllTokens(ctx context.Context, q api.PageQuery) iter.Seq2[api.Token, error] {
	return all(func(cursor string) (api.Page[api.Token], error) {
		q.Cursor, q.Limit = cursor, orMax(q.Limit)
		return c.ListTokens(ctx, q)
	})
}

// CreateToken makes an API token; its secret is in the answer and never again.
func (c *Client) CreateToken(ctx context.Context, in api.CreateToken, opts ...Option) (api.Token, error) {
	return post[api.Token](ctx, c, "/tokens", in, opts)
}

// DeleteToken ends a token or session.
func (c *Client) DeleteToken(ctx context.Context, id string) error {
	return remove(ctx, c, pathOf("tokens", id), nil)
}
