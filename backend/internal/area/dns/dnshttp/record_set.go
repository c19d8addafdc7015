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

func (h handlers) registerRecordSets() {
	s := h.server
	httpapi.Register(s, "list-dns-record-sets", h.listSets, httpapi.Sorted(dns.RecordSetSorting))
	httpapi.Register(s, "create-dns-record-set", h.createSet, httpapi.Created, httpapi.Example(api.CreateDNSRecordSet{
		Zone: "example.org", Name: "www", Type: "A", TTL: 300, Values: []string{"192.0.2.1"},
	}))
	httpapi.Register(s, "get-dns-record-set", h.getSet)
	httpapi.Register(s, "change-dns-record-set", h.changeSet, httpapi.Example(map[string]any{"values": []string{"192.0.2.2"}}))
	httpapi.Register(s, "delete-dns-record-set", h.deleteSet)
	httpapi.Register(s, "check-dns-record-set", h.checkSet)
}

func (h handlers) listSets(ctx context.Context, in *struct{ api.DNSRecordSetFilter }) (*httpapi.Object[api.Page[api.DNSRecordSet]], error) {
	f := dns.RecordSetFilter{WorkspaceID: httpapi.Workspace(ctx), Type: in.Type, State: in.State, Sort: in.Sort}
	var err error
	if f.ZoneID, err = h.zoneFilter(ctx, in.Zone); err != nil {
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

func (h handlers) createSet(ctx context.Context, in *struct{ Body api.CreateDNSRecordSet }) (*httpapi.Versioned[api.DNSRecordSet], error) {
	b := in.Body
	_, ref, err := dns.FindZone(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), b.Zone)
	if errors.Is(err, fault.ErrNotFound) {
		return nil, httpapi.BadField("zone", "There is no such zone.")
	}
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		set, err := dns.CreateRecordSet(ctx, tx, ref, dns.OwnedByUser, dns.Draft{Name: b.Name, Type: b.Type, TTL: b.TTL, Values: b.Values})
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

// shownSet is a record set as it is after a change.
func (h handlers) shownSet(ctx context.Context, id uuid.UUID) (*httpapi.Versioned[api.DNSRecordSet], error) {
	return h.getSet(ctx, &httpapi.ByID{ID: id.String()})
}

func (h handlers) getSet(ctx context.Context, in *httpapi.ByID) (*httpapi.Versioned[api.DNSRecordSet], error) {
	set, _, err := dns.FindRecordSet(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	return &httpapi.Versioned[api.DNSRecordSet]{ETag: httpapi.ETag(set.Version), Body: presentSet(set)}, nil
}

func (h handlers) changeSet(ctx context.Context, in *struct {
	httpapi.Change
	Body api.ChangeDNSRecordSet
},
) (*httpapi.Versioned[api.DNSRecordSet], error) {
	set, ref, err := dns.FindRecordSet(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		_, err = dns.ChangeRecordSet(ctx, tx, dns.OwnedByUser, ref, version, func(c *dns.Content) {
			if in.Body.TTL != nil {
				c.TTL = *in.Body.TTL
			}
			if in.Body.Values != nil {
				c.Values = *in.Body.Values
			}
		})
		if err != nil {
			return uuid.Nil, uuid.Nil, err
		}
		return set.ID, uuid.Nil, nil
	})
	if err != nil {
		return nil, err
	}
	return h.shownSet(ctx, set.ID)
}

func (h handlers) deleteSet(ctx context.Context, in *httpapi.Change) (*httpapi.Nothing, error) {
	set, ref, err := dns.FindRecordSet(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	version, err := in.Version()
	if err != nil {
		return nil, err
	}
	_, err = h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		if _, err := dns.DeleteRecordSet(ctx, tx, dns.OwnedByUser, ref, version); err != nil {
			return uuid.Nil, uuid.Nil, err
		}
		return set.ID, uuid.Nil, nil
	})
	return nil, err
}

func (h handlers) checkSet(ctx context.Context, in *httpapi.ByID) (*httpapi.Accepted[api.DNSRecordSet], error) {
	set, _, err := dns.FindRecordSet(ctx, h.server.DB().Reader, httpapi.Workspace(ctx), in.ID)
	if err != nil {
		return nil, err
	}
	made, err := h.once(ctx, func(ctx context.Context, tx *intent.Tx) (object, job uuid.UUID, err error) {
		job, err = dns.AskCheck(ctx, tx, h.Kinds, set)
		return set.ID, job, err
	})
	if err != nil {
		return nil, err
	}
	return &httpapi.Accepted[api.DNSRecordSet]{Location: httpapi.JobURL(made.Job), ETag: httpapi.ETag(set.Version), Body: presentSet(set)}, nil
}

func presentSet(m dns.ManagedSet) api.DNSRecordSet {
	out := api.DNSRecordSet{
		ID: m.ID.String(), Workspace: m.WorkspaceID.String(), ZoneID: m.ZoneID.String(), Zone: m.ZoneName.Display(), Name: m.Name.Display(),
		ASCIIName: string(m.Name), Type: string(m.Type), TTL: m.TTL, Values: orEmpty(m.Contents), Owner: string(m.Owner),
		State: string(m.State), StateMeans: dns.SetLifecycle.Info(m.State).Means, Message: m.StateMessage, Outcome: string(m.Outcome),
		SettlesAt: m.SettlesAt, Version: m.Version, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		Operations: []api.Operation{
			operation("change", m.CanChange(dns.OwnedByUser)), operation("delete", m.CanChange(dns.OwnedByUser)),
			operation("adopt", m.CanAdopt()), operation("check", nil),
		},
	}
	if m.Checked != nil && m.CheckedAt != nil {
		out.Check = &api.DNSCheck{At: *m.CheckedAt, Everywhere: m.Checked.Everywhere, Servers: []api.DNSAnswer{}, Notes: m.Checked.Notes}
		for _, told := range m.Checked.Servers {
			out.Check.Servers = append(out.Check.Servers, presentAnswer(told))
		}
		if m.Checked.Resolver != nil {
			answer := presentAnswer(*m.Checked.Resolver)
			out.Check.Resolver = &answer
		}
	}
	return out
}

func presentAnswer(t dns.Told) api.DNSAnswer {
	return api.DNSAnswer{Server: t.Server, Address: t.Address, Status: t.Status, Values: t.Values, TTL: t.TTL, Message: t.Text}
}
