package iamhttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// invitationHandlers answers the routes about invitations.
type invitationHandlers struct{ handlers }

// Permissions on invitations.
const (
	readInvitations   = "organization.invitation:read"
	createInvitations = "organization.invitation:create"
	deleteInvitations = "organization.invitation:delete"
)

func (h invitationHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-invitations", h.listInvitations, httpapi.Sorted(iam.InvitationSorting))
	httpapi.Register(s, "create-invitation", h.createInvitation, httpapi.Created, httpapi.Example(api.CreateInvitation{Person: "bob@example.org", Role: "operator", Scope: "acme/web"}))
	httpapi.Register(s, "get-invitation", h.getInvitation)
	httpapi.Register(s, "delete-invitation", h.deleteInvitation)
	httpapi.Register(s, "show-offered-role", h.showOfferedRole, httpapi.Example(api.InvitationLink{Link: "kli_..."}))
	httpapi.Register(s, "accept-invitation", h.acceptInvitation, httpapi.Example(api.InvitationLink{Link: "kli_..."}))
	httpapi.Register(s, "join-by-invitation", h.joinByInvitation, httpapi.Created, httpapi.Example(api.JoinByInvitation{Link: "kli_...", Name: "bob", Password: "a long new sentence"}))
}

func presentInvitation(i iam.Invitation) api.Invitation {
	return api.Invitation{
		ID: i.ID.String(), Person: i.Person(), Role: i.Role, ScopeKind: i.Scope, ScopeID: i.ScopeID.String(), Scope: i.Path,
		ExpiresAt: i.ExpiresAt, CreatedBy: i.CreatedBy, CreatedAt: i.CreatedAt,
	}
}

func (h invitationHandlers) listInvitations(ctx context.Context, in *struct{ api.InvitationFilter }) (*httpapi.Object[api.Page[api.Invitation]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	named, err := h.theOne(ctx, a, in.Scope)
	if err != nil {
		return nil, err
	}
	at, _, err := h.scopeAt(ctx, a, named, readInvitations)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf(h.server, "list-invitations", in.PageQuery, []string{in.Scope}, iam.InvitationSorting,
		func(after *db.Position, limit int) ([]iam.Invitation, error) {
			return iam.Invitations(ctx, h.server.DB().Reader, at, in.Sort, after, limit)
		},
		presentInvitation)
}

func (h invitationHandlers) createInvitation(ctx context.Context, in *struct{ Body api.CreateInvitation }) (*httpapi.Object[api.Invitation], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	at, ref, err := h.scopeAt(ctx, a, in.Body.Scope, createInvitations)
	if err != nil {
		return nil, err
	}
	link := iam.NewInvitationLink()
	draft := iam.NewInvitation{Person: in.Body.Person, Role: in.Body.Role, Days: in.Body.Days}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.Invite(ctx, tx, h.roles, a.may, ref, at.Kind, draft, link)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		return nil, httpapi.SecretShown("link of invitation", made.Object)
	}
	shown, _, _, err := iam.FindInvitation(ctx, h.server.DB().Reader, a.viewer, made.Object)
	if err != nil {
		return nil, err
	}
	out := presentInvitation(shown)
	out.Link = link
	return &httpapi.Object[api.Invitation]{Body: out}, nil
}

// invitation finds an invitation that the caller sees, and asks for a permission at its scope.
func (h invitationHandlers) invitation(ctx context.Context, text, permission string) (iam.Invitation, scope.Ref[iam.Invitation], error) {
	none := scope.Ref[iam.Invitation]{}
	a, err := h.asker(ctx)
	if err != nil {
		return iam.Invitation{}, none, err
	}
	id, ok := httpapi.ID(text)
	if !ok {
		return iam.Invitation{}, none, fault.ErrNotFound
	}
	found, at, ref, err := iam.FindInvitation(ctx, h.server.DB().Reader, a.viewer, id)
	if err == nil {
		err = a.needs(permission, at)
	}
	return found, ref, err
}

func (h invitationHandlers) getInvitation(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.Invitation], error) {
	found, _, err := h.invitation(ctx, in.ID, readInvitations)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Invitation]{Body: presentInvitation(found)}, nil
}

func (h invitationHandlers) deleteInvitation(ctx context.Context, in *httpapi.ByID) (*httpapi.Nothing, error) {
	_, ref, err := h.invitation(ctx, in.ID, deleteInvitations)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.Withdraw(ctx, tx, ref)
	})
	return nil, err
}

// showOfferedRole is for somebody who has a link, logged in or not.
func (h invitationHandlers) showOfferedRole(ctx context.Context, in *struct{ Body api.InvitationLink }) (*httpapi.Object[api.OfferedRole], error) {
	i, err := iam.InvitationOfLink(ctx, h.server.DB().Reader, in.Body.Link)
	if err != nil {
		return nil, orBadLink(err)
	}
	return &httpapi.Object[api.OfferedRole]{Body: api.OfferedRole{Role: i.Role, Scope: i.Path, Account: i.Account, CreatedBy: i.CreatedBy, ExpiresAt: i.ExpiresAt}}, nil
}

// orBadLink is the one answer to a link that was used, has expired, is none, or was given by somebody who may no longer.
func orBadLink(err error) error {
	if errors.Is(err, fault.ErrNotFound) {
		return badLink()
	}
	return err
}

func (h invitationHandlers) acceptInvitation(ctx context.Context, in *struct{ Body api.InvitationLink }) (*httpapi.Object[api.Grant], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	limit := a.access.Limit()
	if limit.Permissions != nil || limit.Level != "" && limit.Level != scope.Organization {
		return nil, httpapi.Forbidden(iam.Own)
	}
	_, ref, err := h.self(ctx)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (grant uuid.UUID, err error) {
		given, err := iam.AcceptInvitation(ctx, tx, h.roles, ref, limit.ID, in.Body.Link)
		return given.ID, err
	})
	if err != nil {
		return nil, orBadLink(err)
	}
	grant, at, _, err := iam.FindGrant(ctx, h.server.DB().Reader, a.viewer, made.Object)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Grant]{Body: presentGrant(grant, at)}, nil
}

// joinByInvitation is for somebody without an account. What a link is good for is looked at before any password is hashed.
func (h invitationHandlers) joinByInvitation(ctx context.Context, in *struct{ Body api.JoinByInvitation }) (*httpapi.Object[api.Joined], error) {
	offered, err := iam.InvitationOfLink(ctx, h.server.DB().Reader, in.Body.Link)
	if err != nil {
		return nil, orBadLink(err)
	}
	if err := iam.CheckJoin(in.Body.Name, in.Body.Password); err != nil {
		return nil, err
	}
	hash, err := h.server.HashPassword(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	var joined bool
	// The name is only asked for: it may be somebody else's, so the events do not call the actor so.
	err = h.Engine.Do(ctx, h.strangersCall(ctx, uuid.Nil, "invited by "+offered.CreatedBy), func(tx *intent.Tx) (err error) {
		joined, err = iam.JoinByInvitation(ctx, tx, h.roles, in.Body.Link, in.Body.Name, hash)
		return err
	})
	if err != nil {
		return nil, orBadLink(err)
	}
	if !joined {
		return nil, httpapi.BadField("name", "This name can't be used. Choose another one, or log in first if it is yours.")
	}
	return &httpapi.Object[api.Joined]{Body: api.Joined{Account: in.Body.Name, Role: offered.Role, Scope: offered.Path}}, nil
}
