package iamhttp

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// serviceAccountHandlers answers the routes about service accounts and their keys.
type serviceAccountHandlers struct{ handlers }

// Permissions on service accounts.
const (
	readService   = "organization.service_account:read"
	createService = "organization.service_account:create"
	changeService = "organization.service_account:update"
	revealKeys    = "organization.service_account:reveal"
)

func (h serviceAccountHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-service-accounts", h.listServiceAccounts, httpapi.Sorted(iam.AccountSorting))
	httpapi.Register(s, "create-service-account", h.createServiceAccount, httpapi.Created, httpapi.Example(api.CreateServiceAccount{Name: "ci"}))
	httpapi.Register(s, "get-service-account", h.getServiceAccount)
	httpapi.Register(s, "disable-service-account", h.disableServiceAccount)
	httpapi.Register(s, "enable-service-account", h.enableServiceAccount)
	httpapi.Register(s, "list-keys", h.listKeys)
	httpapi.Register(s, "create-key", h.createKey, httpapi.Created, httpapi.Example(api.CreateKey{Name: "pipeline", Days: 90}))
	httpapi.Register(s, "rotate-key", h.rotateKey, httpapi.Example(api.RotateKey{Hours: 24}))
	httpapi.Register(s, "delete-key", h.deleteKey)
}

func (h serviceAccountHandlers) listServiceAccounts(ctx context.Context, in *struct{ api.ServiceAccountFilter }) (*httpapi.Object[api.Page[api.Account]], error) {
	a, at, err := h.organizationAt(ctx, in.Organization, readService)
	if err != nil {
		return nil, err
	}
	return h.accounts(ctx, "list-service-accounts", in.PageQuery, []string{in.Organization, in.State}, iam.AccountFilter{Of: at.ID, Kind: iam.Service, State: in.State}, a)
}

func (h serviceAccountHandlers) createServiceAccount(ctx context.Context, in *struct{ Body api.CreateServiceAccount }) (*httpapi.Versioned[api.Account], error) {
	a, at, err := h.organizationAt(ctx, in.Body.Organization, createService)
	if err != nil {
		return nil, err
	}
	_, ref, err := iam.Organizations.Find(ctx, h.server.DB().Reader, a.viewer, at.ID.String())
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateServiceAccount(ctx, tx, ref, in.Body.Name)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, made.Object)
}

// service finds a service account of an organization that the caller sees, and asks for a permission there.
func (h serviceAccountHandlers) service(ctx context.Context, text, permission string) (asker, iam.Account, scope.Ref[iam.Account], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return a, iam.Account{}, scope.Ref[iam.Account]{}, err
	}
	account, at, ref, err := iam.FindServiceAccount(ctx, h.server.DB().Reader, a.viewer, path(text))
	if err == nil {
		err = a.needs(permission, at)
	}
	return a, account, ref, err
}

func (h serviceAccountHandlers) getServiceAccount(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Account], error) {
	_, account, _, err := h.service(ctx, in.ID, readService)
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, account.ID)
}

func (h serviceAccountHandlers) turnService(ctx context.Context, in httpapi.Change, do func(context.Context, *intent.Tx, scope.Ref[iam.Account], int64) (iam.Account, error)) (*httpapi.Versioned[api.Account], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, _, ref, err := h.service(ctx, in.ID, changeService)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		_, err := do(ctx, tx, ref, version)
		return ref.ID(), err
	})
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, ref.ID())
}

func (h serviceAccountHandlers) disableServiceAccount(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Account], error) {
	return h.turnService(ctx, *in, iam.DisableAccount)
}

func (h serviceAccountHandlers) enableServiceAccount(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Account], error) {
	return h.turnService(ctx, *in, iam.EnableAccount)
}

func (h serviceAccountHandlers) listKeys(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.Page[api.Key]], error) {
	_, account, _, err := h.service(ctx, in.ID, readService)
	if err != nil {
		return nil, err
	}
	keys, err := iam.Keys(ctx, h.server.DB().Reader, account.ID)
	if err != nil {
		return nil, err
	}
	return httpapi.Whole(keys, func(k iam.Key) api.Key { return presentKey(k, account) }), nil
}

// noWider refuses a secret to who may do less than it: whoever reads it can do what the account can, within the key's limits.
func (h serviceAccountHandlers) noWider(ctx context.Context, a asker, account iam.Account, limit scope.Limit, at *iam.Scope) error {
	q := h.server.DB().Reader
	reach, err := scope.AccessOf(ctx, q, account.ID, h.roles)
	if err != nil {
		return err
	}
	for _, g := range reach.Grants() {
		where, _, err := iam.FindScope(ctx, q, a.viewer, g.ID.String())
		if err != nil {
			return fault.Conflictf("key_too_wide", "The account has the role %s at a scope that you do not see.", g.Role)
		}
		if at != nil && scope.NewAccess([]scope.Grant{{Level: g.Level, ID: g.ID}}, scope.Limit{}).Sees(at.Place()) {
			where = *at
		}
		for p := range g.Permissions {
			if (limit.Permissions == nil || limit.Permissions[p]) && !a.access.At(p, where.Place()) {
				return fault.Conflictf("key_too_wide", "The account has the permission %s at %s, which you do not have there yourself.", p, where.Path())
			}
		}
	}
	return nil
}

func (h serviceAccountHandlers) createKey(ctx context.Context, in *struct {
	httpapi.ByID
	Body api.CreateKey
},
) (*httpapi.Object[api.Key], error) {
	a, account, ref, err := h.service(ctx, in.ID, revealKeys)
	if err != nil {
		return nil, err
	}
	if err := httpapi.NeedsSession(ctx, uuid.Nil); err != nil {
		return nil, err
	}
	draft := iam.NewKey{Name: in.Body.Name, Valid: time.Duration(in.Body.Days) * 24 * time.Hour}
	var limit scope.Limit
	if len(in.Body.Permissions) > 0 {
		draft.Permissions, limit.Permissions = in.Body.Permissions, scope.Set(in.Body.Permissions)
	}
	if in.Body.Scope != "" {
		at, _, err := iam.FindScope(ctx, h.server.DB().Reader, a.viewer, in.Body.Scope)
		if err != nil {
			return nil, filterOf("scope", err)
		}
		draft.At = &at
	}
	if err := h.noWider(ctx, a, account, limit, draft.At); err != nil {
		return nil, err
	}
	secret := iam.NewKeySecret()
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateKey(ctx, tx, ref, draft, grantable(), secret)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.shownKey(ctx, account, made, secret)
}

func (h serviceAccountHandlers) shownKey(ctx context.Context, account iam.Account, made httpapi.Made, secret string) (*httpapi.Object[api.Key], error) {
	if made.Repeated {
		return nil, httpapi.SecretShown("key", made.Object)
	}
	key, err := iam.KeyOf(ctx, h.server.DB().Reader, account.ID, made.Object)
	if err != nil {
		return nil, err
	}
	out := presentKey(key, account)
	out.Secret = secret
	return &httpapi.Object[api.Key]{Body: out}, nil
}

// OfKey is the input of an operation on a key.
type OfKey struct {
	httpapi.ByID
	Key string `path:"key" maxLength:"64" doc:"id of the key"`
}

func (h serviceAccountHandlers) rotateKey(ctx context.Context, in *struct {
	OfKey
	Body api.RotateKey
},
) (*httpapi.Object[api.Key], error) {
	a, account, ref, err := h.service(ctx, in.ID, revealKeys)
	if err != nil {
		return nil, err
	}
	id, ok := httpapi.ID(in.Key)
	if !ok {
		return nil, fault.ErrNotFound
	}
	if err := httpapi.NeedsSession(ctx, id); err != nil {
		return nil, err
	}
	key, err := iam.KeyOf(ctx, h.server.DB().Reader, account.ID, id)
	if err != nil {
		return nil, err
	}
	var limit scope.Limit
	if key.Permissions != nil {
		limit.Permissions = scope.Set(key.Permissions)
	}
	var at *iam.Scope
	if key.ScopeID != nil {
		found, _, err := iam.FindScope(ctx, h.server.DB().Reader, a.viewer, key.ScopeID.String())
		if err != nil {
			return nil, filterOf("scope", err)
		}
		at = &found
	}
	if err := h.noWider(ctx, a, account, limit, at); err != nil {
		return nil, err
	}
	secret := iam.NewKeySecret()
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		_, err := iam.RotateKey(ctx, tx, ref, id, time.Duration(in.Body.Hours)*time.Hour, secret)
		return id, err
	})
	if err != nil {
		return nil, err
	}
	return h.shownKey(ctx, account, made, secret)
}

func (h serviceAccountHandlers) deleteKey(ctx context.Context, in *OfKey) (*httpapi.Nothing, error) {
	_, _, ref, err := h.service(ctx, in.ID, changeService)
	if err != nil {
		return nil, err
	}
	id, ok := httpapi.ID(in.Key)
	if !ok {
		return nil, fault.ErrNotFound
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return id, iam.DeleteKey(ctx, tx, ref, id)
	})
	return nil, err
}

func presentKey(k iam.Key, account iam.Account) api.Key {
	out := api.Key{
		ID: k.ID.String(), Account: account.Name, Name: k.Name, Prefix: k.Prefix, Permissions: k.Permissions,
		CreatedAt: k.CreatedAt, ExpiresAt: k.ExpiresAt, LastUsedAt: k.LastUsedAt, OldUntil: k.OldUntil, OldUsedAt: k.OldUsedAt,
	}
	if k.ScopeID != nil {
		out.Scope = k.ScopeID.String()
	}
	return out
}
