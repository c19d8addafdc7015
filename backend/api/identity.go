package api

import (
	"net/http"
	"time"
)

// IdentityProvider proves who somebody is: for an organization, or for the installation.
type IdentityProvider struct {
	ID             string         `json:"id" format:"uuid"`
	OrganizationID string         `json:"organization_id,omitempty" format:"uuid" doc:"id of its organization; empty for the installation's"`
	Organization   string         `json:"organization,omitempty" doc:"name of its organization; empty for the installation's"`
	Name           string         `json:"name"`
	Issuer         string         `json:"issuer" doc:"URL, as the provider writes it in its tokens"`
	ClientID       string         `json:"client_id" doc:"id that the provider gave to this installation"`
	HasSecret      bool           `json:"has_secret" doc:"whether the client has a secret, which is never shown"`
	Scopes         []string       `json:"scopes" nullable:"false" doc:"asked for besides openid"`
	GroupsClaim    string         `json:"groups_claim" doc:"name of the claim with the groups of a person"`
	State          string         `json:"state" enum:"enabled,disabled"`
	LoginPath      string         `json:"login_path" doc:"path of its login page in the web app"`
	RedirectURI    string         `json:"redirect_uri" doc:"what has to be registered at the provider; empty while the installation has no KLOIGOS_WEB_URL"`
	Mappings       []GroupMapping `json:"mappings" nullable:"false" doc:"which groups have which roles"`
	FailedAt       *time.Time     `json:"failed_at,omitempty" doc:"when the last login failed because of the provider, if none succeeded since"`
	Failure        string         `json:"failure,omitempty" doc:"why it failed"`
	Operations     []Operation    `json:"operations" nullable:"false" doc:"what state and permissions allow now, and what prevents the rest"`
	Version        int64          `json:"version" doc:"also the ETag"`
	CreatedAt      time.Time      `json:"created_at"`
	UpdatedAt      time.Time      `json:"updated_at"`
}

// IdentityProviderFilter asks for the identity providers of an organization.
type IdentityProviderFilter struct {
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization; default: yours, if you see one only"`
}

// CreateInstallationProvider makes an identity provider of the installation.
type CreateInstallationProvider struct {
	Name         string   `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Issuer       string   `json:"issuer" minLength:"1" maxLength:"500" doc:"URL, as the provider writes it in its tokens"`
	ClientID     string   `json:"client_id" minLength:"1" maxLength:"500" doc:"id that the provider gave to this installation"`
	ClientSecret string   `json:"client_secret,omitempty" maxLength:"1000" doc:"secret of the client, if it has one; it is never shown again"`
	Scopes       []string `json:"scopes,omitempty" maxItems:"20" doc:"asked for besides openid; default: profile and email"`
	GroupsClaim  string   `json:"groups_claim,omitempty" maxLength:"200" doc:"name of the claim with the groups of a person; default: groups"`
	State        string   `json:"state,omitempty" enum:"enabled,disabled" default:"enabled" doc:"nobody logs in by one that is disabled"`
}

// CreateIdentityProvider makes an identity provider of an organization.
type CreateIdentityProvider struct {
	Name         string   `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Issuer       string   `json:"issuer" minLength:"1" maxLength:"500" doc:"URL, as the provider writes it in its tokens"`
	ClientID     string   `json:"client_id" minLength:"1" maxLength:"500" doc:"id that the provider gave to this installation"`
	ClientSecret string   `json:"client_secret,omitempty" maxLength:"1000" doc:"secret of the client, if it has one; it is never shown again"`
	Scopes       []string `json:"scopes,omitempty" maxItems:"20" doc:"asked for besides openid; default: profile and email"`
	GroupsClaim  string   `json:"groups_claim,omitempty" maxLength:"200" doc:"name of the claim with the groups of a person; default: groups"`
	State        string   `json:"state,omitempty" enum:"enabled,disabled" default:"enabled" doc:"nobody logs in by one that is disabled"`
	Organization string   `json:"organization,omitempty" maxLength:"64" doc:"id or name of the organization; default: yours, if you see one only"`
}

// ChangeIdentityProvider changes the fields that are given.
type ChangeIdentityProvider struct {
	Name         *string   `json:"name,omitempty" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Issuer       *string   `json:"issuer,omitempty" minLength:"1" maxLength:"500" doc:"URL, as the provider writes it in its tokens"`
	ClientID     *string   `json:"client_id,omitempty" minLength:"1" maxLength:"500" doc:"id that the provider gave to this installation"`
	ClientSecret *string   `json:"client_secret,omitempty" maxLength:"1000" doc:"another secret of the client; empty for a client without"`
	Scopes       *[]string `json:"scopes,omitempty" maxItems:"20" doc:"asked for besides openid; they replace those that are there"`
	GroupsClaim  *string   `json:"groups_claim,omitempty" minLength:"1" maxLength:"200" doc:"name of the claim with the groups of a person"`
	State        *string   `json:"state,omitempty" enum:"enabled,disabled" doc:"disabled: nobody logs in by it, and its sessions end"`
}

// GroupMapping gives a role at a scope to everybody in a group of a provider, from their next login on.
type GroupMapping struct {
	ID         string    `json:"id" format:"uuid"`
	ProviderID string    `json:"provider_id" format:"uuid" doc:"id of the identity provider"`
	Provider   string    `json:"provider" doc:"name of the identity provider"`
	Shared     bool      `json:"shared" doc:"the provider is the installation's"`
	Group      string    `json:"group" doc:"as the provider tells it"`
	Role       string    `json:"role" doc:"name of the role"`
	ScopeKind  string    `json:"scope_kind" enum:"installation,organization,project,workspace" doc:"what the role is given at"`
	ScopeID    string    `json:"scope_id" format:"uuid" doc:"id of the scope; zeros for the installation"`
	Scope      string    `json:"scope" doc:"path of the scope; empty for the installation"`
	CreatedBy  string    `json:"created_by"`
	CreatedAt  time.Time `json:"created_at"`
}

// CreateGroupMapping maps a group to a role.
type CreateGroupMapping struct {
	Group    string `json:"group" minLength:"1" maxLength:"256" doc:"as the provider tells it"`
	Provider string `json:"provider" minLength:"1" maxLength:"64" doc:"id or name of an identity provider of the same organization"`
	Role     string `json:"role" minLength:"1" maxLength:"63" doc:"name of a role of the product or of the organization"`
	Scope    string `json:"scope" minLength:"1" maxLength:"256" doc:"id or path of an organization, a project or a workspace"`
}

// CreateInstallationMapping maps a group of a provider of the installation to a role.
type CreateInstallationMapping struct {
	Group    string `json:"group" minLength:"1" maxLength:"256" doc:"as the provider tells it"`
	Provider string `json:"provider" minLength:"1" maxLength:"64" doc:"id or name of an identity provider of the installation"`
	Role     string `json:"role" minLength:"1" maxLength:"63" doc:"installation_operator; with a scope, a role that can be given there"`
	Scope    string `json:"scope,omitempty" maxLength:"256" doc:"id or path of an organization, a project or a workspace where you may map groups; default: the installation"`
}

// LoginProvider is an identity provider as the login page offers it.
type LoginProvider struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// LoginProviderFilter asks for one provider by its address.
type LoginProviderFilter struct {
	Provider string `query:"provider" maxLength:"64" doc:"id of an enabled provider; default: those of the installation"`
}

// StartLogin begins a login at an identity provider.
type StartLogin struct {
	Provider string `json:"provider" minLength:"1" maxLength:"64" doc:"id of an enabled provider"`
	ReturnTo string `json:"return_to,omitempty" maxLength:"2000" doc:"path of the page to go to after the login"`
}

// StartedLogin is where the browser is sent to, and what it keeps until it is back.
type StartedLogin struct {
	URL       string    `json:"url" doc:"address at the provider"`
	Browser   string    `json:"browser" doc:"secret that stays in the browser: the login is ended with it only"`
	ExpiresAt time.Time `json:"expires_at"`
}

// FinishLogin ends a login with what the browser brought back.
type FinishLogin struct {
	Provider string `json:"provider" minLength:"1" maxLength:"64" doc:"id of the provider whose address the browser came back to"`
	Browser  string `json:"browser" minLength:"1" maxLength:"100" doc:"secret that stayed in the browser"`
	State    string `json:"state" minLength:"1" maxLength:"100" doc:"as it came back"`
	Code     string `json:"code,omitempty" maxLength:"4000" doc:"as it came back"`
	Error    string `json:"error,omitempty" maxLength:"200" doc:"as it came back, instead of a code"`
	Issuer   string `json:"issuer,omitempty" maxLength:"500" doc:"as it came back in iss (RFC 9207)"`
}

// FinishedLogin is a session that an identity provider opened; the token is shown once.
type FinishedLogin struct {
	Session
	ReturnTo string `json:"return_to" doc:"path of the page to go to"`
}

// Identity is what proves at an identity provider that somebody is you.
type Identity struct {
	ID           string    `json:"id" format:"uuid"`
	ProviderID   string    `json:"provider_id" format:"uuid" doc:"id of the identity provider"`
	Provider     string    `json:"provider" doc:"name of the identity provider"`
	Organization string    `json:"organization,omitempty" doc:"name of the provider's organization, where its sessions reach; empty for the installation's"`
	Issuer       string    `json:"issuer" doc:"URL of the provider"`
	Subject      string    `json:"subject" doc:"what the provider calls you"`
	Label        string    `json:"label" doc:"your address or name there"`
	CreatedAt    time.Time `json:"created_at"`
	LastLoginAt  time.Time `json:"last_login_at" doc:"when it was last proved"`
}

// LinkedIdentity is an identity that was just linked.
type LinkedIdentity struct {
	Identity
	ReturnTo string `json:"return_to" doc:"path of the page to go to"`
}

var _ = addRoutes(
	Route{"list-identity-providers", http.MethodGet, "/identity-providers", "organization.identity_provider:read", "identities", "List the identity providers of an organization", false},
	Route{"create-identity-provider", http.MethodPost, "/identity-providers", "organization.identity_provider:create", "identities", "Create an identity provider of an organization", false},
	Route{"get-identity-provider", http.MethodGet, "/identity-providers/{id}", "organization.identity_provider:read", "identities", "Show an identity provider of an organization", false},
	Route{"change-identity-provider", http.MethodPatch, "/identity-providers/{id}", "organization.identity_provider:update", "identities", "Change or disable an identity provider; with another issuer or client its sessions end", false},
	Route{"delete-identity-provider", http.MethodDelete, "/identity-providers/{id}", "organization.identity_provider:delete", "identities", "Delete an identity provider with what it gave: identities, roles and sessions", false},
	Route{"list-group-mappings", http.MethodGet, "/group-mappings", "organization.identity_provider:read", "identities", "List which groups have roles in an organization, by whatever provider", false},
	Route{"create-group-mapping", http.MethodPost, "/group-mappings", "organization.identity_provider:grant", "identities", "Map a group to a role in an organization", false},
	Route{"delete-group-mapping", http.MethodDelete, "/group-mappings/{id}", "organization.identity_provider:grant", "identities", "Delete a mapping to a role in an organization, and what it gave", false},
	Route{"list-installation-providers", http.MethodGet, "/installation/identity-providers", "installation.identity_provider:read", "identities", "List the identity providers of the installation", false},
	Route{"create-installation-provider", http.MethodPost, "/installation/identity-providers", "installation.identity_provider:create", "identities", "Create an identity provider of the installation", false},
	Route{"get-installation-provider", http.MethodGet, "/installation/identity-providers/{id}", "installation.identity_provider:read", "identities", "Show an identity provider of the installation", false},
	Route{"change-installation-provider", http.MethodPatch, "/installation/identity-providers/{id}", "installation.identity_provider:update", "identities", "Change or disable an identity provider of the installation", false},
	Route{"delete-installation-provider", http.MethodDelete, "/installation/identity-providers/{id}", "installation.identity_provider:delete", "identities", "Delete an identity provider of the installation with what it gave", false},
	Route{"create-installation-mapping", http.MethodPost, "/installation/group-mappings", "installation.identity_provider:grant", "identities", "Map a group of the installation's provider to a role", false},
	Route{"delete-installation-mapping", http.MethodDelete, "/installation/group-mappings/{id}", "installation.identity_provider:grant", "identities", "Delete a mapping of the installation's provider, and what it gave", false},
	Route{"list-login-providers", http.MethodGet, "/login-providers", "", "sessions", "List what the login page offers", false},
	Route{"start-login", http.MethodPost, "/logins", "", "sessions", "Begin a login at an identity provider", false},
	Route{"finish-login", http.MethodPost, "/logins/finish", "", "sessions", "End a login at an identity provider with a session", false},
	Route{"list-identities", http.MethodGet, "/identities", Own, "identities", "List what proves at identity providers that somebody is you", false},
	Route{"list-linkable-providers", http.MethodGet, "/identities/providers", Own, "identities", "List the identity providers that you can link your account to", false},
	Route{"start-link", http.MethodPost, "/identities", Own, "identities", "Begin to link an identity to your account", false},
	Route{"finish-link", http.MethodPost, "/identities/finish", Own, "identities", "Link the identity that you proved to your account", false},
	Route{"delete-identity", http.MethodDelete, "/identities/{id}", Own, "identities", "Unlink an identity from your account", false},
)
