package noun

import (
	"cmp"
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var network = shape.Noun[api.Network, api.NetworkFilter]{
	Name: "network", Plural: "networks", Help: "Address ranges that hosts carry, and whose addresses allocations get",
	Columns: []show.Column[api.Network]{
		{Header: "NAME", Value: func(n api.Network) string { return n.Name }},
		{Header: "CIDR", Value: func(n api.Network) string { return cmp.Or(n.CIDR, "any") }},
		{Header: "FREE", Value: func(n api.Network) string { return strconv.FormatInt(n.FreeAddresses, 10) }},
		{Header: "ADDRESSES", Value: func(n api.Network) string { return strconv.FormatInt(n.Addresses, 10) }},
		{Header: "HOSTS", Value: func(n api.Network) string { return strconv.FormatInt(n.Hosts, 10) }},
		{Header: "DESCRIPTION", Value: func(n api.Network) string { return n.Description }},
	},
	ID:         func(n api.Network) string { return n.ID },
	Label:      func(n api.Network) string { return n.Name },
	Version:    func(n api.Network) int64 { return n.Version },
	List:       shape.List("list-networks", (*client.Client).AllNetworks),
	Get:        shape.Get("get-network", (*client.Client).GetNetwork),
	Events:     shape.InWorkspace,
	ByName:     true,
	Operations: func(n api.Network) []api.Operation { return n.Operations },
	Actions: []shape.Action{
		shape.Create("create-network", "name", (*client.Client).CreateNetwork),
		shape.Change("change-network", (*client.Client).ChangeNetwork),
		shape.Delete("delete-network", (*client.Client).DeleteNetwork),
	},
}
