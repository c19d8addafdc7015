package client

import (
	"context"
	"iter"
	"net/http"

	"kloigos/backend/api"
)

// ListIdentityProviders returns the identity providers of an organization.
func (c *Client) ListIdentityProviders(ctx context.Context, f api.IdentityProviderFilter) (api.Page[api.IdentityProvider], error) {
	return list[api.IdentityProvider](ctx, c, "/identity-providers", f)
}

// AllIdentityProviders yields the identity providers of an organization.
func (c *Client) AllIdentityProviders(ctx context.Context, f api.IdentityProviderFilter) iter.Seq2[api.IdentityProvider, error] {
	return all(func(string) (api.Page[api.IdentityProvider], error) { return c.ListIdentityProviders(ctx, f) })
}

// CreateIdentityProvider makes an identity provider of an organization.
func (c *Client) CreateIdentityProvider(ctx context.Context, in api.CreateIdentityProvider, opts ...Option) (api.IdentityProvider, error) {
	return post[api.IdentityProvider](ctx, c, "/identity-providers", in, opts)
}

// GetIdentityProvider shows an identity provider of an organization.
func (c *Client) GetIdentityProvider(ctx context.Context, id string) (api.IdentityProvider, error) {
	return get[api.IdentityProvider](ctx, c, pathOf("identity-providers", id), nil)
}

// ChangeIdentityProvider changes an identity provider of an organization.
func (c *Client) ChangeIdentityProvider(ctx context.Context, id string, body api.ChangeIdentityProvider, opts ...Option) (api.IdentityProvider, error) {
	return patch[api.IdentityProvider](ctx, c, pathOf("identity-providers", id), body, opts)
}

// DeleteIdentityProvider deletes an identity provider of an organization.
func (c *Client) DeleteIdentityProvider(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("identity-providers", id), opts)
}

// ListGroupMappings returns which groups have roles in an organization.
func (c *Client) ListGroupMappings(ctx context.Context, f api.IdentityProviderFilter) (api.Page[api.GroupMapping], error) {
	return list[api.GroupMapping](ctx, c, "/group-mappings", f)
}

// AllGroupMappings yields which groups have roles in an organization.
func (c *Client) AllGroupMappings(ctx context.Context, f api.IdentityProviderFilter) iter.Seq2[api.GroupMapping, error] {
	return all(func(string) (api.Page[api.GroupMapping], error) { return c.ListGroupMappings(ctx, f) })
}

// CreateGroupMapping maps a group to a role in an organization.
func (c *Client) CreateGroupMapping(ctx context.Context, in api.CreateGroupMapping, opts ...Option) (api.GroupMapping, error) {
	return post[api.GroupMapping](ctx, c, "/group-mappings", in, opts)
}

// DeleteGroupMapping deletes a mapping to a role in an organization.
func (c *Client) DeleteGroupMapping(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("group-mappings", id), opts)
}

// ListInstallationProviders returns the identity providers of the installation.
func (c *Client) ListInstallationProviders(ctx context.Context) (api.Page[api.IdentityProvider], error) {
	return get[api.Page[api.IdentityProvider]](ctx, c, "/installation/identity-providers", nil)
}

// AllInstallationProviders yields the identity providers of the installation.
func (c *Client) AllInstallationProviders(ctx context.Context, _ struct{}) iter.Seq2[api.IdentityProvider, error] {
	return all(func(string) (api.Page[api.IdentityProvider], error) { return c.ListInstallationProviders(ctx) })
}

// CreateInstallationProvider makes an identity provider of the installation.
func (c *Client) CreateInstallationProvider(ctx context.Context, in api.CreateInstallationProvider, opts ...Option) (api.IdentityProvider, error) {
	return post[api.IdentityProvider](ctx, c, "/installation/identity-providers", in, opts)
}

// GetInstallationProvider shows an identity provider of the installation.
func (c *Client) GetInstallationProvider(ctx context.Context, id string) (api.IdentityProvider, error) {
	return get[api.IdentityProvider](ctx, c, pathOf("installation", "identity-providers", id), nil)
}

// ChangeInstallationProvider changes an identity provider of the installation.
func (c *Client) ChangeInstallationProvider(ctx context.Context, id string, body api.ChangeIdentityProvider, opts ...Option) (api.IdentityProvider, error) {
	return patch[api.IdentityProvider](ctx, c, pathOf("installation", "identity-providers", id), body, opts)
}

// DeleteInstallationProvider deletes an identity provider of the installation.
func (c *Client) DeleteInstallationProvider(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("installation", "identity-providers", id), opts)
}

// CreateInstallationMapping maps a group of the installation's provider to a role.
func (c *Client) CreateInstallationMapping(ctx context.Context, in api.CreateInstallationMapping, opts ...Option) (api.GroupMapping, error) {
	return post[api.GroupMapping](ctx, c, "/installation/group-mappings", in, opts)
}

// DeleteInstallationMapping deletes a mapping of the installation's provider.
func (c *Client) DeleteInstallationMapping(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("installation", "group-mappings", id), opts)
}

// ListLoginProviders returns what the login page offers: the installation's providers, or one by its address.
func (c *Client) ListLoginProviders(ctx context.Context, f api.LoginProviderFilter) (api.Page[api.LoginProvider], error) {
	return list[api.LoginProvider](ctx, c, "/login-providers", f)
}

// StartLogin begins a login at an identity provider.
func (c *Client) StartLogin(ctx context.Context, in api.StartLogin) (api.StartedLogin, error) {
	return once[api.StartedLogin](ctx, c, "/logins", in)
}

// FinishLogin ends a login at an identity provider.
func (c *Client) FinishLogin(ctx context.Context, in api.FinishLogin) (api.FinishedLogin, error) {
	return once[api.FinishedLogin](ctx, c, "/logins/finish", in)
}

// ListIdentities returns what proves at identity providers that somebody is the bearer.
func (c *Client) ListIdentities(ctx context.Context) (api.Page[api.Identity], error) {
	return get[api.Page[api.Identity]](ctx, c, "/identities", nil)
}

// AllIdentities yields what proves at identity providers that somebody is the bearer.
func (c *Client) AllIdentities(ctx context.Context, _ struct{}) iter.Seq2[api.Identity, error] {
	return all(func(string) (api.Page[api.Identity], error) { return c.ListIdentities(ctx) })
}

// ListLinkableProviders returns the identity providers that the bearer can link their account to.
func (c *Client) ListLinkableProviders(ctx context.Context) (api.Page[api.LoginProvider], error) {
	return get[api.Page[api.LoginProvider]](ctx, c, "/identities/providers", nil)
}

// StartLink begins to link an identity to the bearer's account.
func (c *Client) StartLink(ctx context.Context, in api.StartLogin) (api.StartedLogin, error) {
	return once[api.StartedLogin](ctx, c, "/identities", in)
}

// FinishLink links an identity to the bearer's account.
func (c *Client) FinishLink(ctx context.Context, in api.FinishLogin) (api.LinkedIdentity, error) {
	return once[api.LinkedIdentity](ctx, c, "/identities/finish", in)
}

// DeleteIdentity unlinks an identity from the bearer's account.
func (c *Client) DeleteIdentity(ctx context.Context, id string, opts ...Option) error {
	return remove(ctx, c, pathOf("identities", id), opts)
}

// once posts what is not sent again: its answer has a secret, or it uses one up.
func once[T any](ctx context.Context, c *Client, path string, body any) (T, error) {
	out, _, err := send[T](ctx, c, request{method: http.MethodPost, path: path, body: body, noKey: true})
	return out, err
}
