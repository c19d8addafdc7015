package dnswork

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/multitracer"
	"github.com/jackc/pgx/v5/pgxpool"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnswork/provider"
	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
	"kloigos/backend/internal/testkit"
	"kloigos/backend/internal/testkit/sqlguard"
	"kloigos/backend/internal/testkit/writeguard"
	"kloigos/rig/dnsserver"
)

// bench is a zone in a real database and on a real server.
type bench struct {
	*db.DB
	t         *testing.T
	pool      *pgxpool.Pool // for what no intent does
	keys      *secret.Keyset
	server    *dnsserver.Server
	workspace uuid.UUID
	zone      uuid.UUID
	log       []string
}

func setup(t *testing.T, start dnsserver.Start, mode dns.Mode, records ...string) *bench {
	t.Helper()
	server := start(t, dnsserver.Options{Records: records})
	url := testkit.MigratedURL(t)
	keys, err := secret.Create(filepath.Join(t.TempDir(), "keyset.json"))
	if err != nil {
		t.Fatal(err)
	}
	writes := writeguard.New(t)
	opened, err := db.Open(t.Context(), url, db.WithTracer(multitracer.New(sqlguard.Tracer(t), writes)))
	if err != nil {
		t.Fatal(err)
	}
	writes.Watch(opened)
	t.Cleanup(opened.Close)
	opened.TryTwice()
	pool, err := pgxpool.New(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	b := &bench{DB: opened, t: t, pool: pool, keys: keys, server: server}
	b.workspace = workspace(t, pool)
	zone := do(b, func(ctx context.Context, tx *intent.Tx) (dns.Zone, error) {
		return dns.CreateZone(ctx, tx, keys, dns.ZoneDraft{
			Name: server.Zone, Server: server.Address, AllowPrivate: true, KeyName: server.SHA256.Name,
			KeyAlgorithm: server.SHA256.Algorithm, KeySecret: server.SHA256.Secret, Mode: mode,
		})
	})
	b.zone = zone.ID
	return b
}

func workspace(t *testing.T, pool *pgxpool.Pool) uuid.UUID {
	t.Helper()
	organization, project, made := uuid.New(), uuid.New(), uuid.New()
	_, err := pool.Exec(t.Context(), "INSERT INTO organizations (id, name) VALUES ($1, 'o')", organization)
	if err == nil {
		_, err = pool.Exec(t.Context(), "INSERT INTO projects (id, organization_id, name) VALUES ($1, $2, 'p')", project, organization)
	}
	if err == nil {
		_, err = pool.Exec(t.Context(), "INSERT INTO workspaces (id, project_id, name) VALUES ($1, $2, 'w')", made, project)
	}
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func do[T any](b *bench, ask func(ctx context.Context, tx *intent.Tx) (T, error)) T {
	b.t.Helper()
	var made T
	call := intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: b.workspace}
	err := intent.Engine{DB: b.DB}.Do(b.t.Context(), call, func(tx *intent.Tx) (err error) {
		made, err = ask(b.t.Context(), tx)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return made
}

func (b *bench) ref() scope.Ref[dns.Zone] { return scope.Found[dns.Zone](b.zone, b.workspace) }

func (b *bench) setRef(id uuid.UUID) scope.Ref[dns.ManagedSet] {
	return scope.Found[dns.ManagedSet](id, b.workspace)
}

func (b *bench) create(name, value string) dns.ManagedSet {
	b.t.Helper()
	return do(b, func(ctx context.Context, tx *intent.Tx) (dns.ManagedSet, error) {
		return dns.CreateRecordSet(ctx, tx, b.ref(), dns.OwnedByUser, dns.Draft{Name: name, Type: "A", TTL: 300, Values: []string{value}})
	})
}

func (b *bench) change(id uuid.UUID, value string) {
	b.t.Helper()
	do(b, func(ctx context.Context, tx *intent.Tx) (dns.ManagedSet, error) {
		return dns.ChangeRecordSet(ctx, tx, dns.OwnedByUser, b.setRef(id), 0, func(c *dns.Content) { c.Values = []string{value} })
	})
}

func (b *bench) remove(id uuid.UUID) {
	b.t.Helper()
	do(b, func(ctx context.Context, tx *intent.Tx) (dns.ManagedSet, error) {
		return dns.DeleteRecordSet(ctx, tx, dns.OwnedByUser, b.setRef(id), 0)
	})
}

// begin moves the zone and loads the work, as a job does.
func (b *bench) begin() (dns.SyncWork, provider.Provider) {
	b.t.Helper()
	b.write(func(tx *db.Tx) error { return dns.MoveZone(b.t.Context(), tx, b.zone, dns.SyncStarted, "") })
	return b.load()
}

func (b *bench) write(f func(tx *db.Tx) error) {
	b.t.Helper()
	if err := b.InTx(b.t.Context(), f); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) load() (dns.SyncWork, provider.Provider) {
	b.t.Helper()
	work, err := dns.LoadSync(b.t.Context(), b.Reader, b.zone)
	if err != nil {
		b.t.Fatal(err)
	}
	key, err := work.Zone.OpenKey(b.keys)
	if err != nil {
		b.t.Fatal(err)
	}
	server, err := Open(work.Zone, key)
	if err != nil {
		b.t.Fatal(err)
	}
	return work, server
}

func (b *bench) run(work dns.SyncWork, server provider.Provider) (dns.Report, *dns.Failure) {
	b.t.Helper()
	report, failure, err := SyncZone(b.t.Context(), server, work, false, func(line string) { b.log = append(b.log, line) })
	if err != nil {
		b.t.Fatal(err)
	}
	return report, failure
}

// record writes what a synchronization found, as the end of a job does.
func (b *bench) record(work dns.SyncWork, report dns.Report, failure *dns.Failure) (zone dns.Zone) {
	b.t.Helper()
	b.write(func(tx *db.Tx) (err error) {
		if failure == nil {
			zone, err = dns.RecordSync(b.t.Context(), tx, work, report)
			return err
		}
		if err := dns.RecordFailure(b.t.Context(), tx, work, report, *failure); err != nil {
			return err
		}
		if err := dns.MoveZone(b.t.Context(), tx, b.zone, dns.SyncFailed, failure.Text); err != nil {
			return err
		}
		zone, err = dns.ZoneByID(b.t.Context(), tx.Reader, b.zone)
		return err
	})
	return zone
}

// sync is a whole synchronization.
func (b *bench) sync() (dns.Zone, dns.Report) {
	b.t.Helper()
	work, server := b.begin()
	report, failure := b.run(work, server)
	return b.record(work, report, failure), report
}

func (b *bench) set(id uuid.UUID) dns.ManagedSet {
	b.t.Helper()
	set, err := dns.RecordSetByID(b.t.Context(), b.Reader, id)
	if err != nil {
		b.t.Fatal(err)
	}
	return set
}

func (b *bench) gone(id uuid.UUID) bool {
	_, err := dns.RecordSetByID(b.t.Context(), b.Reader, id)
	return err != nil
}

func (b *bench) wantSet(id uuid.UUID, state dns.SetState, outcome dns.Outcome) dns.ManagedSet {
	b.t.Helper()
	set := b.set(id)
	if set.State != state || set.Outcome != outcome || state == dns.SetFailed && set.StateMessage == "" {
		b.t.Errorf("%s is %s (%s, %q), want %s (%s)", set, set.State, set.Outcome, set.StateMessage, state, outcome)
	}
	return set
}

func (b *bench) wantZone(zone dns.Zone, state dns.ZoneState) {
	b.t.Helper()
	if zone.State != state {
		b.t.Errorf("the zone is %s (%s), want %s", zone.State, zone.StateMessage, state)
	}
}

// foreign are the foreign records by name and type.
func (b *bench) foreign() map[string]dns.ForeignRecord {
	b.t.Helper()
	found := make(map[string]dns.ForeignRecord)
	f := dns.ForeignFilter{WorkspaceID: b.workspace, ZoneID: b.zone, Limit: 2}
	for {
		page, err := dns.ForeignRecords(b.t.Context(), b.Reader, f)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, record := range page {
			found[record.Name.Relative(zone)+" "+string(record.Type)] = record
		}
		if len(page) < f.Limit {
			return found
		}
		at := dns.ForeignSorting.At("", page[len(page)-1])
		f.After = &at
	}
}

func (b *bench) tells(name string) []string {
	b.t.Helper()
	return tells(b.t, connect(b.t, b.server), name)
}

func TestZoneIsBroughtInLine(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		b := setup(t, start, dns.Sync, "foreign A 192.0.2.99", "mail MX 10 mx.example.net.", `weird TYPE65400 \# 2 abcd`)
		www, api := b.create("www", "192.0.2.1"), b.create("api", "192.0.2.1")
		zone, report := b.sync()
		b.wantZone(zone, dns.ZoneLive)
		live := b.wantSet(www.ID, dns.SetLive, dns.InSync)
		// Resolvers may deny the name for the negative TTL.
		if wait := time.Until(*live.SettlesAt); wait <= 0 || wait > dnsserver.NegativeTTL*time.Second {
			t.Errorf("settles in %s", wait)
		}
		foreign := b.foreign()
		if len(foreign) != 3 || foreign["weird TYPE65400"].Contents[0] != `\# 2 abcd` || foreign["foreign A"].TTL != 300 {
			t.Errorf("%+v", foreign)
		}
		if len(b.log) != 2 || !slices.Contains(b.log, "create www.example.org A") {
			t.Errorf("%q", b.log)
		}

		// Nothing changed: nothing is transferred, and nothing is written but the time.
		again, report2 := b.sync()
		b.wantZone(again, dns.ZoneLive)
		if !report2.Unchanged || *again.Serial != int64(report.Serial) || b.set(www.ID).Version != live.Version {
			t.Errorf("%+v", report2)
		}
		if b.foreign()["foreign A"].SeenAt != foreign["foreign A"].SeenAt {
			t.Error("a foreign record was written anew")
		}

		// A change, a deletion, and two foreign records that went and came.
		b.change(www.ID, "192.0.2.2")
		b.remove(api.ID)
		b.server.Update(t, "-foreign.example.org. 300 IN A 192.0.2.99", "+other.example.org. 300 IN A 192.0.2.98")
		zone, _ = b.sync()
		b.wantZone(zone, dns.ZoneLive)
		changed := b.wantSet(www.ID, dns.SetLive, dns.InSync)
		// Now it is the TTL of what was there before.
		if wait := time.Until(*changed.SettlesAt); wait <= 200*time.Second || wait > 300*time.Second {
			t.Errorf("settles in %s", wait)
		}
		if !b.gone(api.ID) || b.tells("api") != nil || !slices.Equal(b.tells("www"), []string{"192.0.2.2"}) {
			t.Error("the deletion was not made")
		}
		if foreign := b.foreign(); len(foreign) != 3 || foreign["other A"].Name == "" {
			t.Errorf("%+v", foreign)
		}
	})
}

// Kill -9 between the update and its record: another backend takes the job over and loads the work again.
func TestTakeOverAfterTheUpdate(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		b := setup(t, start, dns.Sync)
		kept, lost := b.create("kept", "192.0.2.1"), b.create("lost", "192.0.2.1")
		b.sync()
		b.change(kept.ID, "192.0.2.2")
		b.remove(lost.ID)
		work, server := b.begin()
		if report, failure := b.run(work, server); failure != nil || report.Applied != 2 {
			t.Fatalf("%+v, %v", report, failure)
		}
		// Nothing was recorded. The successor finds all done.
		work, server = b.load()
		report, failure := b.run(work, server)
		if failure != nil || report.Applied != 0 {
			t.Fatalf("%+v, %v", report, failure)
		}
		b.wantZone(b.record(work, report, failure), dns.ZoneLive)
		b.wantSet(kept.ID, dns.SetLive, dns.InSync)
		if !b.gone(lost.ID) {
			t.Error("the deleted record set is still there")
		}
	})
}

// What a user changes while a synchronization runs stays to be done.
func TestIntentChangesMeanwhile(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	changed, removed, revived := b.create("changed", "192.0.2.1"), b.create("removed", "192.0.2.1"), b.create("revived", "192.0.2.1")
	b.sync()
	b.remove(revived.ID)
	work, server := b.begin()
	b.change(changed.ID, "192.0.2.2")
	b.remove(removed.ID)
	successor := b.create("revived", "192.0.2.3")
	report, failure := b.run(work, server)
	zone := b.record(work, report, failure)
	b.wantZone(zone, dns.ZoneLive)
	b.wantSet(changed.ID, dns.SetPending, "")
	b.wantSet(removed.ID, dns.SetDeleting, "")
	b.wantSet(successor.ID, dns.SetPending, "")
	if changed, err := dns.ZoneChanged(t.Context(), b.Reader, b.zone); err != nil || !changed {
		t.Errorf("changed: %v, %v", changed, err)
	}
	zone, _ = b.sync()
	b.wantZone(zone, dns.ZoneLive)
	b.wantSet(changed.ID, dns.SetLive, dns.InSync)
	if !b.gone(removed.ID) || !slices.Equal(b.tells("revived"), []string{"192.0.2.3"}) || !slices.Equal(b.tells("changed"), []string{"192.0.2.2"}) {
		t.Error("the second synchronization did not do the rest")
	}
	if changed, err := dns.ZoneChanged(t.Context(), b.Reader, b.zone); err != nil || changed {
		t.Errorf("changed: %v, %v", changed, err)
	}
}

func TestHeldUntilAPersonConfirms(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Bind, dns.Sync)
	var sets []dns.ManagedSet
	for i := range 10 {
		sets = append(sets, b.create(fmt.Sprint("h", i), "192.0.2.1"))
	}
	b.sync()
	for _, set := range sets[:4] {
		b.remove(set.ID)
	}
	created := b.create("new", "192.0.2.1")
	zone, _ := b.sync()
	b.wantZone(zone, dns.ZoneHeld)
	if zone.PlanOwned != 10 || zone.PlanTouched != 4 || !strings.Contains(zone.StateMessage, "4 of 10") {
		t.Errorf("%+v", zone)
	}
	if set := b.wantSet(created.ID, dns.SetPending, dns.Create); !strings.Contains(set.StateMessage, "confirmation") {
		t.Errorf("%+v", set)
	}
	if set := b.wantSet(sets[0].ID, dns.SetDeleting, dns.Delete); !strings.Contains(set.StateMessage, "confirmation") {
		t.Errorf("%+v", set)
	}
	confirm := func(checksum string) (zone dns.Zone, err error) {
		call := intent.Call{Actor: audit.Actor{Kind: audit.Account, Name: "ada"}, Workspace: b.workspace}
		err = intent.Engine{DB: b.DB}.Do(t.Context(), call, func(tx *intent.Tx) error {
			zone, err = dns.ConfirmPlan(t.Context(), tx, b.ref(), 0, checksum)
			return err
		})
		return zone, err
	}
	if _, err := confirm("another"); err == nil {
		t.Error("a checksum of another plan was taken")
	}
	confirmed, err := confirm(dns.Confirmation(zone.Plan).Checksum())
	if err != nil {
		t.Fatal(err)
	}
	b.wantZone(confirmed, dns.ZonePending)

	// The server is gone: the retry is still confirmed.
	b.server.Stop()
	zone, _ = b.sync()
	b.wantZone(zone, dns.ZoneFailed)
	if zone.Reason != string(provider.Unreachable) {
		t.Errorf("reason %q", zone.Reason)
	}
	b.wantSet(created.ID, dns.SetPending, dns.Create)
	b.server.Restart(t)
	zone, report := b.sync()
	b.wantZone(zone, dns.ZoneLive)
	if report.Applied != 5 || !b.gone(sets[0].ID) || b.tells("h0") != nil || zone.Confirmed != nil {
		t.Errorf("%+v", report)
	}
}

func TestAdoptingWhatTheServerHolds(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		b := setup(t, start, dns.Sync, "www 10 A 192.0.2.9", "old A 192.0.2.8")
		www := b.create("www", "192.0.2.1")
		zone, _ := b.sync()
		b.wantZone(zone, dns.ZoneLive)
		if !strings.Contains(zone.StateMessage, "attention: 1.") {
			t.Errorf("%q", zone.StateMessage)
		}
		b.wantSet(www.ID, dns.SetFailed, dns.AdoptionNeeded)
		adopt := func(name dns.Name) dns.ManagedSet {
			return do(b, func(ctx context.Context, tx *intent.Tx) (dns.ManagedSet, error) {
				return dns.AdoptRecord(ctx, tx, b.ref(), name, dns.A, dns.AdoptUnowned)
			})
		}
		adopt("www.example.org.")
		old := adopt("old.example.org.")
		if !slices.Equal(old.Contents, []string{"192.0.2.8"}) || old.TTL != 300 {
			t.Errorf("%+v", old)
		}
		zone, _ = b.sync()
		b.wantZone(zone, dns.ZoneLive)
		if set := b.wantSet(www.ID, dns.SetLive, dns.InSync); set.Adopt != dns.AdoptNone {
			t.Errorf("%+v", set)
		}
		b.wantSet(old.ID, dns.SetLive, dns.InSync)
		if len(b.foreign()) != 0 || zone.StateMessage != "" || !slices.Equal(b.tells("www"), []string{"192.0.2.1"}) {
			t.Errorf("%+v, %q", b.foreign(), zone.StateMessage)
		}
	})
}

func TestObserveAndUpsertOnly(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Observe)
	www := b.create("www", "192.0.2.1")
	mode := func(mode dns.Mode) {
		do(b, func(ctx context.Context, tx *intent.Tx) (dns.Zone, error) {
			return dns.ChangeZone(ctx, tx, b.keys, b.ref(), 0, func(d *dns.ZoneDraft) { d.Mode = mode })
		})
	}
	zone, _ := b.sync()
	b.wantZone(zone, dns.ZoneLive)
	if set := b.wantSet(www.ID, dns.SetPending, dns.Create); !strings.Contains(set.StateMessage, "observe") || b.tells("www") != nil {
		t.Errorf("%+v", set)
	}
	mode(dns.UpsertOnly)
	zone, _ = b.sync()
	b.wantZone(zone, dns.ZoneLive)
	b.wantSet(www.ID, dns.SetLive, dns.InSync)
	// It is forgotten at once, and stays on the server, where it is listed.
	b.remove(www.ID)
	if !b.gone(www.ID) {
		t.Error("the row waits for a deletion that nobody makes")
	}
	mode(dns.UpsertOnly)
	b.sync()
	if kept := b.foreign()["www A"]; kept.Outcome != dns.Kept || !slices.Equal(b.tells("www"), []string{"192.0.2.1"}) {
		t.Errorf("%+v", b.foreign())
	}
	mode(dns.Sync)
	b.sync()
	if len(b.foreign()) != 0 || b.tells("www") != nil {
		t.Errorf("%+v", b.foreign())
	}
}

// A job that is cancelled records nothing by itself.
func TestACancelledSyncIsNoFailure(t *testing.T) {
	t.Parallel()
	b := setup(t, dnsserver.Knot, dns.Sync)
	work, server := b.begin()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, failure, err := SyncZone(ctx, server, work, false, nil); failure != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", failure, err)
	}
}

// The server that takes updates is asked where no resolver knows the zone.
func TestCheckSet(t *testing.T) {
	t.Parallel()
	dnsserver.Each(t, func(t *testing.T, start dnsserver.Start) {
		t.Helper()
		b := setup(t, start, dns.Sync)
		www := b.create("www", "192.0.2.1")
		look := func() dns.Check {
			t.Helper()
			work, _ := b.load()
			set := b.set(www.ID)
			check, err := CheckSet(t.Context(), work.Zone, set, netip.AddrPort{})
			if err != nil {
				t.Fatal(err)
			}
			b.write(func(tx *db.Tx) error { return dns.RecordCheck(t.Context(), tx, set.ID, set.Revision, check) })
			return check
		}
		if check := look(); check.Arrived() || len(check.Servers) != 1 || check.Servers[0].Status != "absent" || check.Missing() == "" {
			t.Errorf("before: %+v", check)
		}
		b.sync()
		if check := look(); !check.Arrived() || check.Missing() != "" || !slices.Equal(check.Servers[0].Values, []string{"192.0.2.1"}) {
			t.Errorf("after: %+v", check)
		}
		if set := b.set(www.ID); set.Checked == nil || !set.Checked.Everywhere || set.CheckedAt == nil {
			t.Errorf("%+v", set)
		}
		// A change voids it, and a check of what was there before does not come back.
		b.change(www.ID, "192.0.2.2")
		b.write(func(tx *db.Tx) error { return dns.RecordCheck(t.Context(), tx, www.ID, 1, dns.Check{Everywhere: true}) })
		if set := b.set(www.ID); set.Checked != nil {
			t.Errorf("%+v", set.Checked)
		}
		if check := look(); check.Arrived() || check.Servers[0].Status != "different" {
			t.Errorf("changed: %+v", check)
		}
	})
	work := dns.Zone{Name: zone, Server: "127.0.0.1:53"}
	check, err := CheckSet(t.Context(), work, dns.ManagedSet{Name: "www.example.org.", Type: dns.A}, netip.AddrPort{})
	if err != nil || check.Arrived() || check.Servers[0].Status != "address_refused" {
		t.Errorf("without allow_private: %+v, %v", check, err)
	}
}
