package api

import (
	"net/http"
	"time"
)

// DNSZone is a zone of a name server, whose record sets are kept in line with what was asked for.
type DNSZone struct {
	ID               string      `json:"id" format:"uuid"`
	Workspace        string      `json:"workspace"`
	Name             string      `json:"name" doc:"in Unicode, without the final dot"`
	ASCIIName        string      `json:"ascii_name" doc:"as name servers have it, with the final dot"`
	Provider         string      `json:"provider" enum:"rfc2136" doc:"how its name server is changed"`
	Server           string      `json:"server" doc:"host:port of the name server that takes updates"`
	AllowPrivate     bool        `json:"allow_private" doc:"its name servers may have addresses in private ranges"`
	KeyName          string      `json:"key_name" doc:"of the TSIG key"`
	KeyAlgorithm     string      `json:"key_algorithm" enum:"hmac-sha256,hmac-sha512" doc:"of the TSIG key"`
	Patterns         []string    `json:"patterns" nullable:"false" doc:"which names the key may change, with one * a label; empty for all"`
	Mode             string      `json:"mode" enum:"sync,upsert_only,observe" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
	NamesAllocations bool        `json:"names_allocations" doc:"the allocations and the cluster of the workspace have names here"`
	State            string      `json:"state" enum:"pending,syncing,live,held,failed"`
	StateMeans       string      `json:"state_means"`
	Message          string      `json:"message,omitempty" doc:"why it is held or failed, or what needs attention"`
	Reason           string      `json:"reason,omitempty" doc:"of the failure, a permanent word"`
	Plan             *DNSPlan    `json:"plan,omitempty" doc:"the plan that waits for a confirmation"`
	Serial           *int64      `json:"serial,omitempty" doc:"of the zone when it was last read"`
	NegativeTTL      int64       `json:"negative_ttl" doc:"seconds for which resolvers deny a name of the zone"`
	SyncedAt         *time.Time  `json:"synced_at,omitempty" doc:"when the last synchronization ended"`
	Operations       []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version          int64       `json:"version" doc:"also the ETag"`
	CreatedAt        time.Time   `json:"created_at"`
	UpdatedAt        time.Time   `json:"updated_at"`
}

// DNSPlan is a plan that changes too much to be carried out without a confirmation.
type DNSPlan struct {
	Checksum string `json:"checksum" doc:"give it to confirm this plan and no other"`
	Owned    int64  `json:"owned" doc:"record sets on the server that are ours"`
	Touched  int64  `json:"touched" doc:"of these, how many the plan updates or deletes"`
}

// CreateDNSZone adds a zone.
type CreateDNSZone struct {
	Name             string   `json:"name" minLength:"1" maxLength:"1024" doc:"Unicode or ASCII; the final dot is optional"`
	Server           string   `json:"server" minLength:"1" maxLength:"300" doc:"name or address of the name server that takes updates, with a port if it is not 53"`
	AllowPrivate     bool     `json:"allow_private,omitempty" doc:"its name servers may have addresses in private ranges, loopback included"`
	KeyName          string   `json:"key_name" minLength:"1" maxLength:"255" doc:"of the TSIG key"`
	KeyAlgorithm     string   `json:"key_algorithm,omitempty" enum:"hmac-sha256,hmac-sha512" default:"hmac-sha256" doc:"of the TSIG key"`
	KeySecret        string   `json:"key_secret" minLength:"1" maxLength:"1024" doc:"in base64, as in the server's configuration; it is never shown again"`
	Patterns         []string `json:"patterns,omitempty" maxItems:"100" doc:"which names the key may change, such as *.apps.example.org"`
	Mode             string   `json:"mode,omitempty" enum:"sync,upsert_only,observe" default:"sync" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
	NamesAllocations bool     `json:"names_allocations,omitempty" doc:"give the allocations and the cluster of the workspace names here; one zone of a workspace does"`
}

// ChangeDNSZone changes the fields that are given.
type ChangeDNSZone struct {
	Server           *string   `json:"server,omitempty" minLength:"1" maxLength:"300" doc:"name or address of the name server that takes updates, with a port if it is not 53"`
	AllowPrivate     *bool     `json:"allow_private,omitempty" doc:"its name servers may have addresses in private ranges, loopback included"`
	KeyName          *string   `json:"key_name,omitempty" minLength:"1" maxLength:"255" doc:"of the TSIG key"`
	KeyAlgorithm     *string   `json:"key_algorithm,omitempty" enum:"hmac-sha256,hmac-sha512" doc:"of the TSIG key"`
	KeySecret        *string   `json:"key_secret,omitempty" minLength:"1" maxLength:"1024" doc:"in base64; it is never shown again"`
	Patterns         *[]string `json:"patterns,omitempty" maxItems:"100" doc:"which names the key may change; empty for all"`
	Mode             *string   `json:"mode,omitempty" enum:"sync,upsert_only,observe" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
	NamesAllocations *bool     `json:"names_allocations,omitempty" doc:"give the allocations and the cluster of the workspace names here; one zone of a workspace does"`
}

// ConfirmDNSPlan lets a plan be carried out that the brake holds.
type ConfirmDNSPlan struct {
	Checksum string `json:"checksum" minLength:"1" maxLength:"64" doc:"of the plan that was looked at"`
}

// DNSZoneFilter narrows a list of zones.
type DNSZoneFilter struct {
	PageQuery
	State string `query:"state" enum:"pending,syncing,live,held,failed"`
	Mode  string `query:"mode" enum:"sync,upsert_only,observe" doc:"how much of a difference is applied"`
}

// DNSForeignRecord is a record set that the name server holds and nobody asked for here.
type DNSForeignRecord struct {
	ID      string    `json:"id" format:"uuid"`
	Zone    string    `json:"zone" doc:"name of its DNS zone, in Unicode"`
	Name    string    `json:"name" doc:"in Unicode, without the final dot"`
	Type    string    `json:"type" doc:"type of the records"`
	TTL     int64     `json:"ttl" doc:"seconds"`
	Values  []string  `json:"values" nullable:"false" doc:"one for each record"`
	Outcome string    `json:"outcome" doc:"foreign: never touched; kept: ours, and the mode deletes nothing; or why one of ours stays"`
	Message string    `json:"message,omitempty" doc:"whose it is, if its ownership record says so"`
	SeenAt  time.Time `json:"seen_at" doc:"when it was first found like this"`
}

// DNSForeignFilter asks for a page of foreign records.
type DNSForeignFilter struct {
	PageQuery
	Zone string `query:"zone" maxLength:"1024" doc:"id or name of a DNS zone"`
}

// AdoptDNSRecord takes over what the name server holds at a name and type.
type AdoptDNSRecord struct {
	Name string `json:"name" minLength:"1" maxLength:"1024" doc:"relative to the zone, @ for its apex, or absolute"`
	Type string `json:"type" doc:"type of the records" minLength:"1" maxLength:"16"`
	From string `json:"from,omitempty" enum:"unowned,foreign" default:"unowned" doc:"unowned: only if nobody's ownership record is there; foreign: even from another owner"`
}

var _ = addRoutes(
	Route{"list-dns-zones", http.MethodGet, "/dns-zones", "project.workspace.dns_zone:read", "dns", "List DNS zones", false},
	Route{"create-dns-zone", http.MethodPost, "/dns-zones", "project.workspace.dns_zone:create", "dns", "Add a zone and synchronize it", false},
	Route{"get-dns-zone", http.MethodGet, "/dns-zones/{id}", "project.workspace.dns_zone:read", "dns", "Show a zone", false},
	Route{"change-dns-zone", http.MethodPatch, "/dns-zones/{id}", "project.workspace.dns_zone:update", "dns", "Change the settings of a zone and synchronize it", false},
	Route{"delete-dns-zone", http.MethodDelete, "/dns-zones/{id}", "project.workspace.dns_zone:delete", "dns", "Delete a zone without record sets; its name server keeps what it has", false},
	Route{"sync-dns-zone", http.MethodPost, "/dns-zones/{id}/sync", "project.workspace.dns_zone:update", "dns", "Synchronize a zone now", true},
	Route{"confirm-dns-plan", http.MethodPost, "/dns-zones/{id}/confirm", "project.workspace.dns_zone:confirm", "dns", "Confirm a plan that changes many records, and synchronize the zone", true},
	Route{"list-dns-foreign-records", http.MethodGet, "/dns-foreign-records", "project.workspace.dns_zone:read", "dns", "List records that the name server holds and nobody asked for here", false},
	Route{"adopt-dns-record", http.MethodPost, "/dns-zones/{id}/adopt", "project.workspace.dns_record_set:adopt", "dns", "Take over what the name server holds at a name and type", false},
)

var _ = nameJobs(map[string]string{"zone_sync": "Synchronize zone"})
