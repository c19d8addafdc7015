package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var dnsZoneGrant = shape.Noun[api.DNSZoneGrant, api.DNSZoneGrantFilter]{
	Name: "dns-zone-grant", Plural: "DNS zone grants", Help: "Which organizations, projects and workspaces may use DNS zones of this workspace",
	Columns: []show.Column[api.DNSZoneGrant]{
		{Header: "ZONE", Value: func(g api.DNSZoneGrant) string { return g.Zone }},
		{Header: "SCOPE", Value: func(g api.DNSZoneGrant) string { return g.Scope }},
		{Header: "NAMES", Value: func(g api.DNSZoneGrant) string { return grantedNames(g.WholeZone, g.Suffix) }},
		{Header: "IN USE", Value: func(g api.DNSZoneGrant) string { return strconv.FormatInt(g.InUse, 10) }},
		{Header: "STATE", Value: func(g api.DNSZoneGrant) string { return g.State }},
		{Header: "ID", Value: func(g api.DNSZoneGrant) string { return g.ID }},
	},
	ID:         func(g api.DNSZoneGrant) string { return g.ID },
	Label:      func(g api.DNSZoneGrant) string { return g.Zone },
	Version:    func(g api.DNSZoneGrant) int64 { return g.Version },
	List:       shape.List("list-dns-zone-grants", (*client.Client).AllDNSZoneGrants),
	Get:        shape.Get("get-dns-zone-grant", (*client.Client).GetDNSZoneGrant),
	Events:     shape.InWorkspace,
	Operations: func(g api.DNSZoneGrant) []api.Operation { return g.Operations },
	Actions: []shape.Action{
		shape.Create("create-dns-zone-grant", "zone", (*client.Client).CreateDNSZoneGrant),
		shape.Change("change-dns-zone-grant", (*client.Client).ChangeDNSZoneGrant),
		shape.Delete("delete-dns-zone-grant", (*client.Client).DeleteDNSZoneGrant),
		shape.DoWith("remove-names", "remove-dns-zone-names", (*client.Client).RemoveDNSZoneNames),
	},
}

// grantedNames is which names of a zone are granted.
func grantedNames(whole bool, suffix string) string {
	if whole {
		return "all"
	}
	return suffix
}

var sharedDNSZone = shape.Noun[api.SharedDNSZone, api.SharedDNSZoneFilter]{
	Name: "shared-dns-zone", Plural: "shared DNS zones", Help: "DNS zones of other workspaces that this one may use",
	Columns: []show.Column[api.SharedDNSZone]{
		{Header: "NAME", Value: func(z api.SharedDNSZone) string { return z.Name }},
		{Header: "NAMES", Value: func(z api.SharedDNSZone) string { return grantedNames(z.WholeZone, z.Suffix) }},
		{Header: "STATE", Value: func(z api.SharedDNSZone) string { return z.State }},
		{Header: "SHARED BY", Value: func(z api.SharedDNSZone) string { return z.Organization }},
		{Header: "IN USE", Value: func(z api.SharedDNSZone) string { return strconv.FormatInt(z.InUse, 10) }},
		{Header: "ID", Value: func(z api.SharedDNSZone) string { return z.ID }},
	},
	ID:         func(z api.SharedDNSZone) string { return z.ID },
	Label:      func(z api.SharedDNSZone) string { return z.Name },
	List:       shape.List("list-shared-dns-zones", (*client.Client).AllSharedDNSZones),
	Get:        shape.Get("get-shared-dns-zone", (*client.Client).GetSharedDNSZone),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(z api.SharedDNSZone) []api.Operation { return z.Operations },
	Actions: []shape.Action{
		shape.DoWith("naming", "name-in-shared-dns-zone", (*client.Client).NameInSharedDNSZone),
	},
}
