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

// accountHandlers answers the routes about accounts.
type accountHandlers struct{ handlers }

// Permissions on accounts.
const (
	changeAccounts  = "installation.account:update"
	disableAccounts = "installation.account:disable"
)

func (h accountHandlers) register() {
	s := h.server
	httpapi.Register(s, "list-accounts", h.listAccounts, httpapi.Sorted(iam.AccountSorting))
	httpapi.Register(s, "create-account", h.createAccount, httpapi.Created, httpapi.Example(api.CreateAccount{Name: "ada", Email: "ada@example.org"}))
	httpapi.Register(s, "get-account", h.getAccount)
	httpapi.Register(s, "change-account", h.changeAccount, httpapi.Example(map[string]any{"email": "ada@example.org"}))
	httpapi.Register(s, "disable-account", h.disableAccount)
	httpapi.Register(s, "enable-account", h.enableAccount)
	httpapi.Register(s, "reset-password", h.resetPassword)
	httpapi.Register(s, "list-members", h.listMembers, httpapi.Sorted(iam.AccountSorting))
	httpapi.Register(s, "change-password", h.changePassword, httpapi.Example(api.ChangePassword{OldPassword: "the old one", Password: "a long new sentence"}))
	httpapi.Register(s, "set-password", h.setPassword, httpapi.Example(api.SetPassword{Link: "kll_...", Password: "a long new sentence"}))
}

func (h handlers) accounts(ctx context.Context, route string, q api.PageQuery, filters []string, f iam.AccountFilter, a asker) (*httpapi.Object[api.Page[api.Account]], error) {
	return httpapi.PageOf(h.server, route, q, filters, iam.AccountSorting,
		func(after *db.Position, limit int) ([]iam.Account, error) {
			f.Sort, f.After, f.Limit = q.Sort, after, limit
			return iam.Accounts(ctx, h.server.DB().Reader, f)
		},
		a.presentAccount)
}

func (h accountHandlers) listAccounts(ctx context.Context, in *struct{ api.AccountFilter }) (*httpapi.Object[api.Page[api.Account]], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	return h.accounts(ctx, "list-accounts", in.PageQuery, []string{in.Kind, in.State}, iam.AccountFilter{Kind: in.Kind, State: in.State}, a)
}

func (h accountHandlers) listMembers(ctx context.Context, in *struct{ api.MemberFilter }) (*httpapi.Object[api.Page[api.Account]], error) {
	a, at, err := h.organizationAt(ctx, in.Organization, readMembers)
	if err != nil {
		return nil, err
	}
	return h.accounts(ctx, "list-members", in.PageQuery, []string{in.Organization, in.Kind}, iam.AccountFilter{In: at.ID, Kind: in.Kind}, a)
}

// organizationAt finds an organization that a field names, the only one if it is empty, and asks for a permission there.
func (h handlers) organizationAt(ctx context.Context, text, permission string) (asker, iam.Scope, error) {
	a, err := h.asker(ctx)
	if err != nil {
		return a, iam.Scope{}, err
	}
	named, err := h.theOne(ctx, a, text)
	if err != nil {
		return a, iam.Scope{}, err
	}
	at, _, err := iam.Organizations.Find(ctx, h.server.DB().Reader, a.viewer, named)
	if err != nil {
		return a, iam.Scope{}, filterOf(iam.OrganizationNoun, err)
	}
	return a, at, a.needs(permission, at)
}

func (h accountHandlers) createAccount(ctx context.Context, in *struct{ Body api.CreateAccount }) (*httpapi.Versioned[api.Account], error) {
	link := iam.NewLink()
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := iam.CreateAccount(ctx, tx, iam.NewAccount{Name: in.Body.Name, Email: in.Body.Email}, link)
		return made.ID, err
	})
	if err != nil {
		return nil, err
	}
	return h.withLink(ctx, made, link)
}

// withLink is an account with the secret of its link, which is shown once.
func (h accountHandlers) withLink(ctx context.Context, made httpapi.Made, link string) (*httpapi.Versioned[api.Account], error) {
	if made.Repeated {
		return nil, httpapi.SecretShown("link of account", made.Object)
	}
	out, err := h.shownAccount(ctx, made.Object)
	if err == nil {
		out.Body.Link = link
	}
	return out, err
}

func (h handlers) shownAccount(ctx context.Context, id uuid.UUID) (*httpapi.Versioned[api.Account], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	found, _, err := iam.FindSelf(ctx, h.server.DB().Reader, id)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.Account]{ETag: httpapi.ETag(found.Version), Body: a.presentAccount(found)}, nil
}

func (h accountHandlers) getAccount(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Account], error) {
	found, err := iam.FindAccount(ctx, h.server.DB().Reader, uuid.Nil, path(in.ID))
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, found.ID)
}

// onPerson runs an intent on the account of a person.
func (h handlers) onPerson(ctx context.Context, in httpapi.Change, do func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Account], version int64) (iam.Account, error)) (httpapi.Made, error) {
	version, err := in.Version()
	if err != nil {
		return httpapi.Made{}, err
	}
	_, ref, err := iam.FindPerson(ctx, h.server.DB().Reader, in.ID)
	if err != nil {
		return httpapi.Made{}, err
	}
	return h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		_, err := do(ctx, tx, ref, version)
		return ref.ID(), err
	})
}

func (h accountHandlers) changeAccount(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeAccount
},
) (*httpapi.Versioned[api.Account], error) {
	made, err := h.onPerson(ctx, in.Change, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Account], version int64) (iam.Account, error) {
		return iam.ChangeAccount(ctx, tx, ref, version, in.Body.Name, in.Body.Email)
	})
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, made.Object)
}

func (h accountHandlers) disableAccount(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Account], error) {
	made, err := h.onPerson(ctx, *in, iam.DisableAccount)
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, made.Object)
}

func (h accountHandlers) enableAccount(ctx context.Context, in *httpapi.Change) (*httpapi.Versioned[api.Account], error) {
	made, err := h.onPerson(ctx, *in, iam.EnableAccount)
	if err != nil {
		return nil, err
	}
	return h.shownAccount(ctx, made.Object)
}

func (h accountHandlers) resetPassword(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.Account], error) {
	link := iam.NewLink()
	made, err := h.onPerson(ctx, httpapi.Change{ByID: *in}, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.Account], _ int64) (iam.Account, error) {
		return iam.ResetPassword(ctx, tx, ref, link)
	})
	if err != nil {
		return nil, err
	}
	return h.withLink(ctx, made, link)
}

func (h accountHandlers) changePassword(ctx context.Context, in *struct{ Body api.ChangePassword }) (*httpapi.Nothing, error) {
	account, token := httpapi.BearerOf(ctx)
	self, ref, err := iam.FindSelf(ctx, h.server.DB().Reader, account)
	if err != nil {
		return nil, err
	}
	if err := iam.CheckPassword(self.Name, in.Body.Password); err != nil {
		return nil, err
	}
	if err := h.server.CheckPassword(ctx, in.Body.OldPassword); err != nil {
		return nil, err
	}
	hash, err := h.server.HashPassword(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		return ref.ID(), iam.SetPassword(ctx, tx, ref, hash, token)
	})
	return nil, err
}

// setPassword is for somebody who is not logged in. What a link is good for is looked at before any password is hashed.
func (h accountHandlers) setPassword(ctx context.Context, in *struct{ Body api.SetPassword }) (*httpapi.Object[api.PasswordSet], error) {
	id, name, err := iam.AccountOfLink(ctx, h.server.DB().Reader, in.Body.Link)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, badLink()
	}
	if err != nil {
		return nil, err
	}
	if err := iam.CheckPassword(name, in.Body.Password); err != nil {
		return nil, err
	}
	hash, err := h.server.HashPassword(ctx, in.Body.Password)
	if err != nil {
		return nil, err
	}
	call := httpapi.CallOf(ctx)
	call.Workspace, call.Installation, call.Actor.ID, call.Actor.Name = uuid.Nil, true, id, name
	err = h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
		_, err := iam.UseLink(ctx, tx, in.Body.Link, hash)
		return err
	})
	if errors.Is(err, fault.ErrNotFound) {
		return nil, badLink()
	}
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.PasswordSet]{Body: api.PasswordSet{Account: name}}, nil
}

func badLink() error {
	return httpapi.BadField("link", "This link was used, has expired, or is none. Ask for another one.")
}

func (a asker) presentAccount(account iam.Account) api.Account {
	out := api.Account{
		ID: account.ID.String(), Name: account.Name, Kind: account.Kind, Email: account.Email, State: account.State,
		Version: account.Version, CreatedAt: account.CreatedAt, UpdatedAt: account.UpdatedAt, Operations: []api.Operation{},
	}
	if account.OrganizationID != nil {
		out.OrganizationID = account.OrganizationID.String()
	}
	if account.Kind == iam.Service && account.OrganizationID != nil {
		at := iam.Scope{Kind: iam.OrganizationNoun, OrganizationID: *account.OrganizationID}
		out.Operations = []api.Operation{
			a.operation("create_key", revealKeys, at, account.CanDisable()), a.operation("disable", changeService, at, account.CanDisable()),
			a.operation("enable", changeService, at, account.CanEnable()),
		}
	}
	if account.Kind == iam.Person {
		out.Operations = []api.Operation{
			a.operation("change", changeAccounts, iam.Scope{}, nil), a.operation("disable", disableAccounts, iam.Scope{}, account.CanDisable()),
			a.operation("enable", disableAccounts, iam.Scope{}, account.CanEnable()), a.operation("reset_password", changeAccounts, iam.Scope{}, account.CanDisable()),
			a.operation("reset_second_factor", changeAccounts, iam.Scope{}, nil),
		}
	}
	return out
}
