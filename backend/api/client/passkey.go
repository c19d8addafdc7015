package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListPasskeys returns the passkeys of the bearer's account.
func (c *Client) ListPasskeys(ctx context.Context) (api.Page[api.Passkey], error) {
	return get[api.Page[api.Passkey]](ctx, c, "/passkeys", nil)
}

// AllPasskeys yields the passkeys of the bearer's account.
func (c *Client) AllPasskeys(ctx context.Context, _ struct{}) iter.Seq2[api.Passkey, error] {
	return all(func(string) (api.Page[api.Passkey], error) { return c.ListPasskeys(ctx) })
}

// BeginPasskey asks for a challenge for a new passkey.
func (c *Client) BeginPasskey(ctx context.Context, in api.ProvePassword) (api.PasskeyChallenge, error) {
	return once[api.PasskeyChallenge](ctx, c, "/passkeys/challenge", in)
}

// CreatePasskey adds the passkey that a device made for a challenge.
func (c *Client) CreatePasskey(ctx context.Context, in api.CreatePasskey, opts ...Option) (api.Passkey, error) {
	return post[api.Passkey](ctx, c, "/passkeys", in, opts)
}

// DeletePasskey removes a passkey of the bearer's account.
func (c *Client) DeletePasskey(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("passkeys", id), opts)
}

// BeginPasskeyLogin asks for a challenge to log in with. It needs no token.
func (c *Client) BeginPasskeyLogin(ctx context.Context) (api.PasskeyChallenge, error) {
	return once[api.PasskeyChallenge](ctx, c, "/sessions/passkey/challenge", nil)
}

// CreatePasskeySession logs in with what a device answered. It needs no token.
func (c *Client) CreatePasskeySession(ctx context.Context, in api.PasskeyLogin) (api.Session, error) {
	return once[api.Session](ctx, c, "/sessions/passkey", in)
}
