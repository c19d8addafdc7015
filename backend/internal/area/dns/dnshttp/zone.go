package dnshttp

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/httpapi"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// Zones registers the routes of zones and of foreign records.
func Zones(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		n := zones{httpapi.Noun[dns.Zone, api.DNSZone]{
			Server: s, Engine: parts.Engine, Find: dns.FindZone, Present: presentZone, Version: func(z dns.Zone) int64 { return z.Version },
		}, handlers{parts, s}}
		h := n.handlers
		httpapi.Register(s, "list-dns-zones", h.listZones, httpapi.Sorted(dns.ZoneSorting))
		httpapi.Register(s, "create-dns-zone", httpapi.Create(n.Noun, h.createZone), httpapi.Created, httpapi.Example(api.CreateDNSZone{
			Name: "example.org", Server: "ns1.example.org", KeyName: "kloigos-key", KeyAlgorithm: "hmac-sha256",
			KeySecret: "c2VjcmV0IG9mIHRoZSBrZXkgaW4gYmFzZTY0", Mode: "sync",
		}))
		httpapi.Register(s, "get-dns-zone", n.Get)
		httpapi.Register(s, "change-dns-zone", httpapi.Update(n.Noun, h.changeZone), httpapi.Example(map[string]any{"mode": "upsert_only"}))
		httpapi.Register(s, "delete-dns-zone", n.Delete(dns.DeleteZone))
		httpapi.Register(s, "sync-dns-zone", n.Start(func(ctx context.Context, tx *intent.Tx, zone dns.Zone) (uuid.UUID, error) {
			return dns.AskSync(ctx, tx, parts.Kinds, zone)
		}))
		httpapi.Register(s, "confirm-dns-plan", n.confirmPlan, httpapi.Example(api.ConfirmDNSPlan{Checksum: exampleChecksum}))
		httpapi.Register(s, "list-dns-foreign-records", h.listForeign, httpapi.Sorted(dns.ForeignSorting))
		httpapi.Register(s, "adopt-dns-record", n.adopt, httpapi.Created, httpapi.Example(api.AdoptDNSRecord{Name: "www", Type: "A", From: "unowned"}))
	}
}

// zones is the routes of zones that are not those of every noun.
type zones struct {
	httpapi.Noun[dns.Zone, api.DNSZone]
	handlers
}

func (h handlers) listZones(ctx context.Context, in *struct{ api.DNSZoneFilter }) (*httpapi.Object[api.Page[api.DNSZone]], error) {
	return httpapi.PageOf(h.server, "list-dns-zones", in.PageQuery, []string{in.State, in.Mode}, dns.ZoneSorting,
		func(after *db.Position, limit int) ([]dns.Zone, error) {
			return dns.Zones(ctx, h.server.DB().Reader, dns.ZoneFilter{
				WorkspaceID: httpapi.Workspace(ctx), State: in.State, Mode: in.Mode, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentZone)
}

func (h handlers) createZone(_ context.Context, b api.CreateDNSZone) (func(context.Context, *intent.Tx) (uuid.UUID, error), error) {
	return func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		zone, err := dns.CreateZone(ctx, tx, h.Keys, dns.ZoneDraft{
			Name: b.Name, Server: b.Server, AllowPrivate: b.AllowPrivate, KeyName: b.KeyName, KeyAlgorithm: b.KeyAlgorithm,
			KeySecret: b.KeySecret, Patterns: b.Patterns, Mode: dns.Mode(b.Mode), NamesAllocations: b.NamesAllocations,
		})
		return zone.ID, err
	}, nil
}

func (h handlers) changeZone(ctx context.Context, tx *intent.Tx, ref scope.Ref[dns.Zone], version int64, b api.ChangeDNSZone) error {
	_, err := dns.ChangeZone(ctx, tx, h.Keys, ref, version, func(d *dns.ZoneDraft) { apply(b, d) })
	return err
}

// apply puts the fields that are given into a draft.
func apply(b api.ChangeDNSZone, d *dns.ZoneDraft) {
	set(&d.Server, b.Server)
	set(&d.AllowPrivate, b.AllowPrivate)
	set(&d.KeyName, b.KeyName)
	set(&d.KeyAlgorithm, b.KeyAlgorithm)
	set(&d.KeySecret, b.KeySecret)
	set(&d.Patterns, b.Patterns)
	set(&d.NamesAllocations, b.NamesAllocations)
	if b.Mode != nil {
		d.Mode = dns.Mode(*b.Mode)
	}
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func (n zones) confirmPlan(ctx context.Context, in *httpapi.ChangeOf[api.ConfirmDNSPlan]) (*httpapi.Accepted[api.DNSZone], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, ref, err := dns.FindZone(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return n.Started(ctx, ref, func(tx *intent.Tx) (uuid.UUID, error) {
		confirmed, err := dns.ConfirmPlan(ctx, tx, ref, version, in.Body.Checksum)
		if err != nil {
			return uuid.Nil, err
		}
		return dns.AskSync(ctx, tx, n.Kinds, confirmed)
	})
}

func (h handlers) listForeign(ctx context.Context, in *struct{ api.DNSForeignFilter }) (*httpapi.Object[api.Page[api.DNSForeignRecord]], error) {
	zone, err := h.zoneFilter(ctx, in.Zone)
	if err != nil {
		return nil, err
	}
	return httpapi.PageOf(h.server, "list-dns-foreign-records", in.PageQuery, []string{in.Zone}, dns.ForeignSorting,
		func(after *db.Position, limit int) ([]dns.ForeignRecord, error) {
			return dns.ForeignRecords(ctx, h.server.DB().Reader, dns.ForeignFilter{
				WorkspaceID: httpapi.Workspace(ctx), ZoneID: zone, Sort: in.Sort, After: after, Limit: limit,
			})
		},
		presentForeign)
}

// zoneFilter is the id of a zone that narrows a list, or uuid.Nil.
func (h handlers) zoneFilter(ctx context.Context, text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, nil
	}
	zone, _, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), text)
	if errors.Is(err, fault.ErrNotFound) {
		return uuid.Nil, httpapi.BadField("zone", "There is no such zone.")
	}
	return zone.ID, err
}

// usableFilter is zoneFilter for the zones that a workspace may use, those of others as well.
func (h handlers) usableFilter(ctx context.Context, text string) (uuid.UUID, error) {
	if text == "" {
		return uuid.Nil, nil
	}
	zone, err := dns.FindZoneToUse(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), text)
	if errors.Is(err, fault.ErrNotFound) {
		return uuid.Nil, httpapi.BadField("zone", "There is no such zone.")
	}
	return zone.ID(), err
}

func (n zones) adopt(ctx context.Context, in *httpapi.OnOf[api.AdoptDNSRecord]) (*httpapi.Versioned[api.DNSRecordSet], error) {
	zone, ref, err := dns.FindZone(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	name, err := dns.ParseNameIn(zone.Name, in.Body.Name)
	if err != nil {
		return nil, httpapi.BadField("name", err.Error())
	}
	made, err := n.Once(ctx, func(tx *intent.Tx) (object, job uuid.UUID, err error) {
		set, err := dns.AdoptRecord(ctx, tx, ref, name, dns.Type(in.Body.Type), dns.Adoption(in.Body.From))
		return set.ID, uuid.Nil, err
	})
	if err != nil {
		return nil, err
	}
	set, _, err := dns.FindRecordSet(ctx, n.server.DB().Reader, httpapi.Workspace(ctx), made.Object.String())
	return &httpapi.Versioned[api.DNSRecordSet]{ETag: httpapi.ETag(set.Version), Body: presentSet(set)}, err
}

func presentZone(z dns.Zone) api.DNSZone {
	out := api.DNSZone{
		ID: z.ID.String(), Workspace: z.WorkspaceID.String(), Name: z.Name.Display(), ASCIIName: string(z.Name), Provider: z.Provider,
		Server: z.Server, AllowPrivate: z.AllowPrivate, KeyName: z.KeyName.Display(), KeyAlgorithm: z.KeyAlgorithm,
		Patterns: orEmpty(z.Patterns), Mode: string(z.Mode), NamesAllocations: z.NamesAllocations, State: string(z.State), StateMeans: dns.ZoneLifecycle.Info(z.State).Means,
		Message: z.StateMessage, Reason: z.Reason, Serial: z.Serial, NegativeTTL: z.NegativeTTL, SyncedAt: z.SyncedAt,
		Version: z.Version, CreatedAt: z.CreatedAt, UpdatedAt: z.UpdatedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("change", nil), httpapi.OperationOf("synchronize", z.CanSync()), httpapi.OperationOf("confirm", z.CanConfirm()), httpapi.OperationOf("delete", z.CanDelete()),
		},
	}
	if z.State == dns.ZoneHeld {
		out.Plan = &api.DNSPlan{Checksum: dns.Confirmation(z.Plan).Checksum(), Owned: z.PlanOwned, Touched: z.PlanTouched}
	}
	return out
}

func presentForeign(f dns.ForeignRecord) api.DNSForeignRecord {
	return api.DNSForeignRecord{
		ID: f.ID.String(), Zone: f.ZoneName.Display(), Name: f.Name.Display(), Type: string(f.Type), TTL: f.TTL, Values: orEmpty(f.Contents),
		Outcome: string(f.Outcome), Message: f.Message, SeenAt: f.SeenAt,
	}
}
