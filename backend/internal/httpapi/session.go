package httpapi

import (
	"context"
	"maps"
	"slices"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
)

func (s *Server) registerSessions() {
	register(s, "create-session", s.createSession, created)
	register(s, "delete-session", s.deleteSession)
	register(s, "whoami", s.whoami)
}

func (s *Server) createSession(ctx context.Context, in *struct{ Body api.Login }) (*object[api.Session], error) {
	r := requestOf(ctx)
	from := domain.Actor{Address: r.client, RequestID: r.id}
	made, err := s.cfg.Sessions.Login(ctx, from, in.Body.Account, in.Body.Password)
	s.metrics.login(err == nil)
	if err != nil {
		return nil, err
	}
	return &object[api.Session]{Body: api.Session{ID: made.ID.String(), Account: in.Body.Account, Token: made.Secret, ExpiresAt: made.ExpiresAt}}, nil
}

func (s *Server) deleteSession(ctx context.Context, _ *struct{}) (*nothing, error) {
	return nil, s.intents.LogOut(ctx, actor(ctx), requestOf(ctx).bearer.TokenID)
}

func (s *Server) whoami(ctx context.Context, _ *struct{}) (*object[api.Whoami], error) {
	b := requestOf(ctx).bearer
	kind := "session"
	if b.Kind == intent.TokenAPI {
		kind = "api"
	}
	return &object[api.Whoami]{Body: api.Whoami{
		AccountID: b.AccountID.String(), Account: b.Account, Role: b.Role, Permissions: slices.Sorted(maps.Keys(s.roles[b.Role])),
		TokenKind: kind, TokenID: b.TokenID.String(), ExpiresAt: b.ExpiresAt,
	}}, nil
}
