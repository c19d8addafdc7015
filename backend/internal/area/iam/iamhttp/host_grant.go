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

// hostGrants is the routes of hosts that other workspaces may use.
type hostGrants struct {
	handlers
	noun httpapi.Noun[iam.HostGrant, api.HostGrant]
}

func (h hostGrants) register() {
	s := h.server
	h.noun = httpapi.Noun[iam.HostGrant, api.HostGrant]{
		Server: s, Engine: h.Engine, Find: iam.FindHostGrant, Present: presentHostGrant, Version: func(g iam.HostGrant) int64 { return g.Version },
	}
	httpapi.Register(s, "list-host-grants", h.list, httpapi.Sorted(iam.HostGrantSorting))
	httpapi.Register(s, "create-host-grant", h.create, httpapi.Created, httpapi.Example(api.CreateHostGrant{Host: "h1", Scope: "acme/web"}))
	httpapi.Register(s, "get-host-grant", h.noun.Get)
	httpapi.Register(s, "change-host-grant", httpapi.Update(h.noun, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.HostGrant], version int64, b api.ChangeHostGrant) error {
		return iam.ChangeHostGrant(ctx, tx, ref, version, iam.HostGrantDraft{Units: b.Units})
	}), httpapi.Example(map[string]any{"units": 2}))
	httpapi.Register(s, "delete-host-grant", h.noun.Delete(iam.RevokeHostGrant))
	httpapi.Register(s, "list-shared-hosts", h.listShared, httpapi.Sorted(iam.SharedHostSorting))
}

func (h hostGrants) list(ctx context.Context, in *struct{ api.HostGrantFilter }) (*httpapi.Object[api.Page[api.HostGrant]], error) {
	return httpapi.PageOf(h.server, "list-host-grants", in.PageQuery, []string{in.Host}, iam.HostGrantSorting,
		func(after *db.Position, limit int) ([]iam.HostGrant, error) {
			return iam.HostGrants(ctx, h.server.DB().Reader, iam.HostGrantFilter{
				WorkspaceID: httpapi.Workspace(ctx), Host: in.Host, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentHostGrant)
}

// create grants a host to a scope that the caller sees. What runs there is then on a machine that others rule, so the caller
// needs a say in both: workspaces can be made there, or the caller operates the installation.
func (h hostGrants) create(ctx context.Context, in *httpapi.BodyOf[api.CreateHostGrant]) (*httpapi.Versioned[api.HostGrant], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	host, err := iam.FindHostToGrant(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Body.Host)
	if err != nil {
		return nil, filterOf("host", err)
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
		made, err := iam.CreateHostGrant(ctx, tx, host, ref, at.Kind, iam.HostGrantDraft{Units: in.Body.Units}, h.Release)
		return made.ID, uuid.Nil, err
	})
	if err != nil {
		return nil, err
	}
	return h.noun.Show(ctx, made.Object)
}

func presentHostGrant(g iam.HostGrant) api.HostGrant {
	state := "granted"
	if g.RevokedAt != nil {
		state = "ending"
	}
	return api.HostGrant{
		ID: g.ID.String(), Workspace: g.WorkspaceID.String(), HostID: g.HostID.String(), Host: g.Host, ScopeKind: g.Scope, ScopeID: g.ScopeID.String(),
		Scope: g.Path, Units: g.Units, InUse: g.InUse, State: state, Version: g.Version, CreatedBy: g.CreatedBy, CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt,
		RevokedAt: g.RevokedAt, Operations: []api.Operation{httpapi.OperationOf("change", g.CanChange()), httpapi.OperationOf("delete", g.CanChange())},
	}
}

func (h hostGrants) listShared(ctx context.Context, in *struct{ api.SharedHostFilter }) (*httpapi.Object[api.Page[api.SharedHost]], error) {
	return httpapi.PageOf(h.server, "list-shared-hosts", in.PageQuery, nil, iam.SharedHostSorting,
		func(after *db.Position, limit int) ([]iam.SharedHost, error) {
			return iam.SharedHosts(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Sort, after, limit)
		},
		func(h iam.SharedHost) api.SharedHost {
			return api.SharedHost{
				ID: h.ID.String(), Name: h.Name, Region: h.Region, Zone: h.Zone, Available: h.Available, Units: h.Units, InUse: h.InUse, Free: h.Free,
			}
		})
}
