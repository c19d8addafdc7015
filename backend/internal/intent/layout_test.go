package intent_test

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// beside is a host of eight CPUs with an allocated unit, a closed one and two
// free ones; CPU 7 belongs to nobody.
func beside(s *site.Site) (h store.Host, allocated, closed store.Unit) {
	s.T.Helper()
	s.AddAddresses("default", 8)
	h = s.ReadyHost(site.HostSpec{Units: []string{"1-2", "3", "4", "5-6"}})
	units := s.Units(h.ID)
	if _, _, err := s.Allocate(intent.CreateAllocation{UnitID: &units[0].ID}); err != nil {
		s.T.Fatal(err)
	}
	if err := s.Intents.CloseUnit(s.T.Context(), s.Call, units[1].ID, 0); err != nil {
		s.T.Fatal(err)
	}
	return s.Host(h.ID), s.Units(h.ID)[0], s.Units(h.ID)[1]
}

func TestRelayoutLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h, allocated, closed := beside(s)
	before := s.Units(h.ID)
	preview, err := s.Intents.PreviewLayout(t.Context(), h.ID, domain.LayoutRequest{Count: 2, CPUsEach: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.Units(h.ID)); diff != "" {
		t.Fatalf("a preview changed units:\n%s", diff)
	}
	job, err := s.Intents.RelayoutHost(t.Context(), s.Call, h.ID, h.Version, domain.LayoutRequest{Count: 2, CPUsEach: 2})
	if err != nil {
		t.Fatal(err)
	}
	after := s.Units(h.ID)
	if diff := cmp.Diff([]store.Unit{allocated, closed}, after[:2], cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".HostState" }, cmp.Ignore())); diff != "" {
		t.Errorf("the units that stay were changed:\n%s", diff)
	}
	type row struct {
		name, cpus string
		state      domain.UnitState
	}
	var got []row
	for _, u := range after {
		got = append(got, row{u.Name, u.CPUs, u.State})
	}
	name := func(n int) string { return domain.UnitName(h.Name, n) }
	want := []row{
		{name(1), "1-2", domain.UnitAllocating},
		{name(2), "3", domain.UnitUnavailable},
		{name(3), "4", domain.UnitRemoving},
		{name(4), "5-6", domain.UnitRemoving},
		{name(5), "4-5", domain.UnitPreparing},
		{name(6), "6-7", domain.UnitPreparing},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Errorf("units:\n%s", diff)
	}
	now := s.Host(h.ID)
	if now.State != domain.HostInitializing || now.NextOrdinal != 7 {
		t.Errorf("host %s, next ordinal %d", now.State, now.NextOrdinal)
	}
	if diff := cmp.Diff(&preview, now.Layout); diff != "" {
		t.Errorf("the preview was another layout:\n%s", diff)
	}
	if j := s.Job(job); j.Kind != domain.KindHostRelayout || *j.Playbook != "host_initialize" {
		t.Errorf("%+v", j)
	}
	// The free space is what the two free ones had, and not a byte more.
	space := before[2].VolumeBytes + before[3].VolumeBytes + s.Host(h.ID).Layout.VolumeSpaceBytes
	for _, u := range before {
		space -= u.VolumeBytes
	}
	if made := after[4].VolumeBytes + after[5].VolumeBytes; made > space || made < space/2 {
		t.Errorf("the new units have %d bytes of %d", made, space)
	}
	event := s.Events(h.ID)[len(s.Events(h.ID))-1]
	if event.Action != "host.relayout" || event.JobID == nil || *event.JobID != job {
		t.Errorf("%+v", event)
	}
	// What was replaced is not handed out, and neither is what is not made yet.
	for _, u := range after[2:] {
		if _, _, err := s.Allocate(intent.CreateAllocation{UnitID: &u.ID}); err == nil {
			t.Errorf("%s, which is %s, was handed out", u.Name, u.State)
		}
	}
}

func TestRelayoutIsRefused(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h, allocated, _ := beside(s)
	ask := func(id uuid.UUID, version int64, r domain.LayoutRequest) error {
		_, err := s.Intents.RelayoutHost(t.Context(), s.Call, id, version, r)
		return err
	}
	var bad *domain.Invalid
	err := ask(h.ID, 0, domain.LayoutRequest{SystemCPUs: "7", VolumeGroup: "x", Units: []domain.LayoutUnit{{CPUs: "2"}, {CPUs: "0"}}})
	if !errors.As(err, &bad) {
		t.Fatalf("got %v", err)
	}
	var fields []string
	for _, f := range bad.Fields {
		fields = append(fields, f.Field)
	}
	if want := []string{"volume_group", "system_cpus", "units[0].cpus", "units[1].cpus"}; !slices.Equal(fields, want) {
		t.Errorf("the bad fields are %v, not %v: %v", fields, want, err)
	}
	conflict := func(code string, err error) {
		t.Helper()
		var c *domain.Conflict
		if !errors.As(err, &c) || c.Code != code || c.Detail == "" {
			t.Errorf("%v, not a conflict %s", err, code)
		}
	}
	fits := domain.LayoutRequest{Count: 1, CPUsEach: 1}
	conflict("version_mismatch", ask(h.ID, h.Version+1, fits))
	if err := s.Intents.DrainHost(t.Context(), s.Call, h.ID, 0); err != nil {
		t.Fatal(err)
	}
	conflict("host_state", ask(h.ID, 0, fits))
	if err := s.Intents.UndrainHost(t.Context(), s.Call, h.ID, 0); err != nil {
		t.Fatal(err)
	}
	if err := ask(h.ID, 0, fits); err != nil {
		t.Fatal(err)
	}
	conflict("host_state", ask(h.ID, 0, fits)) // while the first is under way
	if err := s.Intents.DeclareHostLost(t.Context(), s.Call, h.ID, 0, h.Name); err != nil {
		t.Fatal(err)
	}
	conflict("host_state", ask(h.ID, 0, fits))
	if got, err := s.DB.Unit(t.Context(), allocated.ID); err != nil || got.State != domain.UnitRemoved {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestALayoutTakesStock: what the host has is what it is compared with from then on.
func TestALayoutTakesStock(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h, _, _ := beside(s)
	conn, err := pgx.Connect(t.Context(), s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	noted := func() (n int) {
		t.Helper()
		if err := conn.QueryRow(t.Context(), `SELECT jsonb_array_length(i.laid_out->'cpus') FROM host_inventories i WHERE i.host_id = $1`, h.ID).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if noted() != len(h.Facts.CPUs) {
		t.Error("its CPUs were not noted")
	}
	if _, err := conn.Exec(t.Context(), `UPDATE host_inventories SET laid_out = '{"cpus": []}' WHERE host_id = $1`, h.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Intents.RelayoutHost(t.Context(), s.Call, h.ID, 0, domain.LayoutRequest{Count: 2, CPUsEach: 2}); err != nil {
		t.Fatal(err)
	}
	if noted() != len(h.Facts.CPUs) {
		t.Error("its CPUs were not noted anew")
	}
}

// TestRelayoutAgainstAllocate: one of the two has a unit, never both.
func TestRelayoutAgainstAllocate(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 50)
	wins := map[string]int{}
	for range 12 {
		h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
		var relayout, allocate error
		var both sync.WaitGroup
		both.Go(func() {
			_, relayout = s.Intents.RelayoutHost(t.Context(), s.Call, h.ID, 0, domain.LayoutRequest{Count: 1, CPUsEach: 3})
		})
		both.Go(func() { _, _, allocate = s.Allocate(intent.CreateAllocation{HostID: &h.ID}) })
		both.Wait()
		now := s.Host(h.ID)
		owned := map[int]string{}
		for _, u := range s.Units(h.ID) {
			if u.State == domain.UnitRemoving {
				continue
			}
			set, err := domain.ParseCPUSet(u.CPUs)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range set {
				if owned[c] != "" {
					t.Errorf("CPU %d is %s's and %s's", c, owned[c], u.Name)
				}
				owned[c] = u.Name
			}
		}
		switch {
		case relayout == nil && allocate != nil:
			wins["relayout"]++
			if now.LiveAllocations != 0 || now.Units["removing"] != 2 || now.Units["preparing"] != 1 {
				t.Errorf("%+v", now)
			}
			whyNot(t, allocate)
		case relayout == nil && allocate == nil: // placed first, and kept
			wins["both"]++
			if now.LiveAllocations != 1 || now.Units["removing"] != 1 || now.Units["allocating"] != 1 {
				t.Errorf("%+v", now)
			}
		case allocate == nil:
			wins["allocate"]++
			if now.State != domain.HostReady || now.Units["free"] != 1 || now.Units["allocating"] != 1 {
				t.Errorf("%+v", now)
			}
			if c := (*domain.Conflict)(nil); !errors.As(relayout, &c) {
				t.Errorf("not a conflict: %v", relayout)
			}
		default:
			t.Errorf("relayout %v, allocate %v", relayout, allocate)
		}
	}
	t.Log(wins)
}

func TestTwoRelayoutsAtOnce(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	errs := make([]error, 8)
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() {
			_, errs[i] = s.Intents.RelayoutHost(t.Context(), s.Call, h.ID, 0, domain.LayoutRequest{Count: 1 + i%3, CPUsEach: 1})
		})
	}
	done.Wait()
	set := 0
	for _, err := range errs {
		c := (*domain.Conflict)(nil)
		switch {
		case err == nil:
			set++
		case !errors.As(err, &c):
			t.Errorf("not a conflict: %v", err)
		}
	}
	now := s.Host(h.ID)
	if set != 1 || now.Units["preparing"] != len(now.Layout.Units) || now.Units["removing"] != 2 || now.NextOrdinal != 3+now.Units["preparing"] {
		t.Errorf("%d were set; %+v", set, now)
	}
}
