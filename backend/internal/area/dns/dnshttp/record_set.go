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

// RecordSets registers the routes of record sets.
func RecordSets(parts Parts) func(*httpapi.Server) {
	return func(s *httpapi.Server) {
		n := httpapi.Noun[dns.ManagedSet, api.DNSRecordSet]{
			Server: s, Engine: parts.Engine, Find: dns.FindRecordSet, Present: presentSet, Version: func(m dns.ManagedSet) int64 { return m.Version },
		}
		h := handlers{parts, s}
		httpapi.Register(s, "list-dns-record-sets", h.listSets, httpapi.Sorted(dns.RecordSetSorting))
		httpapi.Register(s, "create-dns-record-set", httpapi.Create(n, h.createSet), httpapi.Created, httpapi.Example(api.CreateDNSRecordSet{
			Zone: "example.org", Name: "www", Type: "A", TTL: 300, Values: []string{"192.0.2.1"},
		}))
		httpapi.Register(s, "get-dns-record-set", n.Get)
		httpapi.Register(s, "change-dns-record-set", httpapi.Update(n, changeSet), httpapi.Example(map[string]any{"values": []string{"192.0.2.2"}}))
		httpapi.Register(s, "delete-dns-record-set", n.Delete(func(ctx context.Context, tx *intent.Tx, ref scope.Ref[dns.ManagedSet], version int64) error {
			_, err := dns.DeleteRecordSet(ctx, tx, dns.OwnedByUser, ref, version)
			return err
		}))
		httpapi.Register(s, "check-dns-record-set", n.Start(func(ctx context.Context, tx *intent.Tx, set dns.ManagedSet) (uuid.UUID, error) {
			return dns.AskCheck(ctx, tx, parts.Kinds, set)
		}))
	}
}

func (h handlers) listSets(ctx context.Context, in *struct{ api.DNSRecordSetFilter }) (*httpapi.Object[api.Page[api.DNSRecordSet]], error) {
	f := dns.RecordSetFilter{WorkspaceID: httpapi.Workspace(ctx), Type: in.Type, State: in.State, Sort: in.Sort}
	var err error
	if f.ZoneID, err = h.usableFilter(ctx, in.Zone); err != nil {
		return nil, err
	}
	if in.Name != "" {
		name, err := dns.ParseName(in.Name)
		if err != nil {
			return nil, httpapi.BadField("name", err.Error())
		}
		f.Name = name
	}
	return httpapi.PageOf(h.server, "list-dns-record-sets", in.PageQuery, []string{in.Zone, in.Name, in.Type, in.State}, dns.RecordSetSorting,
		func(after *db.Position, limit int) ([]dns.ManagedSet, error) {
			f.After, f.Limit = after, limit
			return dns.RecordSets(ctx, h.server.DB().Reader, f)
		},
		presentSet)
}

func (h handlers) createSet(ctx context.Context, b api.CreateDNSRecordSet) (func(context.Context, *intent.Tx) (uuid.UUID, error), error) {
	zone, err := dns.FindZoneToUse(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), b.Zone)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.BadField("zone", "There is no such zone.")
	}
	return func(ctx context.Context, tx *intent.Tx) (uuid.UUID, error) {
		set, err := dns.CreateRecordSet(ctx, tx, zone, dns.OwnedByUser, dns.Draft{Name: b.Name, Type: b.Type, TTL: b.TTL, Values: b.Values})
		return set.ID, err
	}, err
}

func changeSet(ctx context.Context, tx *intent.Tx, ref scope.Ref[dns.ManagedSet], version int64, b api.ChangeDNSRecordSet) error {
	_, err := dns.ChangeRecordSet(ctx, tx, dns.OwnedByUser, ref, version, func(c *dns.Content) {
		set(&c.TTL, b.TTL)
		set(&c.Values, b.Values)
	})
	return err
}

func presentSet(m dns.ManagedSet) api.DNSRecordSet {
	return api.DNSRecordSet{
		ID: m.ID.String(), Workspace: m.WorkspaceID.String(), ZoneID: m.ZoneID.String(), Zone: m.ZoneName.Display(), Name: m.Name.Display(),
		ASCIIName: string(m.Name), Type: string(m.Type), TTL: m.TTL, Values: orEmpty(m.Contents), Owner: string(m.Owner), SharedZoneID: idOf(m.ZoneGrant),
		State: string(m.State), StateMeans: dns.SetLifecycle.Info(m.State).Means, Message: m.StateMessage, Outcome: string(m.Outcome),
		SettlesAt: m.SettlesAt, Check: presentCheck(m), Version: m.Version, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		Operations: []api.Operation{
			httpapi.OperationOf("change", m.CanChange(dns.OwnedByUser)), httpapi.OperationOf("delete", m.CanDelete(dns.OwnedByUser)),
			httpapi.OperationOf("adopt", m.CanAdopt()), httpapi.OperationOf("check", nil),
		},
	}
}
