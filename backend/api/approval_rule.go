package api

import (
	"net/http"
	"time"
)

// ApprovalRule says how many people have to approve plans of some kinds in a scope.
type ApprovalRule struct {
	ID         string      `json:"id" format:"uuid"`
	Name       string      `json:"name"`
	ScopeKind  string      `json:"scope_kind" enum:"organization,project,workspace" doc:"what it binds, with all that is in it"`
	ScopeID    string      `json:"scope_id" format:"uuid" doc:"id of the scope"`
	Scope      string      `json:"scope" doc:"path of the scope"`
	Kinds      []string    `json:"kinds" nullable:"false" doc:"kinds of jobs whose plans it asks for; without a plan they are refused"`
	Approvals  int         `json:"approvals" doc:"number of people other than the one who asks"`
	Hours      int         `json:"hours" doc:"from the check of a plan until it can't be approved or applied any more"`
	Operations []Operation `json:"operations" nullable:"false" doc:"what state and permissions allow now, and what prevents the rest"`
	Version    int64       `json:"version" doc:"also the ETag"`
	CreatedBy  string      `json:"created_by"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
}

// CreateApprovalRule makes a rule.
type CreateApprovalRule struct {
	Name      string   `json:"name" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -; unique in the organization"`
	Scope     string   `json:"scope" minLength:"1" maxLength:"256" doc:"id or path: organization, organization/project or organization/project/workspace"`
	Kinds     []string `json:"kinds" minItems:"1" maxItems:"32" nullable:"false" doc:"kinds of jobs that have plans, such as host_decommission"`
	Approvals int      `json:"approvals,omitempty" minimum:"1" maximum:"5" default:"1" doc:"number of people other than the one who asks"`
	Hours     int      `json:"hours,omitempty" minimum:"1" maximum:"168" default:"24" doc:"from the check of a plan until it can't be approved or applied any more"`
}

// ChangeApprovalRule changes the fields that are given, for plans that are there already as well.
type ChangeApprovalRule struct {
	Name      *string   `json:"name,omitempty" minLength:"1" maxLength:"63" doc:"lower-case letters, digits and -; unique in the organization"`
	Kinds     *[]string `json:"kinds,omitempty" minItems:"1" maxItems:"32" doc:"kinds of jobs that have plans; they replace those that are there"`
	Approvals *int      `json:"approvals,omitempty" minimum:"1" maximum:"5" doc:"number of people other than the one who asks"`
	Hours     *int      `json:"hours,omitempty" minimum:"1" maximum:"168" doc:"from the check of a plan until it can't be approved or applied any more"`
}

// ApprovalRuleFilter asks for the rules at a scope, above it and below it.
type ApprovalRuleFilter struct {
	Scope string `query:"scope" maxLength:"256" doc:"id or path of an organization, a project or a workspace; default: your organization, if you see one only"`
}

var _ = addRoutes(
	Route{"list-approval-rules", http.MethodGet, "/approval-rules", "organization.approval_rule:read", "tenancy", "List the approval rules at a scope, above it and below it", false},
	Route{"create-approval-rule", http.MethodPost, "/approval-rules", "organization.approval_rule:create", "tenancy", "Ask for approvals of plans in a scope", false},
	Route{"get-approval-rule", http.MethodGet, "/approval-rules/{id}", "organization.approval_rule:read", "tenancy", "Show an approval rule", false},
	Route{"change-approval-rule", http.MethodPatch, "/approval-rules/{id}", "organization.approval_rule:update", "tenancy", "Change an approval rule", false},
	Route{"delete-approval-rule", http.MethodDelete, "/approval-rules/{id}", "organization.approval_rule:delete", "tenancy", "Delete an approval rule", false},
)
