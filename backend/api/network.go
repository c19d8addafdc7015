package api

import (
	"net/http"
	"time"
)

// Network is an address range that hosts carry, and whose addresses allocations get.
type Network struct {
	ID            string      `json:"id" format:"uuid"`
	Workspace     string      `json:"workspace"`
	Name          string      `json:"name" doc:"unique in its workspace; hosts and addresses name it"`
	Description   string      `json:"description"`
	CIDR          string      `json:"cidr" doc:"IPv4 range that its addresses lie in; empty for any"`
	Addresses     int64       `json:"addresses" doc:"how many addresses its pool has"`
	FreeAddresses int64       `json:"free_addresses" doc:"how many of them can be handed out"`
	Hosts         int64       `json:"hosts" doc:"how many hosts carry it"`
	Operations    []Operation `json:"operations" nullable:"false" doc:"what can be done with it now"`
	Version       int64       `json:"version" doc:"also the ETag"`
	CreatedAt     time.Time   `json:"created_at"`
	UpdatedAt     time.Time   `json:"updated_at"`
}

// CreateNetwork adds a network. Naming a new one at a host or at addresses does the same.
type CreateNetwork struct {
	Name        string `json:"name" minLength:"1" maxLength:"63" pattern:"^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$" patternDescription:"lower-case letters, digits, dots, hyphens and underscores; a letter or digit at both ends" doc:"unique in its workspace"`
	Description string `json:"description,omitempty" maxLength:"500" doc:"for people"`
	CIDR        string `json:"cidr,omitempty" maxLength:"18" doc:"IPv4 range that its addresses lie in; empty for any"`
}

// ChangeNetwork changes the fields that are given.
type ChangeNetwork struct {
	Description *string `json:"description,omitempty" maxLength:"500" doc:"for people"`
	CIDR        *string `json:"cidr,omitempty" maxLength:"18" doc:"IPv4 range that its addresses lie in; empty for any"`
}

// NetworkFilter asks for a list of networks.
type NetworkFilter struct {
	PageQuery
}

var _ = addRoutes(
	Route{"list-networks", http.MethodGet, "/networks", "project.workspace.network:read", "networks", "List networks", false},
	Route{"create-network", http.MethodPost, "/networks", "project.workspace.network:create", "networks", "Add a network", false},
	Route{"get-network", http.MethodGet, "/networks/{id}", "project.workspace.network:read", "networks", "Show a network", false},
	Route{"change-network", http.MethodPatch, "/networks/{id}", "project.workspace.network:update", "networks", "Change a network", false},
	Route{"delete-network", http.MethodDelete, "/networks/{id}", "project.workspace.network:delete", "networks", "Delete a network", false},
)
