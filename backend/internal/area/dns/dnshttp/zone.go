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
)

func (h handlers) registerZones() {
	s := h.server
	httpapi.Register(s, "list-dns-zones", h.listZones, httpapi.Sorted(dns.ZoneSorting))
	httpapi.Register(s, "create-dns-zone", h.createZone, httpapi.Created, httpapi.Example(api.CreateDNSZone{
		Name: "example.org", Server: "ns1.example.org", KeyName: "kloigos-key", KeyAlgorithm: "hmac-sha256",
		KeySecret: "c2VjcmV0IG9mIHRoZSBrZXkgaW4gYmFzZTY0", Mode: "sync",
	}))
	httpapi.Register(s, "get-dns-zone", h.getZone)
	httpapi.Register(s, "change-dns-zone", h.changeZone, httpapi.Example(map[string]any{"mode": "upsert_only"}))
	httpapi.Register(s, "delete-dns-zone", h.deleteZone)
	httpapi.Register(s, "sync-dns-zone", h.syncZone)
	httpapi.Register(s, "confirm-dns-plan", h.confirmPlan, httpapi.Example(api.ConfirmDNSPlan{Checksum: exampleChecksum}))
	httpapi.Register(s, "list-dns-foreign-records", h.listForeign, httpapi.Sorted(dns.ForeignSorting))
	httpapi.Register(s, "adopt-dns-record", h.adopt, httpapi.Created, httpapi.Example(api.AdoptDNSRecord{Name: "www", Type: "A", From: "unowned"}))
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

func (h handlers) createZone(ctx context.Context, in *struct{ Body api.CreateDNSZone }) (*httpapi.Versioned[api.DNSZone], error) {
	b := in.Body
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		zone, err := dns.CreateZone(ctx, tx, h.Keys, dns.ZoneDraft{
			Name: b.Name, Server: b.Server, AllowPrivate: b.AllowPrivate, KeyName: b.KeyName, KeyAlgorithm: b.KeyAlgorithm,
			KeySecret: b.KeySecret, Patterns: b.Patterns, Mode: dns.Mode(b.Mode),
		})
		if err != nil {
			return uuid.Nil, uuid.Nil, err
		}
		return zone.ID, uuid.Nil, nil
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, made.Object)
}

// shown is a zone as it is after a change.
func (h handlers) shown(ctx context.Context, id uuid.UUID) (*httpapi.Versioned[api.DNSZone], error) {
	zone, _, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), id.String())
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.DNSZone]{ETag: httpapi.ETag(zone.Version), Body: presentZone(zone)}, nil
}

func (h handlers) getZone(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.DNSZone], error) {
	zone, _, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.DNSZone]{ETag: httpapi.ETag(zone.Version), Body: presentZone(zone)}, nil
}

func (h handlers) changeZone(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeDNSZone
},
) (*httpapi.Versioned[api.DNSZone], error) {
	zone, ref, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		if _, err := dns.ChangeZone(ctx, tx, h.Keys, ref, version, func(d *dns.ZoneDraft) { apply(in.Body, d) }); err != nil {
			return uuid.Nil, uuid.Nil, err
		}
		return zone.ID, uuid.Nil, nil
	})
	if err != nil {
		return nil, err
	}
	return h.shown(ctx, zone.ID)
}

// apply puts the fields that are given into a draft.
func apply(b api.ChangeDNSZone, d *dns.ZoneDraft) {
	set(&d.Server, b.Server)
	set(&d.AllowPrivate, b.AllowPrivate)
	set(&d.KeyName, b.KeyName)
	set(&d.KeyAlgorithm, b.KeyAlgorithm)
	set(&d.KeySecret, b.KeySecret)
	set(&d.Patterns, b.Patterns)
	if b.Mode != nil {
		d.Mode = dns.Mode(*b.Mode)
	}
}

func set[T any](into, from *T) {
	if from != nil {
		*into = *from
	}
}

func (h handlers) deleteZone(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	_, ref, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		return ref.ID(), uuid.Nil, dns.DeleteZone(ctx, tx, ref, version)
	})
	return nil, err
}

// onZone runs an intent on a zone that makes a job.
func (h handlers) onZone(ctx context.Context, text string, do func(ctx context.Context, tx *intent.Tx, zone dns.Zone) (uuid.UUID, error)) (*httpapi.Accepted[api.DNSZone], error) {
	zone, _, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), text)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		job, err = do(ctx, tx, zone)
		return zone.ID, job, err
	})
	if err != nil {
		return nil, err
	}
	out, err := h.shown(ctx, zone.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Accepted[api.DNSZone]{Location: httpapi.JobURL(made.Job), ETag: out.ETag, Body: out.Body}, nil
}

func (h handlers) syncZone(ctx context.Context, in *httpapi.ByID) (*httpapi.Accepted[api.DNSZone], error) {
	return h.onZone(ctx, in.ID, func(ctx context.Context, tx *intent.Tx, zone dns.Zone) (uuid.UUID, error) {
		return dns.AskSync(ctx, tx, h.Kinds, zone)
	})
}

func (h handlers) confirmPlan(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ConfirmDNSPlan
},
) (*httpapi.Accepted[api.DNSZone], error) {
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, ref, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return h.onZone(ctx, in.ID, func(ctx context.Context, tx *intent.Tx, _ dns.Zone) (uuid.UUID, error) {
		confirmed, err := dns.ConfirmPlan(ctx, tx, ref, version, in.Body.Checksum)
		if err != nil {
			return uuid.Nil, err
		}
		return dns.AskSync(ctx, tx, h.Kinds, confirmed)
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

func (h handlers) adopt(ctx context.Context, in *struct {
	httpapi.ByID
	Body api.AdoptDNSRecord
},
) (*httpapi.Versioned[api.DNSRecordSet], error) {
	zone, ref, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	name, err := dns.ParseNameIn(zone.Name, in.Body.Name)
	if err != nil {
		return nil, httpapi.BadField("name", err.Error())
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		set, err := dns.AdoptRecord(ctx, tx, ref, name, dns.Type(in.Body.Type), dns.Adoption(in.Body.From))
		if err != nil {
			return uuid.Nil, uuid.Nil, err
		}
		return set.ID, uuid.Nil, nil
	})
	if err != nil {
		return nil, err
	}
	return h.shownSet(ctx, made.Object)
}

func presentZone(z dns.Zone) api.DNSZone {
	out := api.DNSZone{
		ID: z.ID.String(), Workspace: z.WorkspaceID.String(), Name: z.Name.Display(), ASCIIName: string(z.Name), Provider: z.Provider,
		Server: z.Server, AllowPrivate: z.AllowPrivate, KeyName: z.KeyName.Display(), KeyAlgorithm: z.KeyAlgorithm,
		Patterns: orEmpty(z.Patterns), Mode: string(z.Mode), State: string(z.State), StateMeans: dns.ZoneLifecycle.Info(z.State).Means,
		Message: z.StateMessage, Reason: z.Reason, Serial: z.Serial, NegativeTTL: z.NegativeTTL, SyncedAt: z.SyncedAt,
		Version: z.Version, CreatedAt: z.CreatedAt, UpdatedAt: z.UpdatedAt,
		Operations: []api.Operation{
			operation("change", nil), operation("synchronize", z.CanSync()), operation("confirm", z.CanConfirm()), operation("delete", z.CanDelete()),
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
