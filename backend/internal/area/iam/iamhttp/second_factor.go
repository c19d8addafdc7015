package iamhttp

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// secondFactorHandlers answers the routes about second factors.
type secondFactorHandlers struct{ handlers }

func (h secondFactorHandlers) register() {
	s := h.server
	httpapi.Register(s, "confirm-session", h.confirmSession, httpapi.Created, httpapi.Example(api.ConfirmSession{Pending: "klp_...", Code: "123456"}))
	httpapi.Register(s, "get-second-factor", h.getSecondFactor)
	httpapi.Register(s, "enrol-second-factor", h.enrolSecondFactor, httpapi.Created, httpapi.Example(api.ProvePassword{Password: "the present one"}))
	httpapi.Register(s, "confirm-second-factor", h.confirmSecondFactor, httpapi.Example(api.ConfirmSecondFactor{Code: "123456"}))
	httpapi.Register(s, "renew-recovery-codes", h.renewRecoveryCodes, httpapi.Example(api.ProvePassword{Password: "the present one"}))
	httpapi.Register(s, "remove-second-factor", h.removeSecondFactor, httpapi.Example(api.ProvePassword{Password: "the present one"}))
	httpapi.Register(s, "reset-second-factor", h.resetSecondFactor)
	httpapi.Register(s, "list-account-events", h.listAccountEvents)
}

// confirmSession is for somebody who is not logged in, and has shown the password.
func (h secondFactorHandlers) confirmSession(ctx context.Context, in *struct{ Body api.ConfirmSession }) (*httpapi.Object[api.Session], error) {
	pending, err := iam.PendingLoginOf(ctx, h.server.DB().Reader, in.Body.Pending)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, noPendingLogin()
	}
	if err != nil {
		return nil, err
	}
	if err := h.server.CountLogin(ctx, pending.Account); err != nil {
		return nil, err
	}
	var (
		made   iam.Session
		good   bool
		bearer = iam.NewSessionSecret()
	)
	err = h.Engine.Do(ctx, h.strangersCall(ctx, pending.AccountID, pending.Account), func(tx *intent.Tx) (err error) {
		made, good, err = iam.ConfirmLogin(ctx, tx, h.Keys, in.Body.Pending, in.Body.Code, bearer, time.Now())
		return err
	})
	h.server.CountSession(err == nil && good)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, noPendingLogin()
	}
	if err != nil {
		return nil, err
	}
	if !good {
		return nil, httpapi.Unauthorized("bad_code", "This code is wrong or was used before. A new one is shown every 30 seconds.")
	}
	return presentSession(made), nil
}

func presentSession(made iam.Session) *httpapi.Object[api.Session] {
	return &httpapi.Object[api.Session]{Body: api.Session{ID: made.ID.String(), Account: made.Account, Token: made.Secret, ExpiresAt: made.ExpiresAt}}
}

func noPendingLogin() error {
	return httpapi.Unauthorized("login_expired", "This login was completed, has expired, or had too many wrong codes. Begin again with your password.")
}

// strangersCall is of somebody without a session who has proved to be an account.
func (h handlers) strangersCall(ctx context.Context, account uuid.UUID, name string) intent.Call {
	call := httpapi.CallOf(ctx)
	call.Workspace, call.Installation, call.Actor.ID, call.Actor.Name = uuid.Nil, true, account, name
	return call
}

// self finds the account of the one who asks.
func (h handlers) self(ctx context.Context) (iam.Account, scope.Ref[iam.Account], error) {
	id, _ := httpapi.BearerOf(ctx)
	return iam.FindSelf(ctx, h.server.DB().Reader, id)
}

// proven finds the account of the one who asks, who shows the password.
func (h handlers) proven(ctx context.Context, password string) (iam.Account, scope.Ref[iam.Account], error) {
	account, ref, err := h.self(ctx)
	if err != nil {
		return account, ref, err
	}
	return account, ref, h.server.ProvePassword(ctx, "password", password)
}

func (h secondFactorHandlers) getSecondFactor(ctx context.Context, _ *struct{}) (*httpapi.Object[api.SecondFactor], error) {
	account, _ := httpapi.BearerOf(ctx)
	found, err := iam.SecondFactorOf(ctx, h.server.DB().Reader, account)
	if errors.Is(err, fault.ErrNotFound) {
		return &httpapi.Object[api.SecondFactor]{Body: api.SecondFactor{State: "none"}}, nil
	}
	if err != nil {
		return nil, err
	}
	out := api.SecondFactor{State: "unconfirmed", RecoveryCodes: int(found.Recovery), CreatedAt: &found.CreatedAt, ConfirmedAt: found.ConfirmedAt}
	if found.Confirmed() {
		out.State = "confirmed"
	}
	return &httpapi.Object[api.SecondFactor]{Body: out}, nil
}

func (h secondFactorHandlers) enrolSecondFactor(ctx context.Context, in *struct{ Body api.ProvePassword }) (*httpapi.Object[api.SecondFactorSecret], error) {
	account, ref, err := h.proven(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	secret := iam.NewCodeSecret()
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return account.ID, iam.EnrolSecondFactor(ctx, tx, h.Keys, ref, secret)
	})
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		return nil, httpapi.SecretShown("second factor of account", account.ID)
	}
	return &httpapi.Object[api.SecondFactorSecret]{Body: api.SecondFactorSecret{Secret: secret, URI: iam.CodeURI(account.Name, secret)}}, nil
}

// recovery runs an intent that gives an account new recovery codes.
func (h secondFactorHandlers) recovery(ctx context.Context, account iam.Account, do func(ctx context.Context, tx *intent.Tx, codes []string) error) (*httpapi.Object[api.RecoveryCodes], error) {
	codes := iam.NewRecoveryCodes()
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) { return account.ID, do(ctx, tx, codes) })
	if err != nil {
		return nil, err
	}
	if made.Repeated {
		return nil, httpapi.SecretShown("recovery codes of account", account.ID)
	}
	return &httpapi.Object[api.RecoveryCodes]{Body: api.RecoveryCodes{Codes: codes}}, nil
}

func (h secondFactorHandlers) confirmSecondFactor(ctx context.Context, in *struct{ Body api.ConfirmSecondFactor }) (*httpapi.Object[api.RecoveryCodes], error) {
	account, ref, err := h.self(ctx)
	if err != nil {
		return nil, err
	}
	_, session := httpapi.BearerOf(ctx)
	return h.recovery(ctx, account, func(ctx context.Context, tx *intent.Tx, codes []string) error {
		return iam.ConfirmSecondFactor(ctx, tx, h.Keys, ref, session, in.Body.Code, codes, h.Release, time.Now())
	})
}

func (h secondFactorHandlers) renewRecoveryCodes(ctx context.Context, in *struct{ Body api.ProvePassword }) (*httpapi.Object[api.RecoveryCodes], error) {
	account, ref, err := h.proven(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	return h.recovery(ctx, account, func(ctx context.Context, tx *intent.Tx, codes []string) error {
		return iam.RenewRecoveryCodes(ctx, tx, ref, codes)
	})
}

func (h secondFactorHandlers) removeSecondFactor(ctx context.Context, in *struct{ Body api.ProvePassword }) (*httpapi.Nothing, error) {
	account, ref, err := h.proven(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return account.ID, iam.RemoveSecondFactor(ctx, tx, ref)
	})
	return nil, err
}

func (h secondFactorHandlers) resetSecondFactor(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Account], error) {
	made, err := h.onPerson(ctx, httpapi.Change{ByID: *in}, iam.ResetSecondFactor)
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, made.Object)
}

func (h secondFactorHandlers) listAccountEvents(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.Event]], error) {
	account, _ := httpapi.BearerOf(ctx)
	events, err := iam.AccountEvents(ctx, h.server.DB().Reader, account)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(events, func(e iam.AccountEvent) api.Event {
		return api.Event{
			ID: e.ID.String(), At: e.At, ActorKind: "account", Actor: e.Actor, Client: e.Client, Action: e.Action, ObjectKind: iam.AccountNoun,
			ObjectID: account.String(), Object: e.Object, After: e.After,
		}
	}), nil
}
