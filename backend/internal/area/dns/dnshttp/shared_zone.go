package dnshttp

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
)

// SharedZones registers the routes of zones of other workspaces.
func SharedZones(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		h := handlers{parts, s}
		httpapi.Register(s, "list-shared-dns-zones", h.listShared, httpapi.Sorted(dns.SharedZoneSorting))
		httpapi.Register(s, "get-shared-dns-zone", h.getShared)
		httpapi.Register(s, "name-in-shared-dns-zone", h.nameInShared, httpapi.Example(api.NameInSharedDNSZone{NamesAllocations: true}))
	}
}

func (h handlers) listShared(ctx context.Context, in *struct{ api.SharedDNSZoneFilter }) (*httpapi.Object[api.Page[api.SharedDNSZone]], error) {
	return httpapi.PageOf(h.server, "list-shared-dns-zones", in.PageQuery, nil, dns.SharedZoneSorting,
		func(after *db.Position, limit int) ([]dns.SharedZone, error) {
			return dns.SharedZones(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.Sort, after, limit)
		},
		presentShared)
}

func (h handlers) getShared(ctx context.Context, in *httpapi.ByID) (*httpapi.Object[api.SharedDNSZone], error) {
	found, _, err := dns.FindSharedZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Object[api.SharedDNSZone]{Body: presentShared(found)}, nil
}

func (h handlers) nameInShared(ctx context.Context, in *httpapi.OnOf[api.NameInSharedDNSZone]) (*httpapi.Object[api.SharedDNSZone], error) {
	_, ref, err := dns.FindSharedZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	_, err = httpapi.Once(ctx, h.server, func(ctx context.Context, call intent.Call) (made httpapi.Made, err error) {
		made.Object = ref.ID()
		return made, h.Engine.Do(ctx, call, func(tx *intent.Tx) error {
			return dns.NameInSharedZone(ctx, tx, ref, in.Body.NamesAllocations)
		})
	})
	if err != nil {
		return nil, err
	}
	in.ID = ref.ID().String()
	return h.getShared(ctx, &in.ByID)
}

func presentShared(z dns.SharedZone) api.SharedDNSZone {
	return api.SharedDNSZone{
		ID: z.ID.String(), ZoneID: z.ZoneID.String(), Name: z.Name.Display(), Suffix: z.Suffix.Display(), WholeZone: z.Suffix == z.Name,
		Organization: z.Organization, State: string(z.State), StateMeans: dns.ZoneLifecycle.Info(z.State).Means, Mode: string(z.Mode),
		NegativeTTL: z.NegativeTTL, SyncedAt: z.SyncedAt, NamesAllocations: z.NamesAllocations, InUse: z.InUse, CreatedAt: z.CreatedAt, RevokedAt: z.RevokedAt,
		Operations: []api.Operation{httpapi.OperationOf("name-allocations", z.CanName()), httpapi.OperationOf("stop-naming", z.CanStopNaming())},
	}
}

// idOf is a reference of a record set to the grant that lets it into a zone of another workspace; "" for none.
func idOf(id *uuid.UUID) string {
	if id == nil {
		return ""
	}
	return id.String()
}
