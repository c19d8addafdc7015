package noun

import (
	"strconv"

	"kloigos/backend/api"
	"kloigos/backend/api/client"
	"kloigos/cli/internal/shape"
	"kloigos/cli/internal/show"
)

// granted is a number of units, or the whole host.
func granted(units *int64) string {
	if units == nil {
		return "all"
	}
	return strconv.FormatInt(*units, 10)
}

var hostGrant = shape.Noun[api.HostGrant, api.HostGrantFilter]{
	Name: "host-grant", Plural: "host grants", Help: "Which organizations, projects and workspaces may use hosts of this workspace",
	Columns: []show.Column[api.HostGrant]{
		{Header: "HOST", Value: func(g api.HostGrant) string { return g.Host }},
		{Header: "SCOPE", Value: func(g api.HostGrant) string { return g.Scope }},
		{Header: "UNITS", Value: func(g api.HostGrant) string { return granted(g.Units) }},
		{Header: "IN USE", Value: func(g api.HostGrant) string { return strconv.FormatInt(g.InUse, 10) }},
		{Header: "STATE", Value: func(g api.HostGrant) string { return g.State }},
		{Header: "ID", Value: func(g api.HostGrant) string { return g.ID }},
	},
	ID:         func(g api.HostGrant) string { return g.ID },
	Label:      func(g api.HostGrant) string { return g.Host },
	Version:    func(g api.HostGrant) int64 { return g.Version },
	List:       shape.List("list-host-grants", (*client.Client).AllHostGrants),
	Get:        shape.Get("get-host-grant", (*client.Client).GetHostGrant),
	Events:     shape.InWorkspace,
	Operations: func(g api.HostGrant) []api.Operation { return g.Operations },
	Actions: []shape.Action{
		shape.Create("create-host-grant", "host", (*client.Client).CreateHostGrant),
		shape.Change("change-host-grant", (*client.Client).ChangeHostGrant),
		shape.Delete("delete-host-grant", (*client.Client).DeleteHostGrant),
	},
}

var sharedHost = shape.Noun[api.SharedHost, api.SharedHostFilter]{
	Name: "shared-host", Plural: "shared hosts", Help: "Hosts of other workspaces that this one may use",
	Columns: []show.Column[api.SharedHost]{
		{Header: "NAME", Value: func(h api.SharedHost) string { return h.Name }},
		{Header: "ZONE", Value: func(h api.SharedHost) string { return h.Zone }},
		{Header: "UNITS", Value: func(h api.SharedHost) string { return granted(h.Units) }},
		{Header: "IN USE", Value: func(h api.SharedHost) string { return strconv.FormatInt(h.InUse, 10) }},
		{Header: "FREE", Value: func(h api.SharedHost) string { return strconv.FormatInt(h.Free, 10) }},
		{Header: "ID", Value: func(h api.SharedHost) string { return h.ID }},
	},
	ID:    func(h api.SharedHost) string { return h.ID },
	Label: func(h api.SharedHost) string { return h.Name },
	List:  shape.List("list-shared-hosts", (*client.Client).AllSharedHosts),
}
