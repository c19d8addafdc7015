package api

import (
	"net/http"
	"time"
)

// Scope is an organization, a project or a workspace.
type Scope struct {
	ID             string `json:"id" format:"uuid"`
	Kind           string `json:"kind" enum:"organization,project,workspace"`
	Name           string `json:"name"`
	Path           string `json:"path" doc:"its name with the names above it: organization/project/workspace"`
	OrganizationID string `json:"organization_id" format:"uuid" doc:"id of its organization"`
	Organization   string `json:"organization" doc:"name of its organization"`
	ProjectID      string `json:"project_id,omitempty" format:"uuid" doc:"id of its project"`
	Project        string `json:"project,omitempty" doc:"name of its project"`
	Type           string `json:"type,omitempty" enum:"bare_metal,kubernetes" doc:"of a workspace"`
	State          string `json:"state" enum:"active,suspended,deleting"`
	StateMeans     string `json:"state_means"`
	SuspendedBy    string `json:"suspended_by,omitempty" enum:"organization,project" doc:"the scope above that is suspended, and this one with it"`
	// SecondFactorRequired is of an organization.
	SecondFactorRequired bool           `json:"second_factor_required,omitempty" doc:"of an organization: sessions and tokens of people without a second factor reach nothing in it"`
	Deletion             *ScopeDeletion `json:"deletion,omitempty" doc:"while it is deleted with all that is in it"`
	Operations           []Operation    `json:"operations" nullable:"false" doc:"what state and permissions allow now, and what prevents the rest"`
	Version              int64          `json:"version" doc:"also the ETag"`
	CreatedAt            time.Time      `json:"created_at"`
	UpdatedAt            time.Time      `json:"updated_at"`
}

// CreateOrganization makes an organization with its SSH key, a project and a workspace that are called default.
type CreateOrganization struct {
	Name  string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Owner string `json:"owner,omitempty" maxLength:"64" doc:"id or name of the account that owns it first; default: you"`
}

// CreateProject makes a project.
type CreateProject struct {
	Name         string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Organization string `json:"organization" minLength:"1" maxLength:"64" doc:"id or name of its organization"`
}

// CreateWorkspace makes a workspace.
type CreateWorkspace struct {
	Name    string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Project string `json:"project" minLength:"1" maxLength:"128" doc:"id or path of its project, such as acme/web"`
	Type    string `json:"type,omitempty" enum:"bare_metal,kubernetes" default:"bare_metal" doc:"bare_metal: allocations of units; kubernetes: whole hosts"`
}

// ChangeScope changes the fields that are given.
type ChangeScope struct {
	Name string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
}

// MoveWorkspace moves a workspace to another project of its organization.
type MoveWorkspace struct {
	Project string `json:"project" minLength:"1" maxLength:"128" doc:"id or path of the project"`
}

// OrganizationFilter narrows a list of organizations.
type OrganizationFilter struct {
	PageQuery
	State string `query:"state" enum:"active,suspended"`
}

// ProjectFilter narrows a list of projects.
type ProjectFilter struct {
	PageQuery
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization"`
	State        string `query:"state" enum:"active,suspended"`
}

// WorkspaceFilter narrows a list of workspaces.
type WorkspaceFilter struct {
	PageQuery
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization"`
	Project      string `query:"project" maxLength:"128" doc:"id or path of a project"`
	State        string `query:"state" enum:"active,suspended"`
}

// Grant is a role that an account has at a scope and everywhere below it.
type Grant struct {
	ID           string    `json:"id" format:"uuid"`
	AccountID    string    `json:"account_id" format:"uuid"`
	Account      string    `json:"account" doc:"name of the account"`
	AccountKind  string    `json:"account_kind" enum:"person,service" doc:"whether a person or a program uses it"`
	AccountState string    `json:"account_state" enum:"active,disabled" doc:"a disabled account can do nothing"`
	Role         string    `json:"role" doc:"name of the role"`
	ScopeKind    string    `json:"scope_kind" enum:"organization,project,workspace" doc:"what it was given at"`
	ScopeID      string    `json:"scope_id" format:"uuid" doc:"id of the scope at which it was given"`
	Scope        string    `json:"scope" doc:"path of the scope at which it was given"`
	Inherited    bool      `json:"inherited" doc:"it was given at a scope above the one that was asked for"`
	Source       string    `json:"source" doc:"manual, or the identity provider that gave it"`
	CreatedBy    string    `json:"created_by"`
	CreatedAt    time.Time `json:"created_at"`
}

// CreateGrant gives an account a role.
type CreateGrant struct {
	Account string `json:"account" minLength:"1" maxLength:"64" doc:"id or name of an account of the organization"`
	Role    string `json:"role" minLength:"1" maxLength:"64" doc:"a role of the product, or of the organization"`
	Scope   string `json:"scope" minLength:"1" maxLength:"256" doc:"id or path: organization, organization/project or organization/project/workspace"`
}

// GrantFilter asks for the grants that reach a scope.
type GrantFilter struct {
	PageQuery
	Scope   string `query:"scope" maxLength:"256" doc:"id or path of an organization, a project or a workspace; default: your organization, if you see one only"`
	Account string `query:"account" maxLength:"64" doc:"id or name of an account"`
}

// Account is a person, or a program of an organization.
type Account struct {
	ID             string      `json:"id" format:"uuid"`
	Name           string      `json:"name"`
	Kind           string      `json:"kind" enum:"person,service" doc:"whether a person or a program uses it"`
	OrganizationID string      `json:"organization_id,omitempty" format:"uuid" doc:"id of the organization of a service account"`
	Email          string      `json:"email,omitempty" doc:"address of the person"`
	State          string      `json:"state" enum:"active,disabled"`
	Link           string      `json:"link,omitempty" doc:"secret with which the person sets a password once; shown once, valid for 7 days"`
	Operations     []Operation `json:"operations" nullable:"false" doc:"what state and permissions allow now, and what prevents the rest"`
	Version        int64       `json:"version" doc:"also the ETag"`
	CreatedAt      time.Time   `json:"created_at"`
	UpdatedAt      time.Time   `json:"updated_at"`
}

// CreateAccount makes an account of a person.
type CreateAccount struct {
	Name  string `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits, ., _ and -"`
	Email string `json:"email,omitempty" maxLength:"254" doc:"address of the person"`
}

// ChangeAccount changes the fields that are given.
type ChangeAccount struct {
	Name  *string `json:"name,omitempty" minLength:"1" maxLength:"63" doc:"lower-case letters, digits, ., _ and -"`
	Email *string `json:"email,omitempty" maxLength:"254" doc:"address of the person"`
}

// AccountFilter narrows a list of accounts.
type AccountFilter struct {
	PageQuery
	Kind  string `query:"kind" enum:"person,service" doc:"whether a person or a program uses it"`
	State string `query:"state" enum:"active,disabled"`
}

// MemberFilter asks for the accounts that have a role somewhere in an organization.
type MemberFilter struct {
	PageQuery
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization; default: yours, if you see one only"`
	Kind         string `query:"kind" enum:"person,service" doc:"whether a person or a program uses it"`
}

// ChangePassword sets another password of one's own account.
type ChangePassword struct {
	OldPassword string `json:"old_password" minLength:"1" maxLength:"1024" doc:"the present one"`
	Password    string `json:"password" minLength:"1" maxLength:"1024" doc:"at least 12 characters"`
}

// SetPassword sets the password of the account that a link is for.
type SetPassword struct {
	Link     string `json:"link" minLength:"1" maxLength:"128" doc:"the secret that was shown when the link was made"`
	Password string `json:"password" minLength:"1" maxLength:"1024" doc:"at least 12 characters"`
}

// PasswordSet says whose password was set.
type PasswordSet struct {
	Account string `json:"account" doc:"name of the account"`
}

// Role is a set of permissions that can be given at a scope: one of the product, or one that an organization made.
type Role struct {
	ID          string     `json:"id,omitempty" format:"uuid" doc:"of a role that the organization made; empty for one of the product"`
	Name        string     `json:"name"`
	Description string     `json:"description" doc:"what it is for"`
	BuiltIn     bool       `json:"built_in" doc:"it comes with the product and can't be changed"`
	Permissions []string   `json:"permissions" nullable:"false" doc:"keys of what it permits"`
	Version     int64      `json:"version,omitempty" doc:"also the ETag"`
	UpdatedAt   *time.Time `json:"updated_at,omitempty"`
}

// CreateRole makes a role of an organization.
type CreateRole struct {
	Name         string   `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Organization string   `json:"organization,omitempty" maxLength:"64" doc:"id or name of the organization; default: yours, if you see one only"`
	Description  string   `json:"description,omitempty" maxLength:"256" doc:"what it is for"`
	Permissions  []string `json:"permissions" minItems:"1" maxItems:"500" nullable:"false" doc:"keys of what it permits, such as project.workspace.host:read"`
}

// ChangeRole changes the fields that are given.
type ChangeRole struct {
	Name        *string   `json:"name,omitempty" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -"`
	Description *string   `json:"description,omitempty" maxLength:"256" doc:"what it is for"`
	Permissions *[]string `json:"permissions,omitempty" minItems:"1" maxItems:"500" doc:"keys of what it permits; they replace those that are there"`
}

// RoleFilter asks for the roles that can be given in an organization.
type RoleFilter struct {
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization; default: yours, if you see one only"`
}

// CreateServiceAccount makes an account of a program.
type CreateServiceAccount struct {
	Name         string `json:"name" minLength:"1" maxLength:"54" doc:"lower-case letters, digits, ., _ and -"`
	Organization string `json:"organization,omitempty" maxLength:"64" doc:"id or name of the organization; default: yours, if you see one only"`
}

// ServiceAccountFilter narrows a list of service accounts.
type ServiceAccountFilter struct {
	PageQuery
	Organization string `query:"organization" maxLength:"64" doc:"id or name of an organization; default: yours, if you see one only"`
	State        string `query:"state" enum:"active,disabled"`
}

// Key is an API key of a service account.
type Key struct {
	ID          string     `json:"id" format:"uuid"`
	Account     string     `json:"account" doc:"name of its service account"`
	Name        string     `json:"name" doc:"what it is for"`
	Prefix      string     `json:"prefix" doc:"first characters of the secret"`
	Secret      string     `json:"secret,omitempty" doc:"bearer token, shown once"`
	Permissions []string   `json:"permissions,omitempty" doc:"what it may do at most; empty for all that its account may"`
	Scope       string     `json:"scope,omitempty" doc:"id of the scope that it is narrowed to; empty for everywhere its account reaches"`
	CreatedAt   time.Time  `json:"created_at"`
	ExpiresAt   time.Time  `json:"expires_at"`
	LastUsedAt  *time.Time `json:"last_used_at,omitempty"`
	OldUntil    *time.Time `json:"old_until,omitempty" doc:"until then the secret from before the rotation works too"`
	OldUsedAt   *time.Time `json:"old_used_at,omitempty" doc:"last use of the secret from before the rotation"`
}

// CreateKey makes a key.
type CreateKey struct {
	Name        string   `json:"name" minLength:"1" maxLength:"64" doc:"what it is for"`
	Days        int      `json:"days,omitempty" minimum:"1" maximum:"3650" default:"90" doc:"how long it is valid"`
	Permissions []string `json:"permissions,omitempty" maxItems:"500" doc:"what it may do at most; default: all that its account may"`
	Scope       string   `json:"scope,omitempty" maxLength:"256" doc:"id or path of a scope that it is narrowed to"`
}

// RotateKey gives a key another secret.
type RotateKey struct {
	Hours int `json:"hours,omitempty" minimum:"0" maximum:"720" default:"24" doc:"how long the former secret works too"`
}

// AccessQuery asks whether the bearer may do something.
type AccessQuery struct {
	Permission string `query:"permission" required:"true" minLength:"1" maxLength:"100" doc:"key, such as project.workspace.host:create"`
	Object     string `query:"object" maxLength:"256" doc:"id or path of a scope, or id of an object in a workspace; empty for the installation"`
}

// Access says whether the bearer may do something, and why.
type Access struct {
	Allowed    bool          `json:"allowed"`
	Permission string        `json:"permission" doc:"key that was asked for"`
	At         string        `json:"at" doc:"path of the scope of the object; empty for the installation"`
	By         []AccessGrant `json:"by" nullable:"false" doc:"the grants that allow it"`
	Why        string        `json:"why" doc:"explanation in a sentence"`
	Roles      []string      `json:"roles" nullable:"false" doc:"roles of the product that allow it"`
}

// AccessGrant is a grant that allows something.
type AccessGrant struct {
	Role      string `json:"role" doc:"name of the role"`
	ScopeKind string `json:"scope_kind" enum:"installation,organization,project,workspace" doc:"what it was given at"`
	ScopeID   string `json:"scope_id" format:"uuid" doc:"id of the scope at which it was given"`
	Source    string `json:"source" doc:"manual, or the identity provider that gave it"`
}

var _ = addRoutes(
	Route{"list-roles", http.MethodGet, "/roles", "organization.role:read", "tenancy", "List the roles that can be given in an organization", false},
	Route{"create-role", http.MethodPost, "/roles", "organization.role:create", "tenancy", "Create a role of an organization", false},
	Route{"get-role", http.MethodGet, "/roles/{id}", "organization.role:read", "tenancy", "Show a role of an organization", false},
	Route{"change-role", http.MethodPatch, "/roles/{id}", "organization.role:update", "tenancy", "Change a role, for everybody who has it", false},
	Route{"delete-role", http.MethodDelete, "/roles/{id}", "organization.role:delete", "tenancy", "Delete a role that nobody has", false},
	Route{"list-service-accounts", http.MethodGet, "/service-accounts", "organization.service_account:read", "accounts", "List the service accounts of an organization", false},
	Route{"create-service-account", http.MethodPost, "/service-accounts", "organization.service_account:create", "accounts", "Create an account of a program", false},
	Route{"get-service-account", http.MethodGet, "/service-accounts/{id}", "organization.service_account:read", "accounts", "Show a service account", false},
	Route{"disable-service-account", http.MethodPost, "/service-accounts/{id}/disable", "organization.service_account:update", "accounts", "Disable a service account; its keys end at once", false},
	Route{"enable-service-account", http.MethodPost, "/service-accounts/{id}/enable", "organization.service_account:update", "accounts", "Enable a disabled service account", false},
	Route{"list-keys", http.MethodGet, "/service-accounts/{id}/keys", "organization.service_account:read", "accounts", "List the keys of a service account", false},
	Route{"create-key", http.MethodPost, "/service-accounts/{id}/keys", "organization.service_account:reveal", "accounts", "Create a key of a service account", false},
	Route{"rotate-key", http.MethodPost, "/service-accounts/{id}/keys/{key}/rotate", "organization.service_account:reveal", "accounts", "Give a key another secret; the former one works for a while", false},
	Route{"delete-key", http.MethodDelete, "/service-accounts/{id}/keys/{key}", "organization.service_account:update", "accounts", "End a key", false},
	Route{"get-access", http.MethodGet, "/access", Own, "tenancy", "Ask whether you may do something, and why", false},
	Route{"list-accounts", http.MethodGet, "/accounts", "installation.account:read", "accounts", "List all accounts of the installation", false},
	Route{"create-account", http.MethodPost, "/accounts", "installation.account:create", "accounts", "Create an account of a person; the answer has a link to set the password", false},
	Route{"get-account", http.MethodGet, "/accounts/{id}", "installation.account:read", "accounts", "Show an account", false},
	Route{"change-account", http.MethodPatch, "/accounts/{id}", "installation.account:update", "accounts", "Change name or address of a person", false},
	Route{"disable-account", http.MethodPost, "/accounts/{id}/disable", "installation.account:disable", "accounts", "Disable an account; its sessions and tokens end at once", false},
	Route{"enable-account", http.MethodPost, "/accounts/{id}/enable", "installation.account:disable", "accounts", "Enable a disabled account", false},
	Route{"reset-password", http.MethodPost, "/accounts/{id}/reset-password", "installation.account:update", "accounts", "Make a link with which the person sets another password", false},
	Route{"list-members", http.MethodGet, "/members", "organization.member:read", "accounts", "List the accounts that have a role in an organization", false},
	Route{"change-password", http.MethodPost, "/password", Own, "accounts", "Change your password; your other sessions end", false},
	Route{"set-password", http.MethodPost, "/passwords", "", "accounts", "Set a password with a link", false},
	Route{"list-organizations", http.MethodGet, "/organizations", Own, "tenancy", "List the organizations that you see", false},
	Route{"create-organization", http.MethodPost, "/organizations", "installation.organization:create", "tenancy", "Create an organization with a project and a workspace", false},
	Route{"get-organization", http.MethodGet, "/organizations/{id}", Own, "tenancy", "Show an organization", false},
	Route{"change-organization", http.MethodPatch, "/organizations/{id}", "organization:update", "tenancy", "Rename an organization", false},
	Route{"suspend-organization", http.MethodPost, "/organizations/{id}/suspend", "installation.organization:suspend", "tenancy", "Suspend an organization: nothing in it can be changed", false},
	Route{"resume-organization", http.MethodPost, "/organizations/{id}/resume", "installation.organization:suspend", "tenancy", "Resume a suspended organization", false},
	Route{"require-second-factor", http.MethodPost, "/organizations/{id}/require-second-factor", "organization:update", "tenancy", "Ask everybody in an organization for a second factor", false},
	Route{"waive-second-factor", http.MethodPost, "/organizations/{id}/waive-second-factor", "organization:update", "tenancy", "End to ask for a second factor in an organization", false},
	Route{"delete-organization", http.MethodDelete, "/organizations/{id}", "organization:delete", "tenancy", "Delete an organization without projects", false},
	Route{"list-projects", http.MethodGet, "/projects", Own, "tenancy", "List the projects that you see", false},
	Route{"create-project", http.MethodPost, "/projects", "project:create", "tenancy", "Create a project in an organization", false},
	Route{"get-project", http.MethodGet, "/projects/{id}", Own, "tenancy", "Show a project", false},
	Route{"change-project", http.MethodPatch, "/projects/{id}", "project:update", "tenancy", "Rename a project", false},
	Route{"suspend-project", http.MethodPost, "/projects/{id}/suspend", "project:suspend", "tenancy", "Suspend a project: nothing in it can be changed", false},
	Route{"resume-project", http.MethodPost, "/projects/{id}/resume", "project:suspend", "tenancy", "Resume a suspended project", false},
	Route{"delete-project", http.MethodDelete, "/projects/{id}", "project:delete", "tenancy", "Delete a project without workspaces", false},
	Route{"list-workspaces", http.MethodGet, "/workspaces", Own, "tenancy", "List the workspaces that you see", false},
	Route{"create-workspace", http.MethodPost, "/workspaces", "project.workspace:create", "tenancy", "Create a workspace in a project", false},
	Route{"get-workspace", http.MethodGet, "/workspaces/{id}", Own, "tenancy", "Show a workspace", false},
	Route{"change-workspace", http.MethodPatch, "/workspaces/{id}", "project.workspace:update", "tenancy", "Rename a workspace", false},
	Route{"move-workspace", http.MethodPost, "/workspaces/{id}/move", "project.workspace:update", "tenancy", "Move a workspace to another project of its organization", false},
	Route{"suspend-workspace", http.MethodPost, "/workspaces/{id}/suspend", "project.workspace:suspend", "tenancy", "Suspend a workspace: nothing in it can be changed", false},
	Route{"resume-workspace", http.MethodPost, "/workspaces/{id}/resume", "project.workspace:suspend", "tenancy", "Resume a suspended workspace", false},
	Route{"delete-workspace", http.MethodDelete, "/workspaces/{id}", "project.workspace:delete", "tenancy", "Delete an empty workspace", false},
	Route{"list-grants", http.MethodGet, "/grants", "organization.member:read", "tenancy", "List the roles that accounts have at a scope, inherited ones too", false},
	Route{"create-grant", http.MethodPost, "/grants", "organization.member:grant", "tenancy", "Give an account a role at a scope", false},
	Route{"get-grant", http.MethodGet, "/grants/{id}", "organization.member:read", "tenancy", "Show a grant", false},
	Route{"delete-grant", http.MethodDelete, "/grants/{id}", Own, "tenancy", "Take a role away, or leave by taking away your own", false},
)
