package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListOrganizations returns one page of the organizations that the bearer sees.
func (c *Client) ListOrganizations(ctx context.Context, f api.OrganizationFilter) (api.Page[api.Scope], error) {
	return list[api.Scope](ctx, c, "/organizations", f)
}

// AllOrganizations yields the organizations of all pages.
func (c *Client) AllOrganizations(ctx context.Context, f api.OrganizationFilter) iter.Seq2[api.Scope, error] {
	return all(func(cursor string) (api.Page[api.Scope], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListOrganizations(ctx, f)
	})
}

// CreateOrganization makes an organization with a project and a workspace.
func (c *Client) CreateOrganization(ctx context.Context, in api.CreateOrganization, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, "/organizations", in, opts)
}

// GetOrganization shows an organization, by its id or name.
func (c *Client) GetOrganization(ctx context.Context, id string) (api.Scope, error) {
	return get[api.Scope](ctx, c, pathOf("organizations", id), nil)
}

// ChangeOrganization renames an organization.
func (c *Client) ChangeOrganization(ctx context.Context, id string, body api.ChangeScope, opts ...Option) (api.Scope, error) {
	return patch[api.Scope](ctx, c, pathOf("organizations", id), body, opts)
}

// SuspendOrganization refuses all changes in an organization.
func (c *Client) SuspendOrganization(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("organizations", id, "suspend"), nil, opts)
}

// ResumeOrganization ends the suspension of an organization.
func (c *Client) ResumeOrganization(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("organizations", id, "resume"), nil, opts)
}

// RequireSecondFactor asks everybody in an organization for a second factor.
func (c *Client) RequireSecondFactor(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("organizations", id, "require-second-factor"), nil, opts)
}

// WaiveSecondFactor ends to ask for a second factor in an organization.
func (c *Client) WaiveSecondFactor(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("organizations", id, "waive-second-factor"), nil, opts)
}

// DeleteOrganization deletes an organization without projects.
func (c *Client) DeleteOrganization(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("organizations", id), opts)
}

// ListProjects returns one page of the projects that the bearer sees.
func (c *Client) ListProjects(ctx context.Context, f api.ProjectFilter) (api.Page[api.Scope], error) {
	return list[api.Scope](ctx, c, "/projects", f)
}

// AllProjects yields the projects of all pages.
func (c *Client) AllProjects(ctx context.Context, f api.ProjectFilter) iter.Seq2[api.Scope, error] {
	return all(func(cursor string) (api.Page[api.Scope], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListProjects(ctx, f)
	})
}

// CreateProject makes a project in an organization.
func (c *Client) CreateProject(ctx context.Context, in api.CreateProject, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, "/projects", in, opts)
}

// GetProject shows a project, by its id or path.
func (c *Client) GetProject(ctx context.Context, id string) (api.Scope, error) {
	return get[api.Scope](ctx, c, pathOf("projects", id), nil)
}

// ChangeProject renames a project.
func (c *Client) ChangeProject(ctx context.Context, id string, body api.ChangeScope, opts ...Option) (api.Scope, error) {
	return patch[api.Scope](ctx, c, pathOf("projects", id), body, opts)
}

// SuspendProject refuses all changes in a project.
func (c *Client) SuspendProject(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("projects", id, "suspend"), nil, opts)
}

// ResumeProject ends the suspension of a project.
func (c *Client) ResumeProject(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("projects", id, "resume"), nil, opts)
}

// DeleteProject deletes a project without workspaces.
func (c *Client) DeleteProject(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("projects", id), opts)
}

// ListWorkspaces returns one page of the workspaces that the bearer sees.
func (c *Client) ListWorkspaces(ctx context.Context, f api.WorkspaceFilter) (api.Page[api.Scope], error) {
	return list[api.Scope](ctx, c, "/workspaces", f)
}

// AllWorkspaces yields the workspaces of all pages.
func (c *Client) AllWorkspaces(ctx context.Context, f api.WorkspaceFilter) iter.Seq2[api.Scope, error] {
	return all(func(cursor string) (api.Page[api.Scope], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListWorkspaces(ctx, f)
	})
}

// CreateWorkspace makes a workspace in a project.
func (c *Client) CreateWorkspace(ctx context.Context, in api.CreateWorkspace, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, "/workspaces", in, opts)
}

// GetWorkspace shows a workspace, by its id or path.
func (c *Client) GetWorkspace(ctx context.Context, id string) (api.Scope, error) {
	return get[api.Scope](ctx, c, pathOf("workspaces", id), nil)
}

// ChangeWorkspace renames a workspace.
func (c *Client) ChangeWorkspace(ctx context.Context, id string, body api.ChangeScope, opts ...Option) (api.Scope, error) {
	return patch[api.Scope](ctx, c, pathOf("workspaces", id), body, opts)
}

// MoveWorkspace moves a workspace to another project of its organization.
func (c *Client) MoveWorkspace(ctx context.Context, id string, body api.MoveWorkspace, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("workspaces", id, "move"), body, opts)
}

// SuspendWorkspace refuses all changes in a workspace.
func (c *Client) SuspendWorkspace(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("workspaces", id, "suspend"), nil, opts)
}

// ResumeWorkspace ends the suspension of a workspace.
func (c *Client) ResumeWorkspace(ctx context.Context, id string, opts ...Option) (api.Scope, error) {
	return post[api.Scope](ctx, c, pathOf("workspaces", id, "resume"), nil, opts)
}

// DeleteWorkspace deletes an empty workspace.
func (c *Client) DeleteWorkspace(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("workspaces", id), opts)
}

// ListGrants returns one page of the roles that accounts have at a scope.
func (c *Client) ListGrants(ctx context.Context, f api.GrantFilter) (api.Page[api.Grant], error) {
	return list[api.Grant](ctx, c, "/grants", f)
}

// AllGrants yields the grants of all pages.
func (c *Client) AllGrants(ctx context.Context, f api.GrantFilter) iter.Seq2[api.Grant, error] {
	return all(func(cursor string) (api.Page[api.Grant], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListGrants(ctx, f)
	})
}

// CreateGrant gives an account a role at a scope.
func (c *Client) CreateGrant(ctx context.Context, in api.CreateGrant, opts ...Option) (api.Grant, error) {
	return post[api.Grant](ctx, c, "/grants", in, opts)
}

// GetGrant shows a grant.
func (c *Client) GetGrant(ctx context.Context, id string) (api.Grant, error) {
	return get[api.Grant](ctx, c, pathOf("grants", id), nil)
}

// DeleteGrant takes a role away.
func (c *Client) DeleteGrant(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("grants", id), opts)
}

// ListAccounts returns one page of all accounts.
func (c *Client) ListAccounts(ctx context.Context, f api.AccountFilter) (api.Page[api.Account], error) {
	return list[api.Account](ctx, c, "/accounts", f)
}

// AllAccounts yields the accounts of all pages.
func (c *Client) AllAccounts(ctx context.Context, f api.AccountFilter) iter.Seq2[api.Account, error] {
	return all(func(cursor string) (api.Page[api.Account], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListAccounts(ctx, f)
	})
}

// CreateAccount makes an account of a person; the secret of its link is in the answer and never again.
func (c *Client) CreateAccount(ctx context.Context, in api.CreateAccount, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, "/accounts", in, opts)
}

// GetAccount shows an account, by its id or name.
func (c *Client) GetAccount(ctx context.Context, id string) (api.Account, error) {
	return get[api.Account](ctx, c, pathOf("accounts", id), nil)
}

// ChangeAccount changes name or address of a person.
func (c *Client) ChangeAccount(ctx context.Context, id string, body api.ChangeAccount, opts ...Option) (api.Account, error) {
	return patch[api.Account](ctx, c, pathOf("accounts", id), body, opts)
}

// DisableAccount ends what an account can do.
func (c *Client) DisableAccount(ctx context.Context, id string, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, pathOf("accounts", id, "disable"), nil, opts)
}

// EnableAccount lets a disabled account be used again.
func (c *Client) EnableAccount(ctx context.Context, id string, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, pathOf("accounts", id, "enable"), nil, opts)
}

// ResetPassword makes a link with which the person sets another password.
func (c *Client) ResetPassword(ctx context.Context, id string, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, pathOf("accounts", id, "reset-password"), nil, opts)
}

// ListMembers returns one page of the accounts that have a role in an organization.
func (c *Client) ListMembers(ctx context.Context, f api.MemberFilter) (api.Page[api.Account], error) {
	return list[api.Account](ctx, c, "/members", f)
}

// AllMembers yields the members of all pages.
func (c *Client) AllMembers(ctx context.Context, f api.MemberFilter) iter.Seq2[api.Account, error] {
	return all(func(cursor string) (api.Page[api.Account], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListMembers(ctx, f)
	})
}

// ChangePassword changes the bearer's password. No idempotency key goes with it: its hash would let the password be guessed.
func (c *Client) ChangePassword(ctx context.Context, in api.ChangePassword) error {
	_, _, err := send[struct{}](ctx, c, request{method: http.MethodPost, path: "/password", body: in, noKey: true})
	return err
}

// SetPassword sets a password with a link.
func (c *Client) SetPassword(ctx context.Context, in api.SetPassword) (api.PasswordSet, error) {
	out, _, err := send[api.PasswordSet](ctx, c, request{method: http.MethodPost, path: "/passwords", body: in, noKey: true})
	return out, err
}

// ListRoles returns the roles that can be given in an organization.
func (c *Client) ListRoles(ctx context.Context, f api.RoleFilter) (api.Page[api.Role], error) {
	return list[api.Role](ctx, c, "/roles", f)
}

// AllRoles yields the roles.
func (c *Client) AllRoles(ctx context.Context, f api.RoleFilter) iter.Seq2[api.Role, error] {
	return all(func(string) (api.Page[api.Role], error) { return c.ListRoles(ctx, f) })
}

// CreateRole makes a role of an organization.
func (c *Client) CreateRole(ctx context.Context, in api.CreateRole, opts ...Option) (api.Role, error) {
	return post[api.Role](ctx, c, "/roles", in, opts)
}

// GetRole shows a role of an organization.
func (c *Client) GetRole(ctx context.Context, id string) (api.Role, error) {
	return get[api.Role](ctx, c, pathOf("roles", id), nil)
}

// ChangeRole changes a role, for everybody who has it.
func (c *Client) ChangeRole(ctx context.Context, id string, body api.ChangeRole, opts ...Option) (api.Role, error) {
	return patch[api.Role](ctx, c, pathOf("roles", id), body, opts)
}

// DeleteRole deletes a role that nobody has.
func (c *Client) DeleteRole(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("roles", id), opts)
}

// ListServiceAccounts returns one page of the service accounts of an organization.
func (c *Client) ListServiceAccounts(ctx context.Context, f api.ServiceAccountFilter) (api.Page[api.Account], error) {
	return list[api.Account](ctx, c, "/service-accounts", f)
}

// AllServiceAccounts yields the service accounts of all pages.
func (c *Client) AllServiceAccounts(ctx context.Context, f api.ServiceAccountFilter) iter.Seq2[api.Account, error] {
	return all(func(cursor string) (api.Page[api.Account], error) {
		f.Cursor, f.Limit = cursor, orMax(f.Limit)
		return c.ListServiceAccounts(ctx, f)
	})
}

// CreateServiceAccount makes an account of a program.
func (c *Client) CreateServiceAccount(ctx context.Context, in api.CreateServiceAccount, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, "/service-accounts", in, opts)
}

// GetServiceAccount shows a service account.
func (c *Client) GetServiceAccount(ctx context.Context, id string) (api.Account, error) {
	return get[api.Account](ctx, c, pathOf("service-accounts", id), nil)
}

// DisableServiceAccount ends what a service account can do.
func (c *Client) DisableServiceAccount(ctx context.Context, id string, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, pathOf("service-accounts", id, "disable"), nil, opts)
}

// EnableServiceAccount lets a disabled service account be used again.
func (c *Client) EnableServiceAccount(ctx context.Context, id string, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, pathOf("service-accounts", id, "enable"), nil, opts)
}

// ListKeys returns the keys of a service account.
func (c *Client) ListKeys(ctx context.Context, id string) (api.Page[api.Key], error) {
	return get[api.Page[api.Key]](ctx, c, pathOf("service-accounts", id, "keys"), nil)
}

// CreateKey makes a key; its secret is in the answer and never again.
func (c *Client) CreateKey(ctx context.Context, id string, body api.CreateKey, opts ...Option) (api.Key, error) {
	return post[api.Key](ctx, c, pathOf("service-accounts", id, "keys"), body, opts)
}

// RotateKey gives a key another secret, which is in the answer and never again.
func (c *Client) RotateKey(ctx context.Context, id, key string, body api.RotateKey, opts ...Option) (api.Key, error) {
	return post[api.Key](ctx, c, pathOf("service-accounts", id, "keys", key, "rotate"), body, opts)
}

// DeleteKey ends a key.
func (c *Client) DeleteKey(ctx context.Context, id, key string, opts ...Option) error {
	return remove(ctx, c, pathOf("service-accounts", id, "keys", key), opts)
}

// GetAccess tells whether the bearer may do something, and why.
func (c *Client) GetAccess(ctx context.Context, q api.AccessQuery) (api.Access, error) {
	return get[api.Access](ctx, c, "/access", queryOf(q))
}

// ConfirmSession ends a login that waits for a code. No idempotency key goes with it: its answer is a secret.
func (c *Client) ConfirmSession(ctx context.Context, in api.ConfirmSession) (api.Session, error) {
	out, _, err := send[api.Session](ctx, c, request{method: http.MethodPost, path: "/sessions/confirm", body: in, noKey: true})
	return out, err
}

// GetSecondFactor shows whether the bearer's logins ask for a code.
func (c *Client) GetSecondFactor(ctx context.Context) (api.SecondFactor, error) {
	return get[api.SecondFactor](ctx, c, "/second-factor", nil)
}

// EnrolSecondFactor begins a second factor. No idempotency key goes with it: its hash would let the password be guessed.
func (c *Client) EnrolSecondFactor(ctx context.Context, in api.ProvePassword) (api.SecondFactorSecret, error) {
	out, _, err := send[api.SecondFactorSecret](ctx, c, request{method: http.MethodPost, path: "/second-factor", body: in, noKey: true})
	return out, err
}

// ConfirmSecondFactor makes logins ask for a code.
func (c *Client) ConfirmSecondFactor(ctx context.Context, in api.ConfirmSecondFactor) (api.RecoveryCodes, error) {
	out, _, err := send[api.RecoveryCodes](ctx, c, request{method: http.MethodPost, path: "/second-factor/confirm", body: in, noKey: true})
	return out, err
}

// RenewRecoveryCodes replaces the recovery codes of the bearer.
func (c *Client) RenewRecoveryCodes(ctx context.Context, in api.ProvePassword) (api.RecoveryCodes, error) {
	out, _, err := send[api.RecoveryCodes](ctx, c, request{method: http.MethodPost, path: "/second-factor/recovery-codes", body: in, noKey: true})
	return out, err
}

// RemoveSecondFactor ends the second factor of the bearer.
func (c *Client) RemoveSecondFactor(ctx context.Context, in api.ProvePassword) error {
	_, _, err := send[struct{}](ctx, c, request{method: http.MethodPost, path: "/second-factor/remove", body: in, noKey: true})
	return err
}

// ResetSecondFactor ends the second factor of a person who lost it.
func (c *Client) ResetSecondFactor(ctx context.Context, id string, opts ...Option) (api.Account, error) {
	return post[api.Account](ctx, c, pathOf("accounts", id, "reset-second-factor"), nil, opts)
}

// ListAccountEvents returns what happened to the bearer's account last.
func (c *Client) ListAccountEvents(ctx context.Context) (api.Page[api.Event], error) {
	return list[api.Event](ctx, c, "/account-events", struct{}{})
}
