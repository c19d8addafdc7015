package noun

import (
	"context"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

var address = shape.Noun[api.Address, api.AddressFilter]{
	Name: "address", Plural: "addresses", Help: "Addresses that allocations are given",
	Columns: []show.Column[api.Address]{
		{Header: "ADDRESS", Value: func(a api.Address) string { return a.Address }},
		{Header: "NETWORK", Value: func(a api.Address) string { return a.Network }},
		{Header: "STATE", Value: func(a api.Address) string { return a.State }},
		{Header: "ENDPOINT", Value: func(a api.Address) string { return a.Endpoint }},
		{Header: "LOGIN USER", Value: func(a api.Address) string { return a.LoginUser }},
	},
	ID:      func(a api.Address) string { return a.ID },
	Label:   func(a api.Address) string { return a.Address },
	Version: func(a api.Address) int64 { return a.Version },
	List:    shape.List("list-addresses", (*client.Client).AllAddresses),
	Events:  shape.InWorkspace,
	Actions: []shape.Action{
		shape.Create("add-addresses", "ranges", addAddresses),
		shape.Delete("remove-address", (*client.Client).RemoveAddress),
		shape.Do("close", "close-address", (*client.Client).CloseAddress),
		shape.Do("open", "open-address", (*client.Client).OpenAddress),
		shape.Do("release", "release-address", (*client.Client).ReleaseAddress),
	},
}

// newAddresses is api.AddAddresses with one endpoint, as flags have it.
type newAddresses struct {
	Network  string   `json:"network" default:"default" doc:"network that they belong to"`
	Ranges   []string `json:"ranges" doc:"10.0.0.5 or 10.0.0.5-10.0.0.20"`
	Endpoint string   `json:"endpoint,omitempty" doc:"host:port at which SSH reaches a single address from outside, where it sits behind NAT"`
}

func addAddresses(c *client.Client, ctx context.Context, n newAddresses, o ...client.Option) ([]api.Address, error) {
	body := api.AddAddresses{Network: n.Network, Addresses: []api.AddRange{}}
	for _, r := range n.Ranges {
		body.Addresses = append(body.Addresses, api.AddRange{Range: r, Endpoint: n.Endpoint})
	}
	return c.AddAddresses(ctx, body, o...)
}
