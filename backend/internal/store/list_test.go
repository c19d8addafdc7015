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

// paged reads a list page by page, in each of its orders, and makes sure that
// each row comes once, where it comes when all are read at once.
func paged[T any](t *testing.T, what string, want, limit int, sorting store.Sorting[T], page func(sort string, after *store.Position, limit int) ([]T, error)) {
	t.Helper()
	for _, sort := range append(sorting.Names(), "") {
		at := func(r T) uuid.UUID { return sorting.At(sort, r).ID }
		var got []uuid.UUID
		var after *store.Position
		for turn := 0; turn <= want; turn++ {
			rows, err := page(sort, after, limit)
			if err != nil {
				t.Fatalf("%s by %s: %v", what, sort, err)
			}
			if len(rows) > limit {
				t.Errorf("%s by %s: a page of %d", what, sort, len(rows))
			}
			for _, r := range rows {
				got = append(got, at(r))
				p := sorting.At(sort, r)
				after = &p
			}
			if len(rows) < limit {
				break
			}
		}
		whole, err := page(sort, nil, want+1)
		if err != nil || len(whole) != want {
			t.Fatalf("%s by %s: %d rows, not %d: %v", what, sort, len(whole), want, err)
		}
		for i, r := range whole {
			if len(got) != want || got[i] != at(r) {
				t.Fatalf("%s by %s, %d at a time: %v", what, sort, limit, got)
			}
		}
		pagedBack(t, what+" by "+sort, whole, limit, func(r T) store.Position { return sorting.At(sort, r) },
			func(before *store.Position) ([]T, error) { return page(sort, before, limit) })
		names := sorting.Names()
		if other, err := page(names[1], nil, want); sort == "" && (err != nil || at(other[want-1]) != at(whole[0])) {
			t.Errorf("%s by %s is not the default turned around: %v", what, names[1], err)
		}
	}
}

// pagedBack reads a list from its last row to its first one.
func pagedBack[T any](t *testing.T, what string, whole []T, limit int, at func(T) store.Position, page func(before *store.Position) ([]T, error)) {
	t.Helper()
	for end := len(whole) - 1; end >= 0; end -= limit {
		before := at(whole[end])
		before.Back = true
		rows, err := page(&before)
		if err != nil || len(rows) != min(limit, end) {
			t.Fatalf("%s: %d rows before row %d, %d at a time: %v", what, len(rows), end, limit, err)
		}
		for i, r := range rows {
			if at(r).ID != at(whole[end-len(rows)+i]).ID {
				t.Errorf("%s: row %d of the %d before row %d is another one", what, i, limit, end)
			}
		}
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
		paged(t, "hosts", 3, limit, store.HostSorting, func(sort string, p *store.Position, n int) ([]store.ShownHost, error) {
			return s.DB.Hosts(ctx, store.HostFilter{WorkspaceID: ws, Sort: sort, After: p, Limit: n})
		})
		paged(t, "units", 9, limit, store.UnitSorting, func(sort string, p *store.Position, n int) ([]store.Unit, error) {
			return s.DB.Units(ctx, store.UnitFilter{WorkspaceID: ws, Sort: sort, After: p, Limit: n})
		})
		paged(t, "allocations", 9, limit, store.AllocationSorting, func(sort string, p *store.Position, n int) ([]store.Allocation, error) {
			return s.DB.Allocations(ctx, store.AllocationFilter{WorkspaceID: ws, State: "live", Sort: sort, After: p, Limit: n})
		})
		paged(t, "addresses", 13, limit, store.AddressSorting, func(sort string, p *store.Position, n int) ([]store.Address, error) {
			return s.DB.Addresses(ctx, store.AddressFilter{WorkspaceID: ws, Sort: sort, After: p, Limit: n})
		})
		paged(t, "jobs", 9, limit, store.JobSorting, func(sort string, p *store.Position, n int) ([]store.Job, error) {
			return s.DB.Jobs(ctx, store.JobFilter{WorkspaceID: ws, State: "active", Sort: sort, After: p, Limit: n})
		})
		paged(t, "events", 16, limit, store.EventSorting, func(sort string, p *store.Position, n int) ([]store.Event, error) {
			return s.DB.Events(ctx, store.EventFilter{WorkspaceID: ws, Sort: sort, After: p, Limit: n})
		})
	}
	if _, err := s.DB.Hosts(ctx, store.HostFilter{WorkspaceID: ws, Sort: "address", Limit: 1}); err == nil {
		t.Error("hosts were sorted by what has no index")
	}
	if hosts, err := s.DB.Hosts(ctx, store.HostFilter{WorkspaceID: ws, Search: "h1", State: "ready", Limit: 9}); err != nil || len(hosts) != 1 || hosts[0].LiveAllocations != 3 {
		t.Errorf("search: %+v, %v", hosts, err)
	}
	for of, want := range map[store.JobFilter]int{{Playbook: "unit_allocate", Version: 1}: 9, {Playbook: "unit_allocate", Version: 2}: 0, {Playbook: "host_probe", Version: 1}: 0} {
		of.WorkspaceID, of.State, of.Limit = ws, "active", 99
		if jobs, err := s.DB.Jobs(ctx, of); err != nil || len(jobs) != want {
			t.Errorf("%d jobs that have not ended are bound to %s v%d, want %d: %v", len(jobs), of.Playbook, of.Version, want, err)
		}
	}
	waiting, err := s.DB.Jobs(ctx, store.JobFilter{WorkspaceID: ws, State: "active", Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	s.Tx(func(tx *store.Tx) error {
		for _, j := range waiting {
			if _, err := tx.CancelJob(ctx, j, "not needed"); err != nil {
				return err
			}
		}
		return nil
	})
	paged(t, "jobs that ran with a version", 5, 2, store.JobSorting, func(sort string, p *store.Position, n int) ([]store.Job, error) {
		return s.DB.Jobs(ctx, store.JobFilter{WorkspaceID: ws, State: "ended", Playbook: "unit_allocate", Version: 1, Sort: sort, After: p, Limit: n})
	})
	if jobs, err := s.DB.Jobs(ctx, store.JobFilter{WorkspaceID: ws, State: "ended", Playbook: "unit_allocate", Version: 2, Limit: 9}); err != nil || len(jobs) != 0 {
		t.Errorf("ran with a version that there is not: %+v, %v", jobs, err)
	}
	if units, err := s.DB.Units(ctx, store.UnitFilter{WorkspaceID: ws, State: "allocating", MinCPUs: 2, Limit: 9}); err != nil || len(units) != 0 {
		t.Errorf("filter: %+v, %v", units, err)
	}
}
