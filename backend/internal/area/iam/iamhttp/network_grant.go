package iamhttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/iam"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// networkGrants is the routes of networks that other workspaces may use.
type networkGrants struct {
	handlers
	noun httpapi.Noun[iam.NetworkGrant, api.NetworkGrant]
}

func (h networkGrants) register() {
	s := h.server
	h.noun = httpapi.Noun[iam.NetworkGrant, api.NetworkGrant]{
		Server: s, Engine: h.Engine, Find: iam.FindNetworkGrant, Present: presentNetworkGrant, Version: func(g iam.NetworkGrant) int64 { return g.Version },
	}
	httpapi.Register(s, "list-network-grants", h.list, httpapi.Sorted(iam.NetworkGrantSorting))
	httpapi.Register(s, "create-network-grant", h.create, httpapi.Created, httpapi.Example(api.CreateNetworkGrant{Network: "lan", Scope: "acme/web"}))
	httpapi.Register(s, "get-network-grant", h.noun.Get)
	httpapi.Register(s, "change-network-grant", httpapi.Update(h.noun, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.NetworkGrant], version int64, b api.ChangeNetworkGrant) error {
		return iam.ChangeNetworkGrant(ctx, tx, ref, version, iam.NetworkGrantDraft{Addresses: b.Addresses})
	}), httpapi.Example(map[string]any{"addresses": 2}))
	httpapi.Register(s, "delete-network-grant", h.noun.Delete(iam.RevokeNetworkGrant))
	httpapi.Register(s, "list-shared-networks", h.listShared, httpapi.Sorted(iam.SharedNetworkSorting))
}

func (h networkGrants) list(ctx context.Context, in *struct{ api.NetworkGrantFilter }) (*httpapi.Object[api.Page[api.NetworkGrant]], error) {
	return httpapi.PageOf(h.server, "list-network-grants", in.PageQuery, []string{in.Network}, iam.NetworkGrantSorting,
		func(after *db.Position, limit int) ([]iam.NetworkGrant, error) {
			return iam.NetworkGrants(ctx, h.server.DB().Reader, iam.NetworkGrantFilter{
				WorkspaceID: httpapi.Workspace(ctx), Network: in.Network, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentNetworkGrant)
}

// create grants a network to a scope that the caller sees. Hosts of that scope are then in a network that others rule, so the caller
// needs a say in both: workspaces can be made there, or the caller operates the installation.
func (h networkGrants) create(ctx context.Context, in *httpapi.BodyOf[api.CreateNetworkGrant]) (*httpapi.Versioned[api.NetworkGrant], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	network, err := iam.FindNetworkToGrant(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Body.Network)
	if err != nil {
		return nil, filterOf("network", err)
	}
	at, ref, err := iam.FindScope(ctx, h.server.DB().Reader, a.viewer, in.Body.Scope)
	if err != nil {
		return nil, filterOf("scope", err)
	}
	if !a.access.At(createOrganization, scope.Place{}) {
		if err := a.needs(createWorkspace, at); err != nil {
			return nil, err
		}
	}
	made, err := h.noun.Once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		made, err := iam.CreateNetworkGrant(ctx, tx, network, ref, at.Kind, iam.NetworkGrantDraft{Addresses: in.Body.Addresses}, h.Release)
		return made.ID, uuid.Nil, err
	})
	if err != nil {
		return nil, err
	}
	return h.noun.Show(ctx, made.Object)
}

func presentNetworkGrant(g iam.NetworkGrant) api.NetworkGrant {
	state := "granted"
	if g.RevokedAt != nil {
		state = "ending"
	}
	return api.NetworkGrant{
		ID: g.ID.String(), Workspace: g.WorkspaceID.String(), NetworkID: g.NetworkID.String(), Network: g.Network, ScopeKind: g.Scope, ScopeID: g.ScopeID.String(),
		Scope: g.Path, Addresses: g.Addresses, InUse: g.InUse, State: state, Version: g.Version, CreatedBy: g.CreatedBy, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
		RevokedAt: g.RevokedAt, Operations: []api.Operation{httpapi.OperationOf("change", g.CanChange()), httpapi.OperationOf("delete", g.CanChange())},
	}
}

func (h networkGrants) listShared(ctx context.Context, in *struct{ api.SharedNetworkFilter }) (*httpapi.Object[api.Page[api.SharedNetwork]], error) {
	return httpapi.PageOf(h.server, "list-shared-networks", in.PageQuery, nil, iam.SharedNetworkSorting,
		func(after *db.Position, limit int) ([]iam.SharedNetwork, error) {
			return iam.SharedNetworks(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Sort, after, limit)
		},
		func(n iam.SharedNetwork) api.SharedNetwork {
			return api.SharedNetwork{
				ID: n.ID.String(), Name: n.Name, CIDR: n.CIDR, Organization: n.Organization, Addresses: n.Addresses, InUse: n.InUse, Free: n.Free, Hosts: n.Hosts,
			}
		})
}
