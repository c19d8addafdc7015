package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListAgents returns one page of agents.
func (c *Client) ListAgents(ctx context.Context, f api.AgentFilter) (api.Page[api.Agent], error) {
	return list[api.Agent](ctx, c, "/agents", f)
}

// AllAgents yields the agents of all pages.
func (c *Client) AllAgents(ctx context.Context, f api.AgentFilter) iter.Seq2[api.Agent, error] {
	return all(func(cursor string) (api.Page[api.Agent], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListAgents(ctx, f)
	})
}

// GetAgent shows an agent with its last report.
func (c *Client) GetAgent(ctx context.Context, id string) (api.Agent, error) {
	return get[api.Agent](ctx, c, pathOf("agents", id), nil)
}

// CreateAgentToken makes a token that enrols the agent of a host.
func (c *Client) CreateAgentToken(ctx context.Context, in api.CreateAgentToken, opts ...Option) (api.AgentToken, error) {
	return post[api.AgentToken](ctx, c, "/agent-tokens", in, opts)
}

// RevokeAgent refuses the credential of an agent from now on.
func (c *Client) RevokeAgent(ctx context.Context, id string, opts ...Option) (api.Agent, error) {
	return post[api.Agent](ctx, c, pathOf("agents", id, "revoke"), nil, opts)
}

// QuarantineAgent takes an agent out of use until it is released.
func (c *Client) QuarantineAgent(ctx context.Context, id string, body api.QuarantineAgent, opts ...Option) (api.Agent, error) {
	return post[api.Agent](ctx, c, pathOf("agents", id, "quarantine"), body, opts)
}

// ReleaseAgent releases an agent from quarantine.
func (c *Client) ReleaseAgent(ctx context.Context, id string, opts ...Option) (api.Agent, error) {
	return post[api.Agent](ctx, c, pathOf("agents", id, "release"), nil, opts)
}
