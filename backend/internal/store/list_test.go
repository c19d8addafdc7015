package store_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// paged reads a list page by page and makes sure that each row comes once.
func paged[T any](t *testing.T, what string, want, limit int, page func(*store.Position, int) ([]T, error), at func(T) store.Position) {
	t.Helper()
	seen := map[uuid.UUID]bool{}
	var after *store.Position
	for turn := 0; turn <= want; turn++ {
		rows, err := page(after, limit)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if len(rows) > limit {
			t.Errorf("%s: a page of %d", what, len(rows))
		}
		for _, r := range rows {
			p := at(r)
			if seen[p.ID] {
				t.Errorf("%s: %s comes twice", what, p.ID)
			}
			seen[p.ID] = true
			after = &p
		}
		if len(rows) < limit {
			break
		}
	}
	if len(seen) != want {
		t.Errorf("%s by %d: %d rows, not %d", what, limit, len(seen), want)
	}
}

// TestPagesHoldEachRowOnce, also where many rows came in one instant.
func TestPagesHoldEachRowOnce(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	ctx, ws := t.Context(), domain.DefaultWorkspace
	s.AddAddresses("default", 9)
	s.AddAddresses("other", 4)
	for i := range 3 {
		s.ReadyHost(site.HostSpec{Name: fmt.Sprintf("h%d", i), Units: []string{"1", "2", "3"}})
	}
	for range 9 {
		if _, _, err := s.Allocate(intent.CreateAllocation{}); err != nil {
			t.Fatal(err)
		}
	}
	s.Tx(func(tx *store.Tx) error { // in one transaction, hence all at one time
		for range 7 {
			if err := tx.AddEvent(ctx, s.Actor, store.Audit{Workspace: ws, Action: "x", ObjectKind: "host"}); err != nil {
				return err
			}
		}
		return nil
	})
	for _, limit := range []int{1, 2, 3, 50} {
		paged(t, "hosts", 3, limit, func(p *store.Position, n int) ([]store.Host, error) {
			return s.DB.Hosts(ctx, store.HostFilter{WorkspaceID: ws, After: p, Limit: n})
		}, func(h store.Host) store.Position { return store.Position{Text: h.Name, ID: h.ID} })
		paged(t, "units", 9, limit, func(p *store.Position, n int) ([]store.Unit, error) {
			return s.DB.Units(ctx, store.UnitFilter{WorkspaceID: ws, After: p, Limit: n})
		}, func(u store.Unit) store.Position { return store.Position{Text: u.Name, ID: u.ID} })
		paged(t, "allocations", 9, limit, func(p *store.Position, n int) ([]store.Allocation, error) {
			return s.DB.Allocations(ctx, store.AllocationFilter{WorkspaceID: ws, State: "live", After: p, Limit: n})
		}, func(a store.Allocation) store.Position { return store.Position{Time: a.CreatedAt, ID: a.ID} })
		paged(t, "addresses", 13, limit, func(p *store.Position, n int) ([]store.Address, error) {
			return s.DB.Addresses(ctx, store.AddressFilter{WorkspaceID: ws, After: p, Limit: n})
		}, func(a store.Address) store.Position {
			return store.Position{Text: a.Network, Number: a.SortKey, ID: a.ID}
		})
		paged(t, "jobs", 9, limit, func(p *store.Position, n int) ([]store.Job, error) {
			return s.DB.Jobs(ctx, store.JobFilter{WorkspaceID: ws, State: "active", After: p, Limit: n})
		}, func(j store.Job) store.Position { return store.Position{Time: j.CreatedAt, ID: j.ID} })
		paged(t, "events", 16, limit, func(p *store.Position, n int) ([]store.Event, error) {
			return s.DB.Events(ctx, store.EventFilter{WorkspaceID: ws, After: p, Limit: n})
		}, func(e store.Event) store.Position { return store.Position{Time: e.At, ID: e.ID} })
	}
	if hosts, err := s.DB.Hosts(ctx, store.HostFilter{WorkspaceID: ws, Search: "h1", State: "ready", Limit: 9}); err != nil || len(hosts) != 1 || hosts[0].LiveAllocations != 3 {
		t.Errorf("search: %+v, %v", hosts, err)
	}
	if units, err := s.DB.Units(ctx, store.UnitFilter{WorkspaceID: ws, State: "allocating", MinCPUs: 2, Limit: 9}); err != nil || len(units) != 0 {
		t.Errorf("filter: %+v, %v", units, err)
	}
}
