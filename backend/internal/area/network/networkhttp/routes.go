// Package networkhttp owns the routes of networks: it decodes, looks up in the caller's scope, calls an intent and presents what
// came of it.
//
// It refuses rules: what a network may be is for package network.
package networkhttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/network"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

type noun struct {
	httpapi.Noun[network.Network, api.Network]
}

// Routes registers the routes of networks.
func Routes(engine intent.Engine) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		n := noun{httpapi.Noun[network.Network, api.Network]{
			Server: s, Engine: engine, Find: network.Find, Present: present, Version: func(n network.Network) int64 { return n.Version },
		}}
		httpapi.Register(s, "list-networks", n.list, httpapi.Sorted(network.Sorting))
		httpapi.Register(s, "create-network", httpapi.Create(n.Noun, create), httpapi.Created, httpapi.Example(api.CreateNetwork{
			Name: "office", Description: "Uplink of the racks in the office", CIDR: "192.0.2.0/24",
		}))
		httpapi.Register(s, "get-network", n.Get)
		httpapi.Register(s, "change-network", httpapi.Update(n.Noun, change), httpapi.Example(map[string]any{"description": "Uplink of the racks in the cellar"}))
		httpapi.Register(s, "delete-network", n.Delete(network.Delete))
	}
}

func (n noun) list(ctx context.Context, in *struct{ api.NetworkFilter }) (*httpapi.Object[api.Page[api.Network]], error) {
	return httpapi.PageOf(n.Server, "list-networks", in.PageQuery, nil, network.Sorting,
		func(after *db.Position, limit int) ([]network.Network, error) {
			return network.Networks(ctx, n.Server.DB().Reader, network.Filter{WorkspaceID: httpapi.Workspace(ctx), Sort: in.Sort, After: after, Limit: limit})
		},
		present)
}

func create(_ context.Context, b api.CreateNetwork) (func(context.Context, *intent.Tx) (uuid.UUID, error), error) {
	return func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		made, err := network.Create(ctx, tx, network.Draft{Name: b.Name, Description: b.Description, CIDR: b.CIDR})
		return made.ID, err
	}, nil
}

func change(ctx context.Context, tx *intent.Tx, ref scope.Ref[network.Network], version int64, b api.ChangeNetwork) error {
	return network.Change(ctx, tx, ref, version, func(d *network.Draft) {
		if b.Description != nil {
			d.Description = *b.Description
		}
		if b.CIDR != nil {
			d.CIDR = *b.CIDR
		}
	})
}

func present(n network.Network) api.Network {
	return api.Network{
		ID: n.ID.String(), Workspace: n.WorkspaceID.String(), Name: n.Name, Description: n.Description, CIDR: n.CIDR, Addresses: n.Addresses,
		FreeAddresses: n.Free, Hosts: n.Hosts, Version: n.Version, CreatedAt: n.CreatedAt, UpdatedAt: n.UpdatedAt,
		Operations: []api.Operation{httpapi.OperationOf("change", nil), httpapi.OperationOf("delete", n.CanDelete())},
	}
}
