package dns

import (
	"bytes"
	"context"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/lifecycle"
)

// The CHECKs of the schema are the tables of Go.
func TestSchemaKnowsTheStates(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../../crdb/migrations/00034_dns.sql")
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`CHECK \((\w+) IN \(([^)]*)\)\)`).FindAllStringSubmatch(string(text), -1)
	var types, modes []string
	for _, kind := range Types() {
		types = append(types, string(kind))
	}
	for _, mode := range Modes() {
		modes = append(modes, string(mode))
	}
	want := [][]string{{RFC2136}, KeyAlgorithms(), modes, ZoneLifecycle.Names(), types, {"", string(AdoptUnowned), string(AdoptForeign)}, SetLifecycle.Names()}
	if len(lists) != len(want) {
		t.Fatalf("%d lists, want %d", len(lists), len(want))
	}
	for i, list := range lists {
		if got := strings.Split(strings.ReplaceAll(list[2], "'", ""), ", "); !slices.Equal(got, want[i]) {
			t.Errorf("%s may be %q, want %q", list[1], got, want[i])
		}
	}
}

func TestZoneDraft(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*ZoneDraft){
		"":              func(*ZoneDraft) {},
		"name":          func(d *ZoneDraft) { d.Name = "*.example.org" },
		"server":        func(d *ZoneDraft) { d.AllowPrivate = false },
		"key_name":      func(d *ZoneDraft) { d.KeyName = "" },
		"key_algorithm": func(d *ZoneDraft) { d.KeyAlgorithm = "hmac-md5" },
		"key_secret":    func(d *ZoneDraft) { d.KeySecret = "c2hvcnQ=" },
		"mode":          func(d *ZoneDraft) { d.Mode = "" },
		"patterns[0]":   func(d *ZoneDraft) { d.Patterns = []string{"*.example.com"} },
		"server key_name key_algorithm key_secret mode": func(d *ZoneDraft) { *d = ZoneDraft{Name: "example.org"} },
	} {
		draft := draftZone("example.org")
		change(&draft)
		_, err := draft.check("")
		if want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		wantInvalid(t, err, strings.Fields(want)...)
	}
	for text, want := range map[string]string{
		"ns1.Example.net": "ns1.example.net:53", "ns1.example.net.:5300": "ns1.example.net:5300", "192.0.2.1": "192.0.2.1:53", "[fd00::53]:53": "[fd00::53]:53",
		"fd00::53": "[fd00::53]:53", "::ffff:10.0.0.1": "10.0.0.1:53",
		"ns1:0": "", "ns1:70000": "", "": "", "fe80::1%lo": "", "169.254.169.254": "", "*.example.net": "", "a b": "",
	} {
		got, err := parseServer(text, true)
		if (err == nil) != (want != "") || err == nil && got != want {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestZones(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone := p.zone(t, draftZone("Bücher.example"))
	if zone.Name != "xn--bcher-kva.example." || zone.State != ZonePending || zone.Version != 1 || zone.Server != "127.0.0.1:5353" {
		t.Errorf("%+v", zone)
	}
	if bytes.Contains(zone.KeySealed, []byte(testSecret)) {
		t.Error("the key is not sealed")
	}
	if secret, err := zone.OpenKey(p.keys); err != nil || secret != testSecret {
		t.Errorf("the key is %q, %v", secret, err)
	}
	moved := zone
	moved.ID = uuid.New()
	if _, err := moved.OpenKey(p.keys); err == nil {
		t.Error("the key opens for another row")
	}
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Zone, error) {
		return CreateZone(ctx, tx, p.keys, draftZone("xn--bcher-kva.example."))
	})
	wantConflict(t, err, "dns_zone_exists")

	for _, text := range []string{"bücher.example", "BÜCHER.example.", "xn--bcher-kva.example", zone.ID.String()} {
		if found, ref, err := FindZone(t.Context(), p.Reader, p.workspace, text); err != nil || found.ID != zone.ID || ref.ID() != zone.ID {
			t.Errorf("%s: %v, %v", text, found, err)
		}
		if _, ref, err := FindZone(t.Context(), p.Reader, uuid.New(), text); !errors.Is(err, fault.ErrNotFound) || !ref.IsZero() {
			t.Errorf("%s from another workspace: %v", text, err)
		}
	}

	change := func(version int64) (Zone, error) {
		return p.changeZone(t, zone.ID, version, func(d *ZoneDraft) { d.Mode, d.Patterns = Observe, []string{"*.bücher.example"} })
	}
	changed, err := change(1)
	if err != nil || changed.Mode != Observe || changed.Revision != 2 || changed.Version != 2 || !bytes.Equal(changed.KeySealed, zone.KeySealed) {
		t.Errorf("changed: %+v, %v", changed, err)
	}
	_, err = change(1)
	wantConflict(t, err, "version_mismatch")
	for key, value := range changed.facts() {
		if text, ok := value.(string); ok && strings.Contains(text, testSecret) {
			t.Errorf("the event tells the key in %s", key)
		}
	}

	other := p.zone(t, draftZone("a.example"))
	page, err := Zones(t.Context(), p.Reader, ZoneFilter{WorkspaceID: p.workspace, Limit: 10})
	if err != nil || len(page) != 2 || page[0].ID != other.ID {
		t.Errorf("page %v, %v", page, err)
	}
	at := ZoneSorting.At("", page[0])
	if page, err = Zones(t.Context(), p.Reader, ZoneFilter{WorkspaceID: p.workspace, After: &at, Limit: 10}); err != nil || len(page) != 1 || page[0].ID != zone.ID {
		t.Errorf("second page %v, %v", page, err)
	}
}

func TestDeleteZone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone := p.zone(t, draftZone("example.org"))
	www := p.mustCreate(t, zone, "www", A, "192.0.2.1")
	remove := func() error { return p.deleteZone(t, zone.ID) }
	wantConflict(t, remove(), "dns_zone_in_use")
	// In mode observe nothing is taken off the server, so the row is gone at once.
	p.setMode(t, zone.ID, Observe)
	if _, err := p.remove(t, www.ID); err != nil {
		t.Fatal(err)
	}
	move := func(on lifecycle.Event, message string) {
		if err := p.InTx(t.Context(), func(tx *db.Tx) error { return MoveZone(t.Context(), tx, zone.ID, on, message) }); err != nil {
			t.Fatal(err)
		}
	}
	move(SyncStarted, "")
	wantConflict(t, remove(), "dns_zone_state")
	move(SyncFailed, "It cannot be reached.")
	if failed, err := ZoneByID(t.Context(), p.Reader, zone.ID); err != nil || failed.State != ZoneFailed || failed.StateMessage != "It cannot be reached." {
		t.Errorf("%+v, %v", failed, err)
	}
	if err := remove(); err != nil {
		t.Error(err)
	}
	if _, err := ZoneByID(t.Context(), p.Reader, zone.ID); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("deleted: %v", err)
	}
}

// A record set that is written while its zone is deleted: one of the two is refused.
func TestDeleteZoneAgainstARecordSet(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for range 10 {
		zone := p.zone(t, draftZone("example.org"))
		var group sync.WaitGroup
		var created, deleted error
		group.Go(func() { _, created = p.create(t, zone, "www", A, "192.0.2.1") })
		group.Go(func() { deleted = p.deleteZone(t, zone.ID) })
		group.Wait()
		if (created == nil) == (deleted == nil) {
			t.Fatalf("created %v, deleted %v", created, deleted)
		}
		if created != nil && !errors.Is(created, fault.ErrNotFound) {
			t.Errorf("created: %v", created)
		}
		if deleted == nil {
			continue
		}
		wantConflict(t, deleted, "dns_zone_in_use")
		set, err := recordSetAt(t.Context(), p.Reader, zone.ID, "www.example.org.", A)
		if err != nil {
			t.Fatal(err)
		}
		p.setMode(t, zone.ID, Observe)
		if _, err := p.remove(t, set.ID); err != nil {
			t.Fatal(err)
		}
		if err := p.deleteZone(t, zone.ID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestInstallationKeepsItsID(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	id, err := Installation(t.Context(), p.Reader)
	if err != nil || uuid.Validate(id) != nil {
		t.Fatalf("%q, %v", id, err)
	}
	if err := (Owner{Installation: id, Zone: uuid.NewString(), Set: uuid.NewString()}).check(); err != nil {
		t.Error(err)
	}
}
