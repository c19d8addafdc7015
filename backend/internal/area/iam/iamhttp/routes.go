// Package iamhttp owns the routes of organizations, projects, workspaces, accounts, roles, grants, keys and identity providers: it decodes, looks
// up what the caller sees, asks for the permission at the place of the object, calls an intent and presents what came of it.
//
// It refuses rules: what a name, a state or a role allows is for package iam.
package iamhttp

import (
	"context"
	"errors"
	"net/url"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamoidc"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

// Parts is what the routes are made with.
type Parts struct {
	Engine  intent.Engine
	Keys    *secret.Keyset
	Release string // version of this backend
	// Providers asks identity providers, and Web is where they send browsers back to; nil: nowhere.
	Providers *iamoidc.Client
	Web       *url.URL
	// Streams says which addresses an event stream may lead to.
	Streams egress.Rule
	// Passkeys checks what devices answer; nil where the installation has no web app.
	Passkeys *iam.Passkeys
}

type handlers struct {
	Parts
	server *httpapi.Server
	roles  iam.BuiltIn
}

// Routes registers the area's routes.
func Routes(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s, iam.Permissions(api.Permissions())}
		scopeHandlers{h}.register()
		registerCascades(h)
		grantHandlers{h}.register()
		accountHandlers{h}.register()
		invitationHandlers{h}.register()
		roleHandlers{h}.register()
		serviceAccountHandlers{h}.register()
		quotaHandlers{h}.register()
		secondFactorHandlers{h}.register()
		passkeyHandlers{h}.register()
		billing{h}.register()
		approvalRules{h}.register()
		hostGrants{handlers: h}.register()
		zoneGrants{handlers: h}.register()
		networkGrants{handlers: h}.register()
		registerProviders(h)
		loginHandlers{h}.register()
		registerStreams(h)
		sshKeys{h}.register()
	}
}

// asker is who asks: what they see, and what they may do. Their grants are read for each request, so that nobody is kept
// from what they made a moment ago.
type asker struct {
	viewer iam.Viewer
	access scope.Access
}

func (h handlers) asker(ctx context.Context) (asker, error) {
	account, _ := httpapi.BearerOf(ctx)
	limit := httpapi.AccessOf(ctx).Limit()
	access, err := scope.AccessOf(ctx, h.server.DB().Reader, account, h.roles)
	return asker{iam.Viewer{Account: account, Within: limit.ID, Unproved: limit.Unproved}, access.Limited(limit)}, err
}

// needs refuses who lacks a permission at a scope.
func (a asker) needs(permission string, at iam.Scope) error {
	switch {
	case a.access.At(permission, at.Place()):
		return nil
	case a.access.Proved().At(permission, at.Place()):
		return scope.ErrSecondFactor
	}
	return httpapi.Forbidden(permission)
}

// narrowed tells whether the token may do less than its account.
func (a asker) narrowed() bool {
	limit := a.access.Limit()
	return limit.Level != "" || limit.Permissions != nil
}

// may is what the asker may give to others.
func (a asker) may(permission string, at iam.Scope) bool { return a.access.At(permission, at.Place()) }

// once runs one intent. What these intents write is in no workspace that the request is in.
func (h handlers) once(ctx context.Context, do func(ctx context.Context, tx *intent.Tx) (object uuid.UUID, err error)) (httpapi.Made, error) {
	return httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		call.Workspace, call.Installation = uuid.Nil, true
		err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			made.Object, err = do(ctx, tx)
			return err
		})
		return made, err
	})
}

// operation says whether something can be done now: by the state, and by the permissions of the one who asks.
func (a asker) operation(name, permission string, at iam.Scope, prevents error) api.Operation {
	switch err := a.needs(permission, at); {
	case errors.Is(err, scope.ErrSecondFactor):
		return api.Operation{Name: name, Prevents: "The organization asks for a second factor. Log in with one."}
	case err != nil:
		return api.Operation{Name: name, Prevents: "You do not have the permission " + permission + " here."}
	}
	if prevents == nil {
		return api.Operation{Name: name, Allowed: true}
	}
	text := prevents.Error()
	var conflict *fault.Conflict
	if errors.As(prevents, &conflict) {
		text = conflict.Detail
	}
	return api.Operation{Name: name, Prevents: text}
}

// filterOf makes an unknown object that narrows a list a bad field.
func filterOf(field string, err error) error {
	if errors.Is(err, fault.ErrNotFound) {
		return httpapi.BadField(field, "Nothing that you see has this name or id.")
	}
	return err
}
