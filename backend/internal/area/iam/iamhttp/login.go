package iamhttp

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/area/iam/iamoidc"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// loginHandlers answers the routes about logins by providers.
type loginHandlers struct{ handlers }

func (h loginHandlers) register() {
	s := h.server
	start := httpapi.Example(api.StartLogin{Provider: "7f9c2ba4-e88f-4a2b-9b6e-0e6f8c5a1d11", ReturnTo: "/hosts"})
	finish := httpapi.Example(api.FinishLogin{Provider: "7f9c2ba4-e88f-4a2b-9b6e-0e6f8c5a1d11", Browser: "klb_...", State: "kls_...", Code: "SplxlOBeZQQYbYS6WxSbIA"})
	httpapi.Register(s, "list-login-providers", h.listLoginProviders)
	httpapi.Register(s, "start-login", h.startLogin, start)
	httpapi.Register(s, "finish-login", h.finishLogin, finish)
	httpapi.Register(s, "list-identities", h.listIdentities)
	httpapi.Register(s, "list-linkable-providers", h.listLinkable)
	httpapi.Register(s, "start-link", h.startLink, start)
	httpapi.Register(s, "finish-link", h.finishLink, finish)
	httpapi.Register(s, "delete-identity", h.deleteIdentity)
}

func presentLoginProvider(p iam.Provider) api.LoginProvider {
	return api.LoginProvider{ID: p.ID.String(), Name: p.Name}
}

// listLoginProviders tells strangers of the installation's providers. An organization's is found by its address, which cannot be
// guessed: so nobody learns which organizations there are.
func (h loginHandlers) listLoginProviders(ctx context.Context, in *struct{ api.LoginProviderFilter }) (*httpapi.Object[api.Page[api.LoginProvider]], error) {
	var all []iam.Provider
	var err error
	if in.Provider == "" {
		all, err = iam.LoginProviders(ctx, h.server.DB().Reader)
	} else if id, ok := httpapi.ID(in.Provider); ok {
		var p iam.Provider
		if p, err = iam.EnabledProvider(ctx, h.server.DB().Reader, id); errors.Is(err, fault.ErrNotFound) {
			err = nil
		} else {
			all = []iam.Provider{p}
		}
	}
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, presentLoginProvider), nil
}

// settings finds an enabled provider with what only this installation knows of it.
func (h loginHandlers) settings(ctx context.Context, text string) (iamoidc.Settings, error) {
	id, ok := httpapi.ID(text)
	if !ok {
		return iamoidc.Settings{}, noProvider()
	}
	p, err := iam.EnabledProvider(ctx, h.server.DB().Reader, id)
	if errors.Is(err, fault.ErrNotFound) {
		return iamoidc.Settings{}, noProvider()
	}
	if err != nil {
		return iamoidc.Settings{}, err
	}
	redirect := iamoidc.RedirectURI(h.Web, p)
	if redirect == "" {
		return iamoidc.Settings{}, fault.Conflictf("no_web_url", "This installation does not say where browsers reach it. An operator has to set KLOIGOS_WEB_URL.")
	}
	plain, err := p.OpenSecret(h.Keys)
	return iamoidc.Settings{Provider: p, Secret: plain, RedirectURI: redirect}, err
}

func noProvider() error { return httpapi.BadField("provider", "Nobody can log in by this provider.") }

// told is what a stranger is told of a failure. Those who run the provider read the rest on its page.
func (h loginHandlers) told(ctx context.Context, p iam.Provider, err error) error {
	var failed *iamoidc.Failed
	switch {
	case errors.Is(err, iamoidc.ErrBusy):
		return fault.Conflictf("provider_busy", "Many logins wait for the identity provider %s. Try again in a moment.", p.Name)
	case !errors.As(err, &failed):
		return err
	}
	if err := h.server.DB().InTx(ctx, func(tx *db.Tx) error { return iam.NoteFailure(ctx, tx, p.ID, failed.Why) }); err != nil {
		return err
	}
	return fault.Conflictf("provider_failed", "The identity provider %s does not answer as it should. Try again; those who run it see the reason on its page.", p.Name)
}

// begin begins a login, or the link of an account.
func (h loginHandlers) begin(ctx context.Context, body api.StartLogin, account *uuid.UUID) (*httpapi.Object[api.StartedLogin], error) {
	to, err := returnTo(body.ReturnTo)
	if err != nil {
		return nil, err
	}
	s, err := h.settings(ctx, body.Provider)
	if err != nil {
		return nil, err
	}
	login := iam.Begin(s.ID, account, to, httpapi.CallOf(ctx).Actor.Address)
	where, proof, err := h.Providers.Begin(ctx, s, login.State)
	if err != nil {
		return nil, h.told(ctx, s.Provider, err)
	}
	plain, err := json.Marshal(proof)
	if err != nil {
		return nil, err
	}
	sealed, err := h.Keys.Seal(plain, iam.SealedLoginFor(login.ID))
	if err != nil {
		return nil, err
	}
	out := api.StartedLogin{URL: where, Browser: login.Browser}
	err = h.server.DB().InTx(ctx, func(tx *db.Tx) (err error) {
		out.ExpiresAt, err = iam.PutLogin(ctx, tx, login, sealed)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.StartedLogin]{Body: out}, nil
}

// returnTo is a path of this site, or nothing.
func returnTo(text string) (string, error) {
	if text == "" {
		return "/", nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsAny(text, "\\\r\n\t") {
		return "", httpapi.BadField("return_to", "Use a path of this site, such as /hosts.")
	}
	return text, nil
}

func (h loginHandlers) startLogin(ctx context.Context, in *struct{ Body api.StartLogin }) (*httpapi.Object[api.StartedLogin], error) {
	return h.begin(ctx, in.Body, nil)
}

// end takes the login that a browser began, and proves who came back. account is who links; nil for a login.
func (h loginHandlers) end(ctx context.Context, body api.FinishLogin, account *uuid.UUID) (iam.Login, iamoidc.Settings, iam.Claims, error) {
	var login iam.Login
	s, err := h.settings(ctx, body.Provider)
	if err != nil {
		return login, s, iam.Claims{}, err
	}
	err = h.server.DB().InTx(ctx, func(tx *db.Tx) (err error) {
		login, err = iam.TakeLogin(ctx, tx, s.ID, body.State, body.Browser)
		return err
	})
	if err != nil {
		return login, s, iam.Claims{}, err
	}
	if (account == nil) != (login.AccountID == nil) || account != nil && *account != *login.AccountID {
		return login, s, iam.Claims{}, iam.ErrLoginExpired
	}
	if body.Error != "" || body.Code == "" {
		return login, s, iam.Claims{}, fault.Conflictf("login_refused", "The identity provider %s refused the login (%s).", s.Name, iamoidc.ErrorCode(body.Error))
	}
	plain, err := h.Keys.Open(login.Sealed, iam.SealedLoginFor(login.ID))
	if err != nil {
		return login, s, iam.Claims{}, err
	}
	var proof iamoidc.Proof
	if err := json.Unmarshal(plain, &proof); err != nil {
		return login, s, iam.Claims{}, err
	}
	claims, err := h.Providers.Finish(ctx, s, proof, iamoidc.Answer{Code: body.Code, Issuer: body.Issuer})
	if err != nil {
		return login, s, claims, h.told(ctx, s.Provider, err)
	}
	if s.FailedAt != nil {
		err = h.server.DB().InTx(ctx, func(tx *db.Tx) error { return iam.ForgetFailure(ctx, tx, s.ID) })
	}
	return login, s, claims, err
}

func (h loginHandlers) finishLogin(ctx context.Context, in *struct{ Body api.FinishLogin }) (*httpapi.Object[api.FinishedLogin], error) {
	login, s, claims, err := h.end(ctx, in.Body, nil)
	if err != nil {
		return nil, err
	}
	id, name := uuid.New(), s.Name // of an account that is made now
	switch known, err := iam.Proven(ctx, h.server.DB().Reader, s.ID, claims); {
	case err == nil:
		id, name = known.AccountID, known.Account
	case !errors.Is(err, fault.ErrNotFound):
		return nil, err
	}
	call := httpapi.CallOf(ctx)
	call.Workspace, call.Installation = uuid.Nil, true
	call.Actor.Kind, call.Actor.ID, call.Actor.Name = audit.Account, id, name
	var made iam.ProvenSession
	token := iam.NewKeySecret()
	err = h.Engine.Do(ctx, call, func(tx *intent.Tx) (err error) {
		made, err = iam.LogIn(ctx, tx, s.Provider, claims, id, token, call.Actor.Address)
		return err
	})
	if err != nil {
		return nil, err
	}
	session := api.Session{ID: made.ID.String(), Account: made.Account, Token: token, ExpiresAt: made.ExpiresAt}
	return &httpapi.Object[api.FinishedLogin]{Body: api.FinishedLogin{Session: session, ReturnTo: login.ReturnTo}}, nil
}

func (h loginHandlers) listIdentities(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.Identity]], error) {
	account, _ := httpapi.BearerOf(ctx)
	all, err := iam.Identities(ctx, h.server.DB().Reader, account)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, presentIdentity), nil
}

func presentIdentity(i iam.Identity) api.Identity {
	return api.Identity{
		ID: i.ID.String(), ProviderID: i.ProviderID.String(), Provider: i.Provider, Organization: i.Of, Issuer: i.Issuer, Subject: i.Subject, Label: i.Label,
		CreatedAt: i.CreatedAt, LastLoginAt: i.LastLoginAt,
	}
}

// whole refuses a token that may do less than its account: it changes nothing of how somebody gets in.
func (h loginHandlers) whole(ctx context.Context) (asker, error) {
	a, err := h.asker(ctx)
	if err == nil && a.narrowed() {
		err = fault.Conflictf("narrowed", "This session reaches less than your account. Log in with your password, or by a provider of the installation.")
	}
	return a, err
}

func (h loginHandlers) listLinkable(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.LoginProvider]], error) {
	account, _ := httpapi.BearerOf(ctx)
	all, err := iam.ProvidersFor(ctx, h.server.DB().Reader, account)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(all, presentLoginProvider), nil
}

func (h loginHandlers) startLink(ctx context.Context, in *struct{ Body api.StartLogin }) (*httpapi.Object[api.StartedLogin], error) {
	a, err := h.whole(ctx)
	if err != nil {
		return nil, err
	}
	return h.begin(ctx, in.Body, &a.viewer.Account)
}

func (h loginHandlers) finishLink(ctx context.Context, in *struct{ Body api.FinishLogin }) (*httpapi.Object[api.LinkedIdentity], error) {
	a, err := h.whole(ctx)
	if err != nil {
		return nil, err
	}
	login, s, claims, err := h.end(ctx, in.Body, &a.viewer.Account)
	if err != nil {
		return nil, err
	}
	_, ref, err := iam.FindSelf(ctx, h.server.DB().Reader, a.viewer.Account)
	if err != nil {
		return nil, err
	}
	var linked iam.Identity
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		linked, err = iam.LinkIdentity(ctx, tx, s.Provider, claims, ref)
		return linked.ID, err
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.LinkedIdentity]{Body: api.LinkedIdentity{Identity: presentIdentity(linked), ReturnTo: login.ReturnTo}}, nil
}

func (h loginHandlers) deleteIdentity(ctx context.Context, in *httpapi.ByID) (*httpapi.Nothing, error) {
	a, err := h.whole(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := httpapi.ID(in.ID)
	if !ok {
		return nil, fault.ErrNotFound
	}
	_, ref, err := iam.FindIdentity(ctx, h.server.DB().Reader, a.viewer.Account, id)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.UnlinkIdentity(ctx, tx, ref, a.viewer.Account)
	})
	return nil, err
}
