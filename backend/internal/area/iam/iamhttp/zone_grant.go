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

// zoneGrants is the routes of DNS zones that other workspaces may use.
type zoneGrants struct {
	handlers
	noun httpapi.Noun[iam.ZoneGrant, api.DNSZoneGrant]
}

func (h zoneGrants) register() {
	s := h.server
	h.noun = httpapi.Noun[iam.ZoneGrant, api.DNSZoneGrant]{
		Server: s, Engine: h.Engine, Find: iam.FindZoneGrant, Present: presentZoneGrant, Version: func(g iam.ZoneGrant) int64 { return g.Version },
	}
	httpapi.Register(s, "list-dns-zone-grants", h.list, httpapi.Sorted(iam.ZoneGrantSorting))
	httpapi.Register(s, "create-dns-zone-grant", h.create, httpapi.Created, httpapi.Example(api.CreateDNSZoneGrant{Zone: "example.org", Scope: "acme/web", Suffix: "web"}))
	httpapi.Register(s, "get-dns-zone-grant", h.noun.Get)
	httpapi.Register(s, "change-dns-zone-grant", httpapi.Update(h.noun, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[iam.ZoneGrant], version int64, b api.ChangeDNSZoneGrant) error {
		return iam.ChangeZoneGrant(ctx, tx, ref, version, iam.ZoneGrantDraft{Suffix: b.Suffix})
	}), httpapi.Example(map[string]any{"suffix": "web"}))
	httpapi.Register(s, "delete-dns-zone-grant", h.noun.Delete(iam.RevokeZoneGrant))
	httpapi.Register(s, "remove-dns-zone-names", h.removeNames, httpapi.Example(api.RemoveDNSZoneNames{Confirm: "example.org"}))
}

func (h zoneGrants) list(ctx context.Context, in *struct{ api.DNSZoneGrantFilter }) (*httpapi.Object[api.Page[api.DNSZoneGrant]], error) {
	return httpapi.PageOf(h.server, "list-dns-zone-grants", in.PageQuery, []string{in.Zone}, iam.ZoneGrantSorting,
		func(after *db.Position, limit int) ([]iam.ZoneGrant, error) {
			return iam.ZoneGrants(ctx, h.server.DB().Reader, iam.ZoneGrantFilter{
				WorkspaceID: httpapi.Workspace(ctx), Zone: in.Zone, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentZoneGrant)
}

// create grants a zone to a scope that the caller sees. Its names are then on a name server that others rule, so the caller needs a
// say in both: workspaces can be made there, or the caller operates the installation.
func (h zoneGrants) create(ctx context.Context, in *httpapi.BodyOf[api.CreateDNSZoneGrant]) (*httpapi.Versioned[api.DNSZoneGrant], error) {
	a, err := h.asker(ctx)
	if err != nil {
		return nil, err
	}
	zone, err := iam.FindZoneToGrant(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Body.Zone)
	if err != nil {
		return nil, filterOf("zone", err)
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
		made, err := iam.CreateZoneGrant(ctx, tx, zone, ref, at.Kind, iam.ZoneGrantDraft{Suffix: in.Body.Suffix}, h.Release)
		return made.ID, uuid.Nil, err
	})
	if err != nil {
		return nil, err
	}
	return h.noun.Show(ctx, made.Object)
}

// removeNames answers with the zone's grant as it was: it is over when the name server holds the last name no more.
func (h zoneGrants) removeNames(ctx context.Context, in *httpapi.OnOf[api.RemoveDNSZoneNames]) (*httpapi.Object[api.DNSZoneGrant], error) {
	before, ref, err := iam.FindZoneGrant(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	_, err = h.noun.Once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		return ref.ID(), uuid.Nil, iam.RemoveNames(ctx, tx, ref, in.Body.Confirm)
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.DNSZoneGrant]{Body: presentZoneGrant(before)}, nil
}

func presentZoneGrant(g iam.ZoneGrant) api.DNSZoneGrant {
	state := "granted"
	if g.RevokedAt != nil {
		state = "ending"
	}
	return api.DNSZoneGrant{
		ID: g.ID.String(), Workspace: g.WorkspaceID.String(), ZoneID: g.ZoneID.String(), Zone: g.Zone.Display(), ScopeKind: g.Scope, ScopeID: g.ScopeID.String(),
		Scope: g.Path, Suffix: g.Suffix.Display(), WholeZone: g.Suffix == g.Zone, InUse: g.InUse, State: state, Version: g.Version, CreatedBy: g.CreatedBy,
		CreatedAt: g.CreatedAt, UpdatedAt: g.UpdatedAt, RevokedAt: g.RevokedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("change", g.CanChange()), httpapi.OperationOf("delete", g.CanChange()), httpapi.OperationOf("remove-names", g.CanRemoveNames()),
		},
	}
}
