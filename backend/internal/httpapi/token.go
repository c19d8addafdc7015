package httpapi

import (
	"context"
	"net/http"
	"time"

	"kloigos/backend/internal/intent"

	"kloigos/backend/api"
	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/store"
)

// tokenHandlers answers the routes about tokens.
type tokenHandlers struct{ *Server }

func (s tokenHandlers) register() {
	register(s.Server, "list-tokens", s.listTokens, sorted(store.TokenSorting))
	register(s.Server, "create-token", s.createToken, created)
	register(s.Server, "delete-token", s.deleteToken)
}

func (s tokenHandlers) listTokens(ctx context.Context, in *struct{ api.PageQuery }) (*object[api.Page[api.Token]], error) {
	account := requestOf(ctx).bearer.AccountID
	return pageOf(s.listOf("list-tokens", in.PageQuery, account.String()), store.TokenSorting,
		func(after *store.Position, limit int) ([]store.Token, error) {
			return s.db.Tokens(ctx, store.TokenFilter{AccountID: account, Sort: in.Sort, After: after, Limit: limit})
		},
		presentToken)
}

func (s tokenHandlers) createToken(ctx context.Context, in *struct{ Body api.CreateToken }) (*object[api.Token], error) {
	var token api.Token
	m, err := s.once(ctx, callOf(ctx), func(ctx context.Context, call intent.Call) (made, error) {
		t, err := s.intents.CreateToken(ctx, call, requestOf(ctx).bearer.TokenID, in.Body.Name, time.Duration(in.Body.Days)*24*time.Hour)
		token = presentToken(t.Token)
		token.Token = t.Secret
		return made{object: t.ID}, err
	})
	if err != nil {
		return nil, err
	}
	if m.repeated {
		return nil, problem(http.StatusConflict, "secret_shown_once",
			"The token "+m.object.String()+" was made by an earlier request with this Idempotency-Key; its secret was shown then and is stored nowhere.")
	}
	return &object[api.Token]{Body: token}, nil
}

func (s tokenHandlers) deleteToken(ctx context.Context, in *ByID) (*nothing, error) {
	u, ok := id(in.ID)
	if !ok {
		return nil, domain.ErrNotFound
	}
	return nil, s.intents.RevokeToken(ctx, callOf(ctx), u)
}

func presentToken(t store.Token) api.Token {
	return api.Token{
		ID: t.ID.String(), Kind: t.Kind, SessionID: text(t.SessionID), Name: t.Name, Prefix: t.Prefix, CreatedAt: t.CreatedAt, ExpiresAt: t.ExpiresAt, LastUsedAt: t.LastUsedAt,
	}
}
