package api

import (
	"net/http"
	"time"
)

// DNSRecordSet is all records of one name and type.
type DNSRecordSet struct {
	ID           string      `json:"id" format:"uuid"`
	Workspace    string      `json:"workspace"`
	ZoneID       string      `json:"zone_id" format:"uuid" doc:"id of its DNS zone"`
	SharedZoneID string      `json:"shared_zone_id,omitempty" format:"uuid" doc:"id of the shared DNS zone, if the zone belongs to another workspace"`
	Zone         string      `json:"zone" doc:"name of the zone, in Unicode"`
	Name         string      `json:"name" doc:"in Unicode, without the final dot"`
	ASCIIName    string      `json:"ascii_name" doc:"as name servers have it, with the final dot"`
	Type         string      `json:"type" doc:"type of the records"`
	TTL          int64       `json:"ttl" doc:"seconds"`
	Values       []string    `json:"values" nullable:"false" doc:"one for each record, in canonical form"`
	Owner        string      `json:"owner" doc:"user, or allocation:ID or cluster:ID for one that belongs to an allocation or to a cluster"`
	State        string      `json:"state" enum:"pending,live,failed,deleting"`
	StateMeans   string      `json:"state_means"`
	Message      string      `json:"message,omitempty" doc:"why it is failed, or not live yet"`
	Outcome      string      `json:"outcome,omitempty" doc:"what the last synchronization said of it, a permanent word"`
	SettlesAt    *time.Time  `json:"settles_at,omitempty" doc:"until then, resolvers may tell what was there before"`
	Check        *DNSCheck   `json:"check,omitempty" doc:"what name servers and a resolver told when they were last asked"`
	Operations   []Operation `json:"operations" nullable:"false" doc:"what can be done with it now, and what prevents the rest"`
	Version      int64       `json:"version" doc:"also the ETag"`
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
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
	Route{"list-dns-record-sets", http.MethodGet, "/dns-record-sets", "project.workspace.dns_record_set:read", "dns", "List record sets", false},
	Route{"create-dns-record-set", http.MethodPost, "/dns-record-sets", "project.workspace.dns_record_set:create", "dns", "Add a record set", false},
	Route{"get-dns-record-set", http.MethodGet, "/dns-record-sets/{id}", "project.workspace.dns_record_set:read", "dns", "Show a record set", false},
	Route{"change-dns-record-set", http.MethodPatch, "/dns-record-sets/{id}", "project.workspace.dns_record_set:update", "dns", "Change TTL or values of a record set", false},
	Route{"delete-dns-record-set", http.MethodDelete, "/dns-record-sets/{id}", "project.workspace.dns_record_set:delete", "dns", "Delete a record set", false},
	Route{"check-dns-record-set", http.MethodPost, "/dns-record-sets/{id}/check", "project.workspace.dns_record_set:update", "dns", "Ask all name servers and a resolver until they tell the record set", true},
)

var _ = nameJobs(map[string]string{"record_set_check": "Check record set"})
