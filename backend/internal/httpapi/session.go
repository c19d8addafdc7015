package httpapi

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/kernel/scope"
)

// sessionHandlers answers the routes about sessions.
type sessionHandlers struct{ *Server }

func (s sessionHandlers) register() {
	register(s.Server, "create-session", s.createSession, created)
	register(s.Server, "delete-session", s.deleteSession)
	register(s.Server, "whoami", s.whoami)
}

func (s sessionHandlers) createSession(ctx context.Context, in *struct{ Body api.Login }) (*object[api.Session], error) {
	r := requestOf(ctx)
	from := domain.Actor{Address: r.client, RequestID: r.id}
	made, err := s.cfg.Sessions.Login(ctx, from, in.Body.Account, in.Body.Password)
	if err != nil || made.Pending.Secret == "" {
		s.metrics.login(err == nil)
	}
	if err != nil {
		return nil, err
	}
	if waits := made.Pending; waits.Secret != "" {
		return &object[api.Session]{Body: api.Session{ID: waits.ID.String(), Account: in.Body.Account, Pending: waits.Secret, ExpiresAt: waits.ExpiresAt}}, nil
	}
	return &object[api.Session]{Body: api.Session{ID: made.ID.String(), Account: in.Body.Account, Token: made.Secret, ExpiresAt: made.ExpiresAt}}, nil
}

func (s sessionHandlers) deleteSession(ctx context.Context, _ *struct{}) (*nothing, error) {
	return nil, s.intents.LogOut(ctx, callOf(ctx), requestOf(ctx).bearer.TokenID)
}

func (s sessionHandlers) whoami(ctx context.Context, _ *struct{}) (*object[api.Whoami], error) {
	b := requestOf(ctx).bearer
	kind := "session"
	if b.Kind == intent.TokenAPI {
		kind = "api"
	}
	at, err := s.whereIs(ctx)
	if err != nil {
		return nil, err
	}
	out := api.Whoami{
		AccountID: b.AccountID.String(), Account: b.Account, Role: b.Role, Permissions: []string{}, TokenKind: kind, TokenID: b.TokenID.String(), SecondFactor: SecondFactorOf(ctx), ExpiresAt: b.ExpiresAt,
	}
	if at.Workspace != uuid.Nil {
		out.WorkspaceID, out.Workspace = at.Workspace.String(), at.Path()
	}
	access := AccessOf(ctx)
	for _, p := range api.Permissions() {
		if p == api.Own || access.At(p, at.Place()) || scope.LevelOf(p) != scope.Workspace && access.Anywhere(p) {
			out.Permissions = append(out.Permissions, p)
		}
	}
	return &object[api.Whoami]{Body: out}, nil
}

// whereIs is the workspace that a request is about which needs none; zeros if there
// is none that the bearer sees.
func (s sessionHandlers) whereIs(ctx context.Context) (scope.Located, error) {
	r := requestOf(ctx)
	at, err := locate(ctx, s.db, whose{account: r.bearer.AccountID, workspace: r.workspace})
	if err == nil && r.access.Sees(at.Place()) {
		return at, nil
	}
	if err == nil || errors.Is(err, domain.ErrNotFound) || errors.Is(err, errSeveral) {
		return scope.Located{}, nil
	}
	return scope.Located{}, err
}
