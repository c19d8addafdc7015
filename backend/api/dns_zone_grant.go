package api

import (
	"net/http"
	"time"
)

// DNSZoneGrant lets a scope have names in a DNS zone of another workspace.
type DNSZoneGrant struct {
	ID         string      `json:"id" format:"uuid"`
	Workspace  string      `json:"workspace" doc:"id of the workspace of the zone"`
	ZoneID     string      `json:"zone_id" format:"uuid" doc:"id of the DNS zone"`
	Zone       string      `json:"zone" doc:"name of the zone, in Unicode"`
	ScopeKind  string      `json:"scope_kind" enum:"organization,project,workspace" doc:"noun of the scope"`
	ScopeID    string      `json:"scope_id" format:"uuid" doc:"id of the scope that may use the zone, with all that is in it"`
	Scope      string      `json:"scope" doc:"path of the scope"`
	Suffix     string      `json:"suffix" doc:"names of the scope are this one or end with it, in Unicode"`
	WholeZone  bool        `json:"whole_zone" doc:"the suffix is the zone itself"`
	InUse      int64       `json:"in_use" doc:"number of record sets that the scope has there"`
	State      string      `json:"state" enum:"granted,ending" doc:"ending: revoked, and over with the last name"`
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now"`
	Version    int64       `json:"version" doc:"also the ETag"`
	CreatedBy  string      `json:"created_by"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
	RevokedAt  *time.Time  `json:"revoked_at,omitempty" doc:"no new name from then on"`
}

// CreateDNSZoneGrant grants a zone.
type CreateDNSZoneGrant struct {
	Zone   string `json:"zone" minLength:"1" maxLength:"1024" doc:"id or name of a DNS zone of this workspace"`
	Scope  string `json:"scope" minLength:"1" maxLength:"256" doc:"id or path of an organization, a project or a workspace that you see"`
	Suffix string `json:"suffix,omitempty" maxLength:"1024" doc:"names of the scope are this one or end with it; relative to the zone or absolute; none: the whole zone"`
}

// ChangeDNSZoneGrant changes which names are granted.
type ChangeDNSZoneGrant struct {
	Suffix string `json:"suffix,omitempty" maxLength:"1024" doc:"names of the scope are this one or end with it; relative to the zone or absolute; none: the whole zone"`
}

// RemoveDNSZoneNames deletes what a revoked grant let into a zone.
type RemoveDNSZoneNames struct {
	Confirm string `json:"confirm" minLength:"1" maxLength:"1024" doc:"the name of the zone, in Unicode"`
}

// DNSZoneGrantFilter asks for a list of grants.
type DNSZoneGrantFilter struct {
	Zone string `query:"zone" maxLength:"1024" doc:"id or name of a DNS zone"`
	PageQuery
}

// SharedDNSZone is a DNS zone of another workspace that this workspace may have names in.
type SharedDNSZone struct {
	ID               string      `json:"id" format:"uuid" doc:"id of the grant; name the zone by it where several have its name"`
	ZoneID           string      `json:"zone_id" format:"uuid" doc:"id of the DNS zone"`
	Name             string      `json:"name" doc:"in Unicode, without the final dot"`
	Suffix           string      `json:"suffix" doc:"names of this workspace are this one or end with it, in Unicode"`
	WholeZone        bool        `json:"whole_zone" doc:"the suffix is the zone itself"`
	Organization     string      `json:"organization" doc:"that shares the zone"`
	State            string      `json:"state" enum:"pending,syncing,live,held,failed" doc:"of the zone"`
	StateMeans       string      `json:"state_means"`
	Mode             string      `json:"mode" enum:"sync,upsert_only,observe" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
	NegativeTTL      int64       `json:"negative_ttl" doc:"seconds for which resolvers deny a name of the zone"`
	SyncedAt         *time.Time  `json:"synced_at,omitempty" doc:"when the last synchronization ended"`
	NamesAllocations bool        `json:"names_allocations" doc:"the allocations and the cluster of this workspace have names here"`
	InUse            int64       `json:"in_use" doc:"number of record sets that this workspace has there"`
	Operations       []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	CreatedAt        time.Time   `json:"created_at" doc:"when it was granted"`
	RevokedAt        *time.Time  `json:"revoked_at,omitempty" doc:"no new name from then on"`
}

// NameInSharedDNSZone says whether the allocations of this workspace have names in a zone of another one.
type NameInSharedDNSZone struct {
	NamesAllocations bool `json:"names_allocations" doc:"give the allocations and the cluster of the workspace names here; one zone of a workspace does"`
}

// SharedDNSZoneFilter asks for a list of shared zones.
type SharedDNSZoneFilter struct {
	PageQuery
}

var _ = addRoutes(
	Route{"list-dns-zone-grants", http.MethodGet, "/dns-zone-grants", "project.workspace.dns_zone_grant:read", "dns zone grants", "List who may use DNS zones of this workspace", false},
	Route{"create-dns-zone-grant", http.MethodPost, "/dns-zone-grants", "project.workspace.dns_zone_grant:create", "dns zone grants", "Let a scope use a DNS zone", false},
	Route{"get-dns-zone-grant", http.MethodGet, "/dns-zone-grants/{id}", "project.workspace.dns_zone_grant:read", "dns zone grants", "Show a grant of a DNS zone", false},
	Route{"change-dns-zone-grant", http.MethodPatch, "/dns-zone-grants/{id}", "project.workspace.dns_zone_grant:update", "dns zone grants", "Change which names of a DNS zone are granted", false},
	Route{"delete-dns-zone-grant", http.MethodDelete, "/dns-zone-grants/{id}", "project.workspace.dns_zone_grant:delete", "dns zone grants", "Revoke a grant of a DNS zone", false},
	Route{"remove-dns-zone-names", http.MethodPost, "/dns-zone-grants/{id}/remove-names", "project.workspace.dns_zone_grant:delete", "dns zone grants", "Delete the names that a revoked grant let into a DNS zone", false},
	Route{"list-shared-dns-zones", http.MethodGet, "/shared-dns-zones", "project.workspace.shared_dns_zone:read", "dns zone grants", "List the DNS zones of other workspaces that this one may use", false},
	Route{"get-shared-dns-zone", http.MethodGet, "/shared-dns-zones/{id}", "project.workspace.shared_dns_zone:read", "dns zone grants", "Show a DNS zone of another workspace", false},
	Route{"name-in-shared-dns-zone", http.MethodPost, "/shared-dns-zones/{id}/naming", "project.workspace.shared_dns_zone:update", "dns zone grants", "Begin or stop to name allocations in a DNS zone of another workspace", false},
)
