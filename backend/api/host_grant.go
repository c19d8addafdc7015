package api

import (
	"net/http"
	"time"
)

// HostGrant lets a scope place allocations on a host of another workspace.
type HostGrant struct {
	ID         string      `json:"id" format:"uuid"`
	Workspace  string      `json:"workspace" doc:"id of the workspace of the host"`
	HostID     string      `json:"host_id" format:"uuid"`
	Host       string      `json:"host"`
	ScopeKind  string      `json:"scope_kind" enum:"organization,project,workspace" doc:"noun of the scope"`
	ScopeID    string      `json:"scope_id" format:"uuid" doc:"id of the scope that may use the host, with all that is in it"`
	Scope      string      `json:"scope" doc:"path of the scope"`
	Units      *int64      `json:"units,omitempty" doc:"number of units that the scope may have there at once; none: the whole host"`
	InUse      int64       `json:"in_use" doc:"number of units that the scope has there"`
	State      string      `json:"state" enum:"granted,ending" doc:"ending: revoked, and over with the last allocation"`
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now"`
	Version    int64       `json:"version" doc:"also the ETag"`
	CreatedBy  string      `json:"created_by"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
	RevokedAt  *time.Time  `json:"revoked_at,omitempty" doc:"no new allocation from then on"`
}

// CreateHostGrant grants a host.
type CreateHostGrant struct {
	Host  string `json:"host" minLength:"1" maxLength:"64" doc:"id or name of a host of this workspace"`
	Scope string `json:"scope" minLength:"1" maxLength:"256" doc:"id or path of an organization, a project or a workspace that you see"`
	Units *int64 `json:"units,omitempty" minimum:"1" maximum:"1024" doc:"number of units that the scope may have there at once; none: the whole host"`
}

// ChangeHostGrant changes how much of a host is granted.
type ChangeHostGrant struct {
	Units *int64 `json:"units,omitempty" minimum:"1" maximum:"1024" doc:"number of units that the scope may have there at once; none: the whole host"`
}

// HostGrantFilter asks for a list of grants.
type HostGrantFilter struct {
	Host string `query:"host" maxLength:"64" doc:"id or name of a host"`
	PageQuery
}

// SharedHost is a host of another workspace that this workspace may use.
type SharedHost struct {
	ID        string `json:"id" format:"uuid" doc:"name it as the host of an allocation"`
	Name      string `json:"name"`
	Region    string `json:"region"`
	Zone      string `json:"zone"`
	Available bool   `json:"available" doc:"it takes allocations now"`
	Units     *int64 `json:"units,omitempty" doc:"number of units that the grants let in at once; none: the whole host"`
	InUse     int64  `json:"in_use" doc:"number of units that this workspace has there"`
	Free      int64  `json:"free" doc:"number of units that this workspace could get there now"`
}

// SharedHostFilter asks for a list of shared hosts.
type SharedHostFilter struct {
	PageQuery
}

var _ = addRoutes(
	Route{"list-host-grants", http.MethodGet, "/host-grants", "project.workspace.host_grant:read", "host grants", "List who may use hosts of this workspace", false},
	Route{"create-host-grant", http.MethodPost, "/host-grants", "project.workspace.host_grant:create", "host grants", "Let a scope use a host", false},
	Route{"get-host-grant", http.MethodGet, "/host-grants/{id}", "project.workspace.host_grant:read", "host grants", "Show a grant of a host", false},
	Route{"change-host-grant", http.MethodPatch, "/host-grants/{id}", "project.workspace.host_grant:update", "host grants", "Change how much of a host is granted", false},
	Route{"delete-host-grant", http.MethodDelete, "/host-grants/{id}", "project.workspace.host_grant:delete", "host grants", "Revoke a grant of a host", false},
	Route{"list-shared-hosts", http.MethodGet, "/shared-hosts", "project.workspace.shared_host:read", "host grants", "List the hosts of other workspaces that this one may use", false},
)
