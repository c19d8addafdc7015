package client

import (
	"context"
	"iter"

	"kloigos/backend/api"
)

// ListInvitations returns one page of the open invitations at a scope and below it.
func (c *Client) ListInvitations(ctx context.Context, f api.InvitationFilter) (api.Page[api.Invitation], error) {
	return list[api.Invitation](ctx, c, "/invitations", f)
}

// AllInvitations yields the invitations of all pages.
func (c *Client) AllInvitations(ctx context.Context, f api.InvitationFilter) iter.Seq2[api.Invitation, error] {
	return all(func(cursor string) (api.Page[api.Invitation], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListInvitations(ctx, f)
	})
}

// CreateInvitation invites somebody to a role. Link of the answer is shown once.
func (c *Client) CreateInvitation(ctx context.Context, in api.CreateInvitation, opts ...Option) (api.Invitation, error) {
	return post[api.Invitation](ctx, c, "/invitations", in, opts)
}

// GetInvitation shows an open invitation.
func (c *Client) GetInvitation(ctx context.Context, id string) (api.Invitation, error) {
	return get[api.Invitation](ctx, c, pathOf("invitations", id), nil)
}

// DeleteInvitation withdraws an invitation.
func (c *Client) DeleteInvitation(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("invitations", id), opts)
}

// ShowOfferedRole shows what the link of an invitation gives. It needs no token.
func (c *Client) ShowOfferedRole(ctx context.Context, in api.InvitationLink) (api.OfferedRole, error) {
	return post[api.OfferedRole](ctx, c, "/invitations/show", in, nil)
}

// AcceptInvitation accepts an invitation with the account of the bearer.
func (c *Client) AcceptInvitation(ctx context.Context, in api.InvitationLink, opts ...Option) (api.Grant, error) {
	return post[api.Grant](ctx, c, "/invitations/accept", in, opts)
}

// JoinByInvitation accepts an invitation with a new account. It needs no token.
func (c *Client) JoinByInvitation(ctx context.Context, in api.JoinByInvitation) (api.Joined, error) {
	return post[api.Joined](ctx, c, "/invitations/join", in, nil)
}
