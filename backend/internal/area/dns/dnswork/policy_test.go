package dnswork

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
	"kloigos/rig/dnsserver"
)

// policy is the zone's, on the bench's database.
func (b *bench) policy() reconcile.Policy {
	b.t.Helper()
	kinds, err := work.NewRegistry([]work.Noun{dns.ZoneJobs, dns.RecordSetJobs}, []work.Kind{dns.ZoneSync, dns.RecordSetCheck})
	if err != nil {
		b.t.Fatal(err)
	}
	return ZonePolicy(Config{DB: b.DB, Keys: b.keys, Kinds: kinds, Resolver: func() netip.AddrPort { return netip.AddrPort{} }})
}

// ran is one run of the zone's policy: what it found, and whether it asked for a job.
func (b *bench) ran(observe bool) (out reconcile.Outcome, asked bool) {
	b.t.Helper()
	out, err := b.policy().Run(b.t.Context(), reconcile.Item{ObjectID: b.zone, Observe: observe})
	if err != nil {
		b.t.Fatal(err)
	}
	work, _ := b.load()
	return out, work.Zone.State == dns.ZoneSyncing && out.Changed == 1
}

// finish does what the job that the policy asked for does.
func (b *bench) finish() dns.Zone {
	b.t.Helper()
	work, server := b.load()
	report, failure := b.run(work, server)
	return b.record(work, report, failure)
}

// The policy asks for a job when the intent or the serial changed, after a failure that heals, and never twice at once.
func TestZonePolicy(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	if out, asked := b.ran(true); asked || out.Changed != 0 {
		t.Errorf("observing: %+v", out)
	}
	if out, asked := b.ran(false); !asked || out.Conditions[0].Status != reconcile.Progressing {
		t.Errorf("a new zone: %+v", out)
	}
	if out, _ := b.ran(false); out.Changed != 0 {
		t.Errorf("while it is synchronized: %+v", out)
	}
	b.wantZone(b.finish(), dns.ZoneLive)
	out, asked := b.ran(false)
	if asked || out.Conditions[0].Status != reconcile.True || out.Again <= 0 || out.Again > serialPause {
		t.Errorf("at rest: %+v", out)
	}
	b.create("www", "192.0.2.1")
	if out, asked := b.ran(false); !asked {
		t.Errorf("a new record set: %+v", out)
	}
	b.wantZone(b.finish(), dns.ZoneLive)

	// Somebody else changes the zone. The serial is not asked for right after a synchronization.
	b.server.Update(t, "+other.example.org. 300 IN A 192.0.2.9")
	if out, asked := b.ran(false); asked {
		t.Errorf("right after: %+v", out)
	}
	b.ago("synced_at", 2*serialPause)
	if out, asked := b.ran(false); !asked {
		t.Errorf("another serial: %+v", out)
	}
	b.wantZone(b.finish(), dns.ZoneLive)

	// The server is gone: an interval later, and not before.
	b.create("api", "192.0.2.1")
	b.server.Stop()
	if _, asked := b.ran(false); !asked {
		t.Error("a second record set")
	}
	b.wantZone(b.finish(), dns.ZoneFailed)
	out, asked = b.ran(false)
	if asked || out.Again <= 0 || out.Conditions[0].Status != reconcile.False || out.Conditions[0].Fault != reconcile.FaultDependency {
		t.Errorf("failed: %+v", out)
	}
	b.ago("updated_at", 2*zoneInterval)
	b.server.Restart(t)
	if out, asked := b.ran(false); !asked {
		t.Errorf("an interval later: %+v", out)
	}
	b.wantZone(b.finish(), dns.ZoneLive)

	out, err := b.policy().Run(t.Context(), reconcile.Item{ObjectID: uuid.New()})
	if err != nil || !out.Gone {
		t.Errorf("no such zone: %+v, %v", out, err)
	}
}

// ago puts a time of the zone into the past.
func (b *bench) ago(column string, by time.Duration) {
	b.t.Helper()
	if _, err := b.pool.Exec(context.Background(), "UPDATE dns_zones SET "+column+" = now() - $2 * INTERVAL '1 second' WHERE id = $1", b.zone, by.Seconds()); err != nil {
		b.t.Fatal(err)
	}
}

// A failure that a person has to mend is not repeated.
func TestARefusalIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Bind, dns.Sync)
	b.write(func(tx *db.Tx) error { return dns.MoveZone(t.Context(), tx, b.zone, dns.SyncStarted, "") })
	work, _ := b.load()
	b.record(work, dns.Report{}, &dns.Failure{Reason: "wrong_key", Text: "The server does not know the key."})
	b.ago("updated_at", 2*zoneInterval)
	out, asked := b.ran(false)
	c := out.Conditions[0]
	if asked || out.Again != 0 || c.Reason != "wrong_key" || c.Fault != reconcile.FaultUser || c.RetryHelps {
		t.Errorf("%+v", out)
	}
}

func TestArrived(t *testing.T) {
	t.Parallel()
	now := time.Now()
	at := func(d time.Duration) *time.Time { t := now.Add(d); return &t }
	told := func(statuses ...string) (check dns.Check) {
		check.Everywhere = true
		for _, status := range statuses {
			check.Servers = append(check.Servers, dns.Told{Server: "ns", Status: status})
			check.Everywhere = check.Everywhere && status == "current"
		}
		return check
	}
	resolved := func(check dns.Check, status string) dns.Check {
		check.Resolver = &dns.Told{Status: status}
		return check
	}
	for name, test := range map[string]struct {
		set    dns.ManagedSet
		check  dns.Check
		status reconcile.Status
		reason string
		again  bool
	}{
		"everywhere":            {dns.ManagedSet{}, resolved(told("current", "current"), "current"), reconcile.True, "everywhere", false},
		"no resolver":           {dns.ManagedSet{}, told("current"), reconcile.True, "everywhere", false},
		"a secondary is behind": {dns.ManagedSet{UpdatedAt: now}, told("current", "absent"), reconcile.Progressing, "on_its_way", true},
		"a secondary stays so":  {dns.ManagedSet{UpdatedAt: now.Add(-time.Hour)}, told("current", "absent"), reconcile.False, "server_differs", false},
		"resolver keeps it":     {dns.ManagedSet{SettlesAt: at(time.Minute)}, resolved(told("current"), "different"), reconcile.Progressing, "resolvers_keep_old", true},
		"resolver stays so":     {dns.ManagedSet{SettlesAt: at(-time.Minute)}, resolved(told("current"), "different"), reconcile.False, "resolver_differs", false},
	} {
		out := arrived(test.set, test.check, now)
		if c := out.Conditions[0]; c.Status != test.status || c.Reason != test.reason || (out.Again > 0) != test.again {
			t.Errorf("%s: %+v", name, out)
		}
	}
}
