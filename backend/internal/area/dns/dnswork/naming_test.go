package dnswork

import (
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/rig/dnsserver"
)

// allocation adds a unit with an allocation of its own to the workspace.
func (b *bench) allocation(unit, address string) uuid.UUID {
	b.t.Helper()
	host, made, id := uuid.New(), uuid.New(), uuid.New()
	b.exec(`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels, profile, trust_on_first_use, state, incarnation)
SELECT $1, w.id, p.organization_id, $3, '192.0.2.1', 22, 'root', 'r', 'z', '{}', '{}', 'minimal', true, 'registered', $4
  FROM workspaces w
  JOIN projects p ON p.id = w.project_id
 WHERE w.id = $2`, host, b.workspace, unit+"-host", uuid.New())
	b.exec(`INSERT INTO compute_units (id, workspace_id, host_id, ordinal, name, state, cpus, cpu_count, memory_nodes, memory_max_bytes, memory_high_bytes, volume_bytes, tasks_max, shuffle)
VALUES ($1, $2, $3, 1, $4, 'allocated', '1', 1, '0', 2, 1, 1, 1, 1)`, made, b.workspace, host, unit)
	b.exec(`INSERT INTO allocations (id, workspace_id, unit_id, host_id, login_user, uid, address, network, ssh_keys, labels, state, created_by)
VALUES ($1, $2, $3, $4, 'alice', 70000, $5, 'default', '{}', '{}', 'allocating', 'ada')`, id, b.workspace, made, host, address)
	return id
}

func (b *bench) exec(sql string, args ...any) {
	b.t.Helper()
	if _, err := b.pool.Exec(b.t.Context(), sql, args...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) become(id uuid.UUID, state string) {
	b.t.Helper()
	b.exec("UPDATE allocations SET state = $2, ended_at = CASE WHEN $2 = 'deallocated' THEN now() END WHERE id = $1", id, state)
}

func (b *bench) named(id uuid.UUID, observe bool) reconcile.Outcome {
	b.t.Helper()
	return b.namedBy("allocation_names", id, observe)
}

func (b *bench) namedBy(policy string, id uuid.UUID, observe bool) reconcile.Outcome {
	b.t.Helper()
	all := NamingPolicies(Config{DB: b.DB, Keys: b.keys})
	at := slices.IndexFunc(all, func(p reconcile.Policy) bool { return p.Name == policy })
	out, err := all[at].Run(b.t.Context(), reconcile.Item{ObjectID: id, Observe: observe})
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func (b *bench) call() intent.Call {
	return intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: b.workspace}
}

func (b *bench) zoneDraft(name string, names bool) dns.ZoneDraft {
	return dns.ZoneDraft{
		Name: name, Server: b.server.Address, AllowPrivate: true, KeyName: b.server.SHA256.Name, KeyAlgorithm: b.server.SHA256.Algorithm,
		KeySecret: b.server.SHA256.Secret, Mode: dns.Sync, NamesAllocations: names,
	}
}

func (b *bench) addZone(name string, names bool) {
	b.t.Helper()
	do(b, func(ctx context.Context, tx *intent.Tx) (dns.Zone, error) {
		return dns.CreateZone(ctx, tx, b.keys, b.zoneDraft(name, names))
	})
}

func (b *bench) names(names bool) {
	b.t.Helper()
	do(b, func(ctx context.Context, tx *intent.Tx) (dns.Zone, error) {
		return dns.ChangeZone(ctx, tx, b.keys, b.ref(), 0, func(d *dns.ZoneDraft) { d.NamesAllocations = names })
	})
}

// An allocation has its name from the request until it is given back, on a real name server.
func TestNamesOfAllocations(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	id := b.allocation("fra1-cu01", "192.0.2.7")
	if out := b.named(id, false); !out.Gone || out.Changed != 0 {
		t.Errorf("no zone names it: %+v", out)
	}
	b.names(true)
	if out := b.named(id, true); out.Changed != 0 || out.Conditions[0].Status != reconcile.False {
		t.Errorf("observing: %+v", out)
	}
	out := b.named(id, false)
	if out.Changed != 1 || out.Conditions[0].Status != reconcile.True || out.Conditions[0].Message != "Its name is fra1-cu01.example.org." {
		t.Errorf("named: %+v", out)
	}
	b.sync()
	if got := b.tells("fra1-cu01"); !slices.Equal(got, []string{"192.0.2.7"}) {
		t.Errorf("the server tells %v", got)
	}
	b.become(id, "allocated")
	if out := b.named(id, false); out.Changed != 0 || out.Gone {
		t.Errorf("again: %+v", out)
	}
	b.exec("UPDATE allocations SET address = '192.0.2.8' WHERE id = $1", id)
	if out := b.named(id, false); out.Changed != 1 {
		t.Errorf("another address: %+v", out)
	}
	b.sync()
	if got := b.tells("fra1-cu01"); !slices.Equal(got, []string{"192.0.2.8"}) {
		t.Errorf("the server tells %v", got)
	}
	b.become(id, "deallocating")
	if out := b.named(id, false); out.Changed != 1 || out.Gone {
		t.Errorf("given back: %+v", out)
	}
	b.sync()
	if got := b.tells("fra1-cu01"); len(got) != 0 {
		t.Errorf("the server still tells %v", got)
	}
	b.become(id, "deallocated")
	if out := b.named(id, false); out.Changed != 0 || !out.Gone {
		t.Errorf("ended: %+v", out)
	}
	if out := b.named(uuid.New(), false); !out.Gone {
		t.Errorf("no such allocation: %+v", out)
	}
}

// The nearest reverse zone takes the name of an address; what a person wrote stays; one zone of a workspace names.
func TestReverseNamesOfAllocations(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	b.names(true)
	for _, name := range []string{"192.in-addr.arpa", "2.0.192.in-addr.arpa", "3.0.192.in-addr.arpa"} {
		b.addZone(name, false)
	}
	id := b.allocation("fra1-cu02", "192.0.2.7")
	theirs := b.create("fra1-cu02", "192.0.2.99")
	out := b.named(id, false)
	if c := out.Conditions[0]; out.Changed != 1 || c.Status != reconcile.False || c.Reason != "name_refused" || c.Fault != reconcile.FaultUser {
		t.Errorf("a person has the name: %+v", out)
	}
	have, err := dns.RecordSetsOf(t.Context(), b.Reader, dns.OwnedByObject(dns.AllocationNoun, id))
	if err != nil || len(have) != 1 || have[0].Name != "7.2.0.192.in-addr.arpa." || have[0].ZoneName != "2.0.192.in-addr.arpa." ||
		!slices.Equal(have[0].Contents, []string{"fra1-cu02.example.org."}) {
		t.Errorf("reverse: %+v, %v", have, err)
	}
	if got := b.set(theirs.ID); !slices.Equal(got.Contents, []string{"192.0.2.99"}) {
		t.Errorf("the person's: %+v", got)
	}
	b.remove(theirs.ID)
	if out := b.named(id, false); out.Changed != 1 || out.Conditions[0].Status != reconcile.True {
		t.Errorf("the name is free: %+v", out)
	}
	err = intent.Engine{DB: b.DB}.Do(t.Context(), b.call(), func(tx *intent.Tx) error {
		_, err := dns.CreateZone(t.Context(), tx, b.keys, b.zoneDraft("example.net", true))
		return err
	})
	if dns.NamingRefused(err) == "" {
		t.Errorf("a second zone that names: %v", err)
	}
	b.names(false)
	if out := b.named(id, false); out.Changed != 2 {
		t.Errorf("the zone names no more: %+v", out)
	}
}
