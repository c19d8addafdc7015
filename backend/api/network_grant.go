package api

import (
	"net/http"
	"time"
)

// NetworkGrant lets hosts of a scope carry a network of another workspace.
type NetworkGrant struct {
	ID         string      `json:"id" format:"uuid"`
	Workspace  string      `json:"workspace" doc:"id of the workspace of the network"`
	NetworkID  string      `json:"network_id" format:"uuid" doc:"id of the network"`
	Network    string      `json:"network"`
	ScopeKind  string      `json:"scope_kind" enum:"organization,project,workspace" doc:"noun of the scope"`
	ScopeID    string      `json:"scope_id" format:"uuid" doc:"id of the scope whose hosts may carry the network, with all that is in it"`
	Scope      string      `json:"scope" doc:"path of the scope"`
	Addresses  *int64      `json:"addresses,omitempty" doc:"number of addresses that the scope may have at once; none: the whole pool"`
	InUse      int64       `json:"in_use" doc:"number of addresses that the scope has; one counts until it is free again"`
	State      string      `json:"state" enum:"granted,ending" doc:"ending: revoked, and over when the last address is free again"`
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now"`
	Version    int64       `json:"version" doc:"also the ETag"`
	CreatedBy  string      `json:"created_by"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
	RevokedAt  *time.Time  `json:"revoked_at,omitempty" doc:"no new address from then on"`
}

// CreateNetworkGrant grants a network.
type CreateNetworkGrant struct {
	Network   string `json:"network" minLength:"1" maxLength:"63" doc:"id or name of a network of this workspace"`
	Scope     string `json:"scope" minLength:"1" maxLength:"256" doc:"id or path of an organization, a project or a workspace that you see"`
	Addresses *int64 `json:"addresses,omitempty" minimum:"1" maximum:"16777216" doc:"number of addresses that the scope may have at once; none: the whole pool"`
}

// ChangeNetworkGrant changes how much of a network is granted.
type ChangeNetworkGrant struct {
	Addresses *int64 `json:"addresses,omitempty" minimum:"1" maximum:"16777216" doc:"number of addresses that the scope may have at once; none: the whole pool"`
}

// NetworkGrantFilter asks for a list of grants.
type NetworkGrantFilter struct {
	Network string `query:"network" maxLength:"63" doc:"id or name of a network"`
	PageQuery
}

// SharedNetwork is a network of another workspace that hosts of this workspace may carry.
type SharedNetwork struct {
	ID           string `json:"id" format:"uuid" doc:"name it as a network of a host or of an allocation"`
	Name         string `json:"name"`
	CIDR         string `json:"cidr,omitempty" doc:"range that all addresses of its pool are in; none: any address"`
	Organization string `json:"organization" doc:"that shares the network"`
	Addresses    *int64 `json:"addresses,omitempty" doc:"number of addresses that the grants give at once; none: the whole pool"`
	InUse        int64  `json:"in_use" doc:"number of addresses that this workspace has"`
	Free         int64  `json:"free" doc:"number of addresses that this workspace could get now"`
	Hosts        int64  `json:"hosts" doc:"number of hosts of this workspace that carry it"`
}

// SharedNetworkFilter asks for a list of shared networks.
type SharedNetworkFilter struct {
	PageQuery
}

var _ = addRoutes(
	Route{"list-network-grants", http.MethodGet, "/network-grants", "project.workspace.network_grant:read", "network grants", "List who may use networks of this workspace", false},
	Route{"create-network-grant", http.MethodPost, "/network-grants", "project.workspace.network_grant:create", "network grants", "Let hosts of a scope carry a network", false},
	Route{"get-network-grant", http.MethodGet, "/network-grants/{id}", "project.workspace.network_grant:read", "network grants", "Show a grant of a network", false},
	Route{"change-network-grant", http.MethodPatch, "/network-grants/{id}", "project.workspace.network_grant:update", "network grants", "Change how many addresses of a network are granted", false},
	Route{"delete-network-grant", http.MethodDelete, "/network-grants/{id}", "project.workspace.network_grant:delete", "network grants", "Revoke a grant of a network", false},
	Route{"list-shared-networks", http.MethodGet, "/shared-networks", "project.workspace.shared_network:read", "network grants", "List the networks of other workspaces that hosts of this one may carry", false},
)
