package api

import (
	"net/http"
	"time"
)

// Quota is how much of a resource a scope may have in use, and how much it has.
type Quota struct {
	Scope     string    `json:"scope" doc:"organization, organization/project or organization/project/workspace"`
	ScopeKind string    `json:"scope_kind" enum:"organization,project,workspace" doc:"what the scope is"`
	ScopeID   string    `json:"scope_id" format:"uuid" doc:"id of the scope"`
	Resource  string    `json:"resource" enum:"units,cpus,memory_bytes,addresses,hosts,jobs" doc:"what is limited; jobs: how many run at once"`
	Amount    int64     `json:"amount" doc:"the most that may be in use; memory in bytes"`
	Used      int64     `json:"used" doc:"how much is in use now"`
	Version   int64     `json:"version"`
	UpdatedBy string    `json:"updated_by" doc:"name of who set it"`
	UpdatedAt time.Time `json:"updated_at"`
}

// QuotaFilter narrows a list of quotas.
type QuotaFilter struct {
	Scope string `query:"scope" maxLength:"200" doc:"an organization, a project or a workspace: id or path. Its quotas, and those of what is in it; for a workspace also those above it, which bound it too"`
}

// SetQuota limits a resource in a scope.
type SetQuota struct {
	Scope    string `json:"scope" minLength:"1" maxLength:"200" doc:"an organization, a project or a workspace: id or path"`
	Resource string `json:"resource" enum:"units,cpus,memory_bytes,addresses,hosts,jobs" doc:"what is limited; jobs: how many run at once"`
	Amount   int64  `json:"amount" minimum:"0" maximum:"1000000000000000" doc:"the most that may be in use; memory in bytes"`
}

// QuotaOf names a quota.
type QuotaOf struct {
	Scope    string `json:"scope" minLength:"1" maxLength:"200" doc:"an organization, a project or a workspace: id or path"`
	Resource string `json:"resource" enum:"units,cpus,memory_bytes,addresses,hosts,jobs" doc:"what is limited; jobs: how many run at once"`
}

var _ = addRoutes(
	Route{"list-quotas", http.MethodGet, "/quotas", "organization.quota:read", "tenancy", "List quotas with what is in use", false},
	Route{"set-quota", http.MethodPost, "/quotas", "organization.quota:set", "tenancy", "Limit a resource in a scope; it needs the permission in the scope above", false},
	Route{"remove-quota", http.MethodPost, "/quotas/remove", "organization.quota:set", "tenancy", "Take a limit away", false},
)
