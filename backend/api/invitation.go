package api

import (
	"net/http"
	"time"
)

// Invitation is a role that waits for somebody to accept it.
type Invitation struct {
	ID        string    `json:"id" format:"uuid"`
	Person    string    `json:"person" doc:"whom it is for: the name of an account, or a mail address"`
	Role      string    `json:"role" doc:"name of the role"`
	ScopeKind string    `json:"scope_kind" enum:"organization,project,workspace" doc:"what it invites to"`
	ScopeID   string    `json:"scope_id" format:"uuid" doc:"id of the scope"`
	Scope     string    `json:"scope" doc:"path of the scope"`
	Link      string    `json:"link,omitempty" doc:"secret with which it is accepted once; shown once"`
	ExpiresAt time.Time `json:"expires_at" doc:"the link is refused from then on"`
	CreatedBy string    `json:"created_by" doc:"name of the account that invited"`
	CreatedAt time.Time `json:"created_at"`
}

// CreateInvitation invites somebody to a role.
type CreateInvitation struct {
	Person string `json:"person" minLength:"1" maxLength:"254" doc:"the name of an account, which alone can accept then, or a mail address"`
	Role   string `json:"role" minLength:"1" maxLength:"64" doc:"a role of the product, or of the organization"`
	Scope  string `json:"scope" minLength:"1" maxLength:"256" doc:"id or path: organization, organization/project or organization/project/workspace"`
	Days   int    `json:"days,omitempty" minimum:"1" maximum:"30" default:"7" doc:"how long the link is valid"`
}

// InvitationFilter asks for the open invitations at a scope and below it.
type InvitationFilter struct {
	PageQuery
	Scope string `query:"scope" maxLength:"256" doc:"id or path of an organization, a project or a workspace; default: your organization, if you see one only"`
}

// InvitationLink is the secret of an invitation.
type InvitationLink struct {
	Link string `json:"link" minLength:"1" maxLength:"128" doc:"the secret that was shown when the invitation was made"`
}

// OfferedRole is what an invitation gives to whoever accepts it.
type OfferedRole struct {
	Role      string    `json:"role" doc:"name of the role"`
	Scope     string    `json:"scope" doc:"path of the scope"`
	Account   string    `json:"account,omitempty" doc:"name of the only account that can accept; empty for any"`
	CreatedBy string    `json:"created_by" doc:"name of the account that invited"`
	ExpiresAt time.Time `json:"expires_at" doc:"the link is refused from then on"`
}

// JoinByInvitation makes an account with the role of an invitation.
type JoinByInvitation struct {
	Link     string `json:"link" minLength:"1" maxLength:"128" doc:"the secret that was shown when the invitation was made"`
	Name     string `json:"name" minLength:"1" maxLength:"63" doc:"of the new account: lower-case letters, digits, ., _ and -"`
	Password string `json:"password" minLength:"1" maxLength:"1024" doc:"at least 12 characters"`
}

// Joined says which account has which role now.
type Joined struct {
	Account string `json:"account" doc:"name of the account"`
	Role    string `json:"role" doc:"name of the role"`
	Scope   string `json:"scope" doc:"path of the scope"`
}

var _ = addRoutes(
	Route{"list-invitations", http.MethodGet, "/invitations", "organization.invitation:read", "tenancy", "List open invitations at a scope and below it", false},
	Route{"create-invitation", http.MethodPost, "/invitations", "organization.invitation:create", "tenancy", "Invite somebody to a role; the answer has a link", false},
	Route{"get-invitation", http.MethodGet, "/invitations/{id}", "organization.invitation:read", "tenancy", "Show an open invitation", false},
	Route{"delete-invitation", http.MethodDelete, "/invitations/{id}", "organization.invitation:delete", "tenancy", "Withdraw an invitation", false},
	Route{"show-offered-role", http.MethodPost, "/invitations/show", "", "tenancy", "Show what the link of an invitation gives", false},
	Route{"accept-invitation", http.MethodPost, "/invitations/accept", Own, "tenancy", "Accept an invitation with your account", false},
	Route{"join-by-invitation", http.MethodPost, "/invitations/join", "", "tenancy", "Accept an invitation with a new account", false},
)
