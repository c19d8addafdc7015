package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var networkGrant = shape.Noun[api.NetworkGrant, api.NetworkGrantFilter]{
	Name: "network-grant", Plural: "network grants", Help: "Whose hosts may carry networks of this workspace",
	Columns: []show.Column[api.NetworkGrant]{
		{Header: "NETWORK", Value: func(g api.NetworkGrant) string { return g.Network }},
		{Header: "SCOPE", Value: func(g api.NetworkGrant) string { return g.Scope }},
		{Header: "ADDRESSES", Value: func(g api.NetworkGrant) string { return granted(g.Addresses) }},
		{Header: "IN USE", Value: func(g api.NetworkGrant) string { return strconv.FormatInt(g.InUse, 10) }},
		{Header: "STATE", Value: func(g api.NetworkGrant) string { return g.State }},
		{Header: "ID", Value: func(g api.NetworkGrant) string { return g.ID }},
	},
	ID:         func(g api.NetworkGrant) string { return g.ID },
	Label:      func(g api.NetworkGrant) string { return g.Network },
	Version:    func(g api.NetworkGrant) int64 { return g.Version },
	List:       shape.List("list-network-grants", (*client.Client).AllNetworkGrants),
	Get:        shape.Get("get-network-grant", (*client.Client).GetNetworkGrant),
	Events:     shape.InWorkspace,
	Operations: func(g api.NetworkGrant) []api.Operation { return g.Operations },
	Actions: []shape.Action{
		shape.Create("create-network-grant", "network", (*client.Client).CreateNetworkGrant),
		shape.Change("change-network-grant", (*client.Client).ChangeNetworkGrant),
		shape.Delete("delete-network-grant", (*client.Client).DeleteNetworkGrant),
	},
}

var sharedNetwork = shape.Noun[api.SharedNetwork, api.SharedNetworkFilter]{
	Name: "shared-network", Plural: "shared networks", Help: "Networks of other workspaces that hosts of this one may carry",
	Columns: []show.Column[api.SharedNetwork]{
		{Header: "NAME", Value: func(n api.SharedNetwork) string { return n.Name }},
		{Header: "RANGE", Value: func(n api.SharedNetwork) string { return n.CIDR }},
		{Header: "SHARED BY", Value: func(n api.SharedNetwork) string { return n.Organization }},
		{Header: "HOSTS", Value: func(n api.SharedNetwork) string { return strconv.FormatInt(n.Hosts, 10) }},
		{Header: "ADDRESSES", Value: func(n api.SharedNetwork) string { return granted(n.Addresses) }},
		{Header: "IN USE", Value: func(n api.SharedNetwork) string { return strconv.FormatInt(n.InUse, 10) }},
		{Header: "FREE", Value: func(n api.SharedNetwork) string { return strconv.FormatInt(n.Free, 10) }},
		{Header: "ID", Value: func(n api.SharedNetwork) string { return n.ID }},
	},
	ID:    func(n api.SharedNetwork) string { return n.ID },
	Label: func(n api.SharedNetwork) string { return n.Name },
	List:  shape.List("list-shared-networks", (*client.Client).AllSharedNetworks),
}
