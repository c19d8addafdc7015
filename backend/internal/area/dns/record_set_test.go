package dns

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (p *place) change(t *testing.T, by SetOwner, id uuid.UUID, version int64, values ...string) (ManagedSet, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (ManagedSet, error) {
		return ChangeRecordSet(ctx, tx, by, scope.Found[ManagedSet](id, p.workspace), version, func(c *Content) { c.TTL, c.Values = 600, values })
	})
}

func (p *place) remove(t *testing.T, id uuid.UUID) (ManagedSet, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (ManagedSet, error) {
		return DeleteRecordSet(ctx, tx, OwnedByUser, scope.Found[ManagedSet](id, p.workspace), 0)
	})
}

func TestRecordSets(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone := p.zone(t, draftZone("example.org"))
	set := p.mustCreate(t, zone, "WWW", A, "192.0.2.2", "192.0.2.1")
	if set.Name != "www.example.org." || !slices.Equal(set.Contents, []string{"192.0.2.1", "192.0.2.2"}) || set.State != SetPending || set.WorkspaceID != p.workspace {
		t.Errorf("%+v", set)
	}
	_, err := p.create(t, zone, "www.example.org", A, "192.0.2.3")
	wantConflict(t, err, "dns_record_set_exists")
	_, err = p.create(t, zone, "www", CNAME, "host.example.net")
	wantConflict(t, err, "dns_name_taken")
	_, err = p.create(t, zone, "www", "A", "host.example.net")
	wantInvalid(t, err, "values[0]")
	_, err = p.create(t, Zone{ID: uuid.New()}, "www", A, "192.0.2.1")
	if !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("in no zone: %v", err)
	}

	changed, err := p.change(t, OwnedByUser, set.ID, set.Version, "192.0.2.9")
	if err != nil || changed.Revision != 2 || changed.TTL != 600 || !slices.Equal(changed.Contents, []string{"192.0.2.9"}) {
		t.Errorf("%+v, %v", changed, err)
	}
	_, err = p.change(t, OwnedByUser, set.ID, set.Version, "192.0.2.9")
	wantConflict(t, err, "version_mismatch")
	_, err = p.change(t, OwnedByObject(AllocationNoun, uuid.New()), set.ID, 0, "192.0.2.9")
	wantConflict(t, err, "dns_record_set_owned")

	// A deleted one takes no change, keeps nobody waiting, and its name is free for another kind.
	if _, err := p.remove(t, set.ID); err != nil {
		t.Error(err)
	}
	if gone, err := RecordSetByID(t.Context(), p.Reader, set.ID); err != nil || gone.State != SetDeleting {
		t.Errorf("%+v, %v", gone, err)
	}
	_, err = p.change(t, OwnedByUser, set.ID, 0, "192.0.2.9")
	wantConflict(t, err, "dns_record_set_state")
	alias := p.mustCreate(t, zone, "www", CNAME, "host.example.net")
	_, err = p.create(t, zone, "www", TXT, "x")
	wantConflict(t, err, "dns_name_taken")
	if _, err := p.remove(t, alias.ID); err != nil {
		t.Error(err)
	}
	again := p.mustCreate(t, zone, "www", A, "192.0.2.1")
	work, err := LoadSync(t.Context(), p.Reader, zone.ID)
	if err != nil {
		t.Fatal(err)
	}
	if desired := work.Desired(); len(desired) != 1 || desired[0].ID != again.ID.String() || len(work.Sets) != 2 {
		t.Errorf("%+v", work.Sets)
	}
}

func TestPatternsBoundRecordSets(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	draft := draftZone("example.org")
	draft.Patterns = []string{"*.apps.example.org"}
	zone := p.zone(t, draft)
	p.mustCreate(t, zone, "a.apps", A, "192.0.2.1")
	_, err := p.create(t, zone, "a", A, "192.0.2.1")
	wantInvalid(t, err, "name")
}

func TestAllocationsOwnTheirRecordSets(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone := p.zone(t, draftZone("example.org"))
	allocation := uuid.New()
	owner := OwnedByObject(AllocationNoun, allocation)
	set := must(t, p, func(ctx context.Context, tx *intent.Tx) (ManagedSet, error) {
		return CreateRecordSet(ctx, tx, zoneRef(zone), owner, Draft{Name: "unit-1", Type: "A", TTL: 60, Values: []string{"192.0.2.1"}})
	})
	_, err := p.remove(t, set.ID)
	wantConflict(t, err, "dns_record_set_owned")
	if found, err := RecordSetsOf(t.Context(), p.Reader, owner); err != nil || len(found) != 1 || found[0].ID != set.ID {
		t.Errorf("%v, %v", found, err)
	}
	if found, err := RecordSetsOf(t.Context(), p.Reader, OwnedByUser); err != nil || len(found) != 0 {
		t.Errorf("%v, %v", found, err)
	}
}

// Requests at the same time never leave a CNAME record beside another, nor two sets of one type.
func TestRecordSetsAtOnce(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone := p.zone(t, draftZone("example.org"))
	for round := range 8 {
		name := fmt.Sprint("n", round)
		var group sync.WaitGroup
		drafts := []Draft{
			{name, "CNAME", 300, []string{"host.example.net"}},
			{name, "A", 300, []string{"192.0.2.1"}},
			{name, "TXT", 300, []string{"x"}},
			{name, "A", 300, []string{"192.0.2.2"}},
			{name, "CNAME", 300, []string{"other.example.net"}},
		}
		errs := make([]error, len(drafts))
		for i, draft := range drafts {
			group.Go(func() { _, errs[i] = p.create(t, zone, draft.Name, Type(draft.Type), draft.Values...) })
		}
		group.Wait()
		found, err := RecordSets(t.Context(), p.Reader, RecordSetFilter{WorkspaceID: p.workspace, Name: Name(name + ".example.org."), Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		created := 0
		for _, err := range errs {
			var conflict *fault.Conflict
			if err == nil {
				created++
			} else if !errors.As(err, &conflict) {
				t.Error(err)
			}
		}
		types := make(map[Type]int)
		for _, set := range found {
			types[set.Type]++
		}
		if created == 0 || created != len(found) || types[CNAME] > 1 || types[CNAME] == 1 && len(found) > 1 || types[A] > 1 {
			t.Errorf("%d were created, %v are there: %v", created, types, errs)
		}
	}
}

func TestListRecordSets(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	zone, other := p.zone(t, draftZone("example.org")), p.zone(t, draftZone("example.net"))
	for i := range 5 {
		p.mustCreate(t, zone, fmt.Sprint("h", i), A, "192.0.2.1")
		p.mustCreate(t, other, fmt.Sprint("h", i), TXT, "x")
	}
	list := func(f RecordSetFilter) []ManagedSet {
		f.WorkspaceID = p.workspace
		var all []ManagedSet
		for {
			f.Limit = 2
			page, err := RecordSets(t.Context(), p.Reader, f)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, page...)
			if len(page) < f.Limit {
				return all
			}
			at := RecordSetSorting.At(f.Sort, page[len(page)-1])
			f.After = &at
		}
	}
	for _, test := range []struct {
		filter RecordSetFilter
		want   int
	}{
		{RecordSetFilter{}, 10},
		{RecordSetFilter{ZoneID: zone.ID}, 5},
		{RecordSetFilter{Type: "TXT"}, 5},
		{RecordSetFilter{ZoneID: zone.ID, Type: "TXT"}, 0},
		{RecordSetFilter{Name: "h1.example.org."}, 1},
		{RecordSetFilter{State: "pending", Sort: "-state"}, 10},
		{RecordSetFilter{State: "live"}, 0},
		{RecordSetFilter{Owner: "user", Sort: "-name"}, 10},
	} {
		found := list(test.filter)
		if len(found) != test.want {
			t.Errorf("%+v: %d, want %d", test.filter, len(found), test.want)
		}
		seen := make(map[uuid.UUID]bool)
		for _, set := range found {
			seen[set.ID] = true
		}
		if len(seen) != len(found) {
			t.Errorf("%+v: some twice", test.filter)
		}
	}
	if listed, err := db.IDs(t.Context(), p.Reader, "list", RecordSetIDs, uuid.Nil, 7); err != nil || len(listed) != 7 {
		t.Errorf("%v, %v", listed, err)
	} else if rest, err := db.IDs(t.Context(), p.Reader, "list", RecordSetIDs, listed[6], 7); err != nil || len(rest) != 3 {
		t.Errorf("%v, %v", rest, err)
	}
	if zones, err := db.IDs(t.Context(), p.Reader, "list", ZoneIDs, uuid.Nil, 7); err != nil || len(zones) != 2 {
		t.Errorf("%v, %v", zones, err)
	}
}
