package iamhttp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
)

// passkeyHandlers answers the routes about passkeys.
type passkeyHandlers struct{ handlers }

func (h passkeyHandlers) register() {
	s := h.server
	none := json.RawMessage(`{}`)
	httpapi.Register(s, "list-passkeys", h.listPasskeys)
	httpapi.Register(s, "begin-passkey", h.beginPasskey, httpapi.Example(api.ProvePassword{Password: "the present one"}))
	httpapi.Register(s, "create-passkey", h.createPasskey, httpapi.Created, httpapi.Example(api.CreatePasskey{Name: "laptop", Challenge: "...", Credential: none}))
	httpapi.Register(s, "delete-passkey", h.deletePasskey)
	httpapi.Register(s, "begin-passkey-login", h.beginPasskeyLogin)
	httpapi.Register(s, "create-passkey-session", h.createPasskeySession, httpapi.Created, httpapi.Example(api.PasskeyLogin{Challenge: "...", Credential: none}))
}

// devices is the check of passkeys, if the installation has a web app that browsers reach.
func (h passkeyHandlers) devices() (*iam.Passkeys, error) {
	if h.Passkeys == nil {
		return nil, fault.Conflictf("no_web_url", "Passkeys belong to a web site with a name, and this installation does not know its own. Set KLOIGOS_WEB_URL on each backend.")
	}
	return h.Passkeys, nil
}

func presentPasskey(p iam.Passkey) api.Passkey {
	return api.Passkey{ID: p.ID.String(), Name: p.Name, CreatedAt: p.CreatedAt, LastUsedAt: p.LastUsedAt}
}

func presentChallenge(c iam.Challenge, err error) (*httpapi.Object[api.PasskeyChallenge], error) {
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.PasskeyChallenge]{Body: api.PasskeyChallenge{Challenge: c.Sealed, Options: c.Options}}, nil
}

func (h passkeyHandlers) listPasskeys(ctx context.Context, _ *struct{}) (*httpapi.Object[api.Page[api.Passkey]], error) {
	account, _ := httpapi.BearerOf(ctx)
	rows, err := iam.PasskeysOf(ctx, h.server.DB().Reader, account)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(rows, presentPasskey), nil
}

func (h passkeyHandlers) beginPasskey(ctx context.Context, in *struct{ Body api.ProvePassword }) (*httpapi.Object[api.PasskeyChallenge], error) {
	devices, err := h.devices()
	if err != nil {
		return nil, err
	}
	account, _, err := h.proven(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	return presentChallenge(devices.Begin(ctx, h.server.DB().Reader, account))
}

func (h passkeyHandlers) createPasskey(ctx context.Context, in *struct{ Body api.CreatePasskey }) (*httpapi.Object[api.Passkey], error) {
	devices, err := h.devices()
	if err != nil {
		return nil, err
	}
	account, ref, err := h.self(ctx)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		row, err := iam.AddPasskey(ctx, tx, devices, ref, in.Body.Name, in.Body.Challenge, in.Body.Credential)
		return row.ID, err
	})
	if err != nil {
		return nil, err
	}
	row, err := iam.PasskeyOf(ctx, h.server.DB().Reader, account.ID, made.Object)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.Passkey]{Body: presentPasskey(row)}, nil
}

func (h passkeyHandlers) deletePasskey(ctx context.Context, in *httpapi.ByID) (*httpapi.Nothing, error) {
	_, ref, err := h.self(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := httpapi.ID(in.ID)
	if !ok {
		return nil, fault.ErrNotFound
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return id, iam.RemovePasskey(ctx, tx, ref, id)
	})
	return nil, err
}

func (h passkeyHandlers) beginPasskeyLogin(context.Context, *struct{}) (*httpapi.Object[api.PasskeyChallenge], error) {
	devices, err := h.devices()
	if err != nil {
		return nil, err
	}
	return presentChallenge(devices.BeginLogin())
}

// createPasskeySession is for somebody who is not logged in. Nobody learns from it whether an account exists.
func (h passkeyHandlers) createPasskeySession(ctx context.Context, in *struct{ Body api.PasskeyLogin }) (*httpapi.Object[api.Session], error) {
	devices, err := h.devices()
	if err != nil {
		return nil, err
	}
	answer, err := devices.Read(in.Body.Challenge, in.Body.Credential)
	if err != nil {
		return nil, badPasskey()
	}
	account, _, err := iam.FindSelf(ctx, h.server.DB().Reader, answer.Account)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, badPasskey()
	}
	if err != nil {
		return nil, err
	}
	var (
		made   iam.Session
		good   bool
		bearer = iam.NewSessionSecret()
	)
	err = h.Engine.Do(ctx, h.strangersCall(ctx, account.ID, account.Name), func(tx *intent.Tx) (err error) {
		made, good, err = iam.LoginWithPasskey(ctx, tx, devices, answer, bearer)
		return err
	})
	h.server.CountSession(err == nil && good)
	if errors.Is(err, fault.ErrNotFound) || err == nil && !good {
		return nil, badPasskey()
	}
	if err != nil {
		return nil, err
	}
	return presentSession(made), nil
}

func badPasskey() error {
	return httpapi.Unauthorized("bad_passkey", "This passkey is none of an account here, or took too long. Try again, or log in with your password.")
}
