package noun

import (
	"strconv"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var dnsRecordSet = shape.Noun[api.DNSRecordSet, api.DNSRecordSetFilter]{
	Name: "dns-record-set", Plural: "record sets", Help: "All records of one name and type in a DNS zone",
	Columns: []show.Column[api.DNSRecordSet]{
		{Header: "ID", Value: func(s api.DNSRecordSet) string { return s.ID }},
		{Header: "NAME", Value: func(s api.DNSRecordSet) string { return s.Name }},
		{Header: "TYPE", Value: func(s api.DNSRecordSet) string { return s.Type }},
		{Header: "TTL", Value: func(s api.DNSRecordSet) string { return strconv.FormatInt(s.TTL, 10) }},
		{Header: "STATE", Value: func(s api.DNSRecordSet) string { return s.State }},
		{Header: "VALUES", Value: func(s api.DNSRecordSet) string { return strings.Join(s.Values, ", ") }},
	},
	ID:         func(s api.DNSRecordSet) string { return s.ID },
	Label:      func(s api.DNSRecordSet) string { return s.Name + " " + s.Type },
	Version:    func(s api.DNSRecordSet) int64 { return s.Version },
	List:       shape.List("list-dns-record-sets", (*client.Client).AllDNSRecordSets),
	Get:        shape.Get("get-dns-record-set", (*client.Client).GetDNSRecordSet),
	Events:     shape.InWorkspace,
	Operations: func(s api.DNSRecordSet) []api.Operation { return s.Operations },
	Actions: []shape.Action{
		shape.Create("create-dns-record-set", "name", (*client.Client).CreateDNSRecordSet),
		shape.Change("change-dns-record-set", (*client.Client).ChangeDNSRecordSet),
		shape.Delete("delete-dns-record-set", (*client.Client).DeleteDNSRecordSet),
		shape.Start("check", "check-dns-record-set", (*client.Client).CheckDNSRecordSet),
	},
}
