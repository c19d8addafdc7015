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

// grantHandlers answers the routes about grants.
type grantHandlers struct{ handlers }

// Permissions on grants, and on accounts that are unknown in an organization.
const (
	readMembers  = "organization.member:read"
	grantMembers = "organization.member:grant"
	readAccounts = "installation.account:read"
)

func (h grantHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-grants", h.listGrants, httpapi.Sorted(iam.GrantSorting))
	httpapi.Register(s, "create-grant", h.createGrant, httpapi.Created, httpapi.Example(api.CreateGrant{Account: "ada", Role: "operator", Scope: "acme/web"}))
	httpapi.Register(s, "get-grant", h.getGrant)
	httpapi.Register(s, "delete-grant", h.deleteGrant)
}

// scopeAt finds a scope that a field names, and asks for a permission there.
func (h handlers) scopeAt(ctx context.Context, a asker, text, permission string) (iam.Scope, scope.Ref[iam.Scope], error) {
	at, ref, err := iam.FindScope(ctx, h.server.DB().Reader, a.viewer, text)
	if err != nil {
		return iam.Scope{}, scope.Ref[iam.Scope]{}, filterOf("scope", err)
	}
	return at, ref, a.needs(permission, at)
}

// theOne is the organization that is meant where a request names no scope: the only one that the caller sees.
func (h handlers) theOne(ctx context.Context, a asker, text string) (string, error) {
	if text != "" {
		return text, nil
	}
	seen, err := iam.Organizations.List(ctx, h.server.DB().Reader, a.viewer, iam.ScopeFilter{Limit: 2})
	if err != nil {
		return "", err
	}
	if len(seen) != 1 {
		return "", httpapi.BadField("scope", "Name a scope: you do not see exactly one organization.")
	}
	return seen[0].ID.String(), nil
}

// accountFor finds the account that a field names. An organization knows its own; who may see all accounts knows them all.
func (h grantHandlers) accountFor(ctx context.Context, a asker, at iam.Scope, text string) (iam.Account, error) {
	within := at.OrganizationID
	if a.access.At(readAccounts, scope.Place{}) {
		within = uuid.Nil
	}
	account, err := iam.FindAccount(ctx, h.server.DB().Reader, within, text)
	if errors.Is(err, fault.ErrNotFound) {
		return iam.Account{}, httpapi.BadField("account", "The organization has no such account. Invite a person first.")
	}
	return account, err
}

func (h grantHandlers) listGrants(ctx context.Context, in *struct{ api.GrantFilter }) (*httpapi.Object[api.Page[api.Grant]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	named, err := h.theOne(ctx, a, in.Scope)
	if err != nil {
		return nil, err
	}
	at, _, err := h.scopeAt(ctx, a, named, readMembers)
	if err != nil {
		return nil, err
	}
	f := iam.GrantFilter{At: at, Sort: in.Sort}
	if in.Account != "" {
		account, err := h.accountFor(ctx, a, at, in.Account)
		if err != nil {
			return nil, err
		}
		f.Account = account.ID
	}
	return httpapi.PageOf(h.server, "list-grants", in.PageQuery, []string{in.Scope, in.Account}, iam.GrantSorting,
		func(after *db.Position, limit int) ([]iam.Grant, error) {
			f.After, f.Limit = after, limit
			return iam.Grants(ctx, h.server.DB().Reader, f)
		},
		func(g iam.Grant) api.Grant { return presentGrant(g, at) })
}

func (h grantHandlers) createGrant(ctx context.Context, in *struct{ Body api.CreateGrant }) (*httpapi.Object[api.Grant], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	at, ref, err := h.scopeAt(ctx, a, in.Body.Scope, grantMembers)
	if err != nil {
		return nil, err
	}
	account, err := h.accountFor(ctx, a, at, in.Body.Account)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		grant, err := iam.GiveRole(ctx, tx, h.roles, a.may, ref, at.Kind, account, in.Body.Role)
		return grant.ID, err
	})
	if err != nil {
		return nil, err
	}
	grant, at, _, err := iam.FindGrant(ctx, h.server.DB().Reader, a.viewer, made.Object)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Grant]{Body: presentGrant(grant, at)}, nil
}

// grant finds a grant that the caller sees, and asks for a permission unless it is the caller's own.
func (h grantHandlers) grant(ctx context.Context, a asker, text, permission string) (iam.Grant, iam.Scope, scope.Ref[iam.Grant], error) {
	id, ok := httpapi.ID(text)
	if !ok {
		return iam.Grant{}, iam.Scope{}, scope.Ref[iam.Grant]{}, fault.ErrNotFound
	}
	grant, at, ref, err := iam.FindGrant(ctx, h.server.DB().Reader, a.viewer, id)
	if err == nil && (grant.AccountID != a.viewer.Account || a.narrowed()) {
		err = a.needs(permission, at)
	}
	return grant, at, ref, err
}

func (h grantHandlers) getGrant(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.Grant], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	grant, at, _, err := h.grant(ctx, a, in.ID, readMembers)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Grant]{Body: presentGrant(grant, at)}, nil
}

func (h grantHandlers) deleteGrant(ctx context.Context, in *httpapi.ByID) (*httpapi.Nothing, error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	_, _, ref, err := h.grant(ctx, a, in.ID, grantMembers)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.TakeRole(ctx, tx, h.roles, a.may, ref, a.viewer.Account)
	})
	return nil, err
}

// presentGrant is a grant as it reaches a scope.
func presentGrant(g iam.Grant, at iam.Scope) api.Grant {
	out := api.Grant{
		ID: g.ID.String(), AccountID: g.AccountID.String(), Account: g.Account, AccountKind: g.AccountKind, AccountState: g.AccountState, Role: g.Role,
		ScopeKind: g.Scope, ScopeID: g.ScopeID.String(), Scope: at.Path(), Inherited: g.ScopeID != at.ID, Source: g.Source,
		CreatedBy: g.CreatedBy, CreatedAt: g.CreatedAt,
	}
	switch g.Scope {
	case iam.OrganizationNoun:
		out.Scope = at.OrganizationName
	case iam.ProjectNoun:
		out.Scope = at.OrganizationName + "/" + at.ProjectName
	}
	return out
}
