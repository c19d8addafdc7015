package api

import (
	"net/http"
	"time"
)

// DNSZone is a zone of a name server, whose record sets are kept in line with what was asked for.
type DNSZone struct {
	ID           string      `json:"id" format:"uuid"`
	Workspace    string      `json:"workspace"`
	Name         string      `json:"name" doc:"in Unicode, without the final dot"`
	ASCIIName    string      `json:"ascii_name" doc:"as name servers have it, with the final dot"`
	Provider     string      `json:"provider" enum:"rfc2136" doc:"how its name server is changed"`
	Server       string      `json:"server" doc:"host:port of the name server that takes updates"`
	AllowPrivate bool        `json:"allow_private" doc:"its name servers may have addresses in private ranges"`
	KeyName      string      `json:"key_name" doc:"of the TSIG key"`
	KeyAlgorithm string      `json:"key_algorithm" enum:"hmac-sha256,hmac-sha512" doc:"of the TSIG key"`
	Patterns     []string    `json:"patterns" nullable:"false" doc:"which names the key may change, with one * a label; empty for all"`
	Mode         string      `json:"mode" enum:"sync,upsert_only,observe" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
	State        string      `json:"state" enum:"pending,syncing,live,held,failed"`
	StateMeans   string      `json:"state_means"`
	Message      string      `json:"message,omitempty" doc:"why it is held or failed, or what needs attention"`
	Reason       string      `json:"reason,omitempty" doc:"of the failure, a permanent word"`
	Plan         *DNSPlan    `json:"plan,omitempty" doc:"the plan that waits for a confirmation"`
	Serial       *int64      `json:"serial,omitempty" doc:"of the zone when it was last read"`
	NegativeTTL  int64       `json:"negative_ttl" doc:"seconds for which resolvers deny a name of the zone"`
	SyncedAt     *time.Time  `json:"synced_at,omitempty" doc:"when the last synchronization ended"`
	Operations   []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version      int64       `json:"version" doc:"also the ETag"`
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
}

// DNSPlan is a plan that changes too much to be carried out without a confirmation.
type DNSPlan struct {
	Checksum string `json:"checksum" doc:"give it to confirm this plan and no other"`
	Owned    int64  `json:"owned" doc:"record sets on the server that are ours"`
	Touched  int64  `json:"touched" doc:"of these, how many the plan updates or deletes"`
}

// CreateDNSZone adds a zone.
type CreateDNSZone struct {
	Name         string   `json:"name" minLength:"1" maxLength:"1024" doc:"Unicode or ASCII; the final dot is optional"`
	Server       string   `json:"server" minLength:"1" maxLength:"300" doc:"name or address of the name server that takes updates, with a port if it is not 53"`
	AllowPrivate bool     `json:"allow_private,omitempty" doc:"its name servers may have addresses in private ranges, loopback included"`
	KeyName      string   `json:"key_name" minLength:"1" maxLength:"255" doc:"of the TSIG key"`
	KeyAlgorithm string   `json:"key_algorithm,omitempty" enum:"hmac-sha256,hmac-sha512" default:"hmac-sha256" doc:"of the TSIG key"`
	KeySecret    string   `json:"key_secret" minLength:"1" maxLength:"1024" doc:"in base64, as in the server's configuration; it is never shown again"`
	Patterns     []string `json:"patterns,omitempty" maxItems:"100" doc:"which names the key may change, such as *.apps.example.org"`
	Mode         string   `json:"mode,omitempty" enum:"sync,upsert_only,observe" default:"sync" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
}

// ChangeDNSZone changes the fields that are given.
type ChangeDNSZone struct {
	Server       *string   `json:"server,omitempty" minLength:"1" maxLength:"300" doc:"name or address of the name server that takes updates, with a port if it is not 53"`
	AllowPrivate *bool     `json:"allow_private,omitempty" doc:"its name servers may have addresses in private ranges, loopback included"`
	KeyName      *string   `json:"key_name,omitempty" minLength:"1" maxLength:"255" doc:"of the TSIG key"`
	KeyAlgorithm *string   `json:"key_algorithm,omitempty" enum:"hmac-sha256,hmac-sha512" doc:"of the TSIG key"`
	KeySecret    *string   `json:"key_secret,omitempty" minLength:"1" maxLength:"1024" doc:"in base64; it is never shown again"`
	Patterns     *[]string `json:"patterns,omitempty" maxItems:"100" doc:"which names the key may change; empty for all"`
	Mode         *string   `json:"mode,omitempty" enum:"sync,upsert_only,observe" doc:"sync: create, update and delete; upsert_only: delete nothing; observe: change nothing"`
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

// DNSRecordSet is all records of one name and type.
type DNSRecordSet struct {
	ID         string      `json:"id" format:"uuid"`
	Workspace  string      `json:"workspace"`
	ZoneID     string      `json:"zone_id" format:"uuid" doc:"id of its DNS zone"`
	Zone       string      `json:"zone" doc:"name of the zone, in Unicode"`
	Name       string      `json:"name" doc:"in Unicode, without the final dot"`
	ASCIIName  string      `json:"ascii_name" doc:"as name servers have it, with the final dot"`
	Type       string      `json:"type" doc:"type of the records"`
	TTL        int64       `json:"ttl" doc:"seconds"`
	Values     []string    `json:"values" nullable:"false" doc:"one for each record, in canonical form"`
	Owner      string      `json:"owner" doc:"user, or allocation:ID for one that belongs to an allocation"`
	State      string      `json:"state" enum:"pending,live,failed,deleting"`
	StateMeans string      `json:"state_means"`
	Message    string      `json:"message,omitempty" doc:"why it is failed, or not live yet"`
	Outcome    string      `json:"outcome,omitempty" doc:"what the last synchronization said of it, a permanent word"`
	SettlesAt  *time.Time  `json:"settles_at,omitempty" doc:"until then, resolvers may tell what was there before"`
	Check      *DNSCheck   `json:"check,omitempty" doc:"what name servers and a resolver told when they were last asked"`
	Operations []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version    int64       `json:"version" doc:"also the ETag"`
	CreatedAt  time.Time   `json:"created_at"`
	UpdatedAt  time.Time   `json:"updated_at"`
}

// DNSCheck is what servers told of a record set.
type DNSCheck struct {
	At         time.Time   `json:"at"`
	Everywhere bool        `json:"everywhere" doc:"all authoritative servers tell it as it should be"`
	Servers    []DNSAnswer `json:"servers" nullable:"false" doc:"the authoritative ones, each asked directly"`
	Resolver   *DNSAnswer  `json:"resolver,omitempty" doc:"asked after them, as the world would ask"`
	Notes      []string    `json:"notes,omitempty" doc:"what limits the check, in sentences"`
}

// DNSAnswer is what one server told.
type DNSAnswer struct {
	Server  string   `json:"server" doc:"name of the server"`
	Address string   `json:"address"`
	Status  string   `json:"status" enum:"current,absent,different,unreachable,address_refused,not_authoritative,failed" doc:"how its answer compares"`
	Values  []string `json:"values,omitempty" doc:"one for each record"`
	TTL     int64    `json:"ttl" doc:"seconds"`
	Message string   `json:"message,omitempty"`
}

// CreateDNSRecordSet adds a record set to a zone.
type CreateDNSRecordSet struct {
	Zone   string   `json:"zone" minLength:"1" maxLength:"1024" doc:"id or name"`
	Name   string   `json:"name" minLength:"1" maxLength:"1024" doc:"relative to the zone, @ for its apex, or absolute"`
	Type   string   `json:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,PTR,SRV,TXT" doc:"type of the records"`
	TTL    int      `json:"ttl,omitempty" minimum:"30" maximum:"604800" default:"300" doc:"seconds"`
	Values []string `json:"values" minItems:"1" maxItems:"100" nullable:"false" doc:"one for each record, such as an address, or a preference and a name"`
}

// ChangeDNSRecordSet changes the fields that are given.
type ChangeDNSRecordSet struct {
	TTL    *int      `json:"ttl,omitempty" minimum:"30" maximum:"604800" doc:"seconds"`
	Values *[]string `json:"values,omitempty" minItems:"1" maxItems:"100" doc:"one for each record; they replace those that are there"`
}

// DNSRecordSetFilter narrows a list of record sets.
type DNSRecordSetFilter struct {
	PageQuery
	Zone  string `query:"zone" maxLength:"1024" doc:"id or name"`
	Name  string `query:"name" maxLength:"1024" doc:"the whole name"`
	Type  string `query:"type" enum:"A,AAAA,CAA,CNAME,MX,NS,PTR,SRV,TXT" doc:"type of the records"`
	State string `query:"state" enum:"pending,live,failed,deleting"`
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
	Route{"list-dns-record-sets", http.MethodGet, "/dns-record-sets", "project.workspace.dns_record_set:read", "dns", "List record sets", false},
	Route{"create-dns-record-set", http.MethodPost, "/dns-record-sets", "project.workspace.dns_record_set:create", "dns", "Add a record set", false},
	Route{"get-dns-record-set", http.MethodGet, "/dns-record-sets/{id}", "project.workspace.dns_record_set:read", "dns", "Show a record set", false},
	Route{"change-dns-record-set", http.MethodPatch, "/dns-record-sets/{id}", "project.workspace.dns_record_set:update", "dns", "Change TTL or values of a record set", false},
	Route{"delete-dns-record-set", http.MethodDelete, "/dns-record-sets/{id}", "project.workspace.dns_record_set:delete", "dns", "Delete a record set", false},
	Route{"check-dns-record-set", http.MethodPost, "/dns-record-sets/{id}/check", "project.workspace.dns_record_set:update", "dns", "Ask all name servers and a resolver until they tell the record set", true},
)

var _ = nameJobs(map[string]string{"zone_sync": "Synchronize zone", "record_set_check": "Check record set"})
