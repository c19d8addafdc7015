package noun

import (
	"strconv"
	"strings"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var dnsZone = shape.Noun[api.DNSZone, api.DNSZoneFilter]{
	Name: "dns-zone", Plural: "DNS zones", Help: "Zones of name servers, kept in line with their record sets",
	Columns: []show.Column[api.DNSZone]{
		{Header: "NAME", Value: func(z api.DNSZone) string { return z.Name }},
		{Header: "STATE", Value: func(z api.DNSZone) string { return z.State }},
		{Header: "MODE", Value: func(z api.DNSZone) string { return z.Mode }},
		{Header: "SERVER", Value: func(z api.DNSZone) string { return z.Server }},
		{Header: "MESSAGE", Value: func(z api.DNSZone) string { return z.Message }},
	},
	ID:         func(z api.DNSZone) string { return z.ID },
	Label:      func(z api.DNSZone) string { return z.Name },
	Version:    func(z api.DNSZone) int64 { return z.Version },
	List:       shape.List("list-dns-zones", (*client.Client).AllDNSZones),
	Get:        shape.Get("get-dns-zone", (*client.Client).GetDNSZone),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(z api.DNSZone) []api.Operation { return z.Operations },
	Actions: []shape.Action{
		shape.Create("create-dns-zone", "name", (*client.Client).CreateDNSZone).FromFile("key_secret"),
		shape.Change("change-dns-zone", (*client.Client).ChangeDNSZone).FromFile("key_secret"),
		shape.Delete("delete-dns-zone", (*client.Client).DeleteDNSZone),
		shape.Start("synchronize", "sync-dns-zone", (*client.Client).SyncDNSZone),
		shape.StartWith("confirm", "confirm-dns-plan", (*client.Client).ConfirmDNSPlan),
		shape.DoWith("adopt", "adopt-dns-record", (*client.Client).AdoptDNSRecord),
	},
}

var dnsForeign = shape.Noun[api.DNSForeignRecord, api.DNSForeignFilter]{
	Name: "dns-foreign-record", Plural: "foreign records", Help: "Records that name servers hold and nobody asked for here",
	Columns: []show.Column[api.DNSForeignRecord]{
		{Header: "NAME", Value: func(f api.DNSForeignRecord) string { return f.Name }},
		{Header: "TYPE", Value: func(f api.DNSForeignRecord) string { return f.Type }},
		{Header: "TTL", Value: func(f api.DNSForeignRecord) string { return strconv.FormatInt(f.TTL, 10) }},
		{Header: "OUTCOME", Value: func(f api.DNSForeignRecord) string { return f.Outcome }},
		{Header: "VALUES", Value: func(f api.DNSForeignRecord) string { return strings.Join(f.Values, ", ") }},
	},
	ID:    func(f api.DNSForeignRecord) string { return f.ID },
	Label: func(f api.DNSForeignRecord) string { return f.Name + " " + f.Type },
	List:  shape.List("list-dns-foreign-records", (*client.Client).AllDNSForeignRecords),
}
