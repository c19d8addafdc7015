package intent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// asked is what came of one request.
type asked struct {
	id  uuid.UUID
	err error
}

// all asks n times at once.
func all(s *site.Site, n int, r func(i int) intent.CreateAllocation) (got []asked) {
	s.T.Helper()
	_, key := site.NewKey(s.T)
	got = make([]asked, n)
	begin := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		want := r(i)
		want.SSHKeys = []string{key}
		done.Go(func() {
			<-begin
			got[i].id, _, got[i].err = s.Allocate(want)
		})
	}
	close(begin)
	done.Wait()
	return got
}

// distinct makes sure that nothing was handed out twice and returns how many
// got what they asked for; all others must have heard that nothing fits.
func distinct(s *site.Site, got []asked) (placed []store.Allocation) {
	s.T.Helper()
	seen := map[string]bool{}
	for _, g := range got {
		if g.err != nil {
			if none := (*intent.NoCapacity)(nil); !errors.As(g.err, &none) {
				s.T.Errorf("an error of another kind: %v", g.err)
			}
			continue
		}
		a := s.Allocation(g.id)
		for _, key := range []string{"unit " + a.UnitID.String(), "address " + a.Address, fmt.Sprintf("uid %d", a.UID), "login " + a.Host + a.LoginUser} {
			if seen[key] {
				s.T.Errorf("%s was handed out twice", key)
			}
			seen[key] = true
		}
		placed = append(placed, a)
	}
	return placed
}

func TestLastUnitsAreHandedOutOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ hosts, requests, want int }{
		{4, 64, 28}, // more requests than units: each unit goes once
		{8, 56, 56}, // as many: none is refused
	} {
		t.Run(fmt.Sprint(c.requests, " of ", c.hosts*7), func(t *testing.T) {
			t.Parallel()
			s := site.New(t)
			s.AddAddresses("default", 100)
			for range c.hosts {
				s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3", "4", "5", "6", "7"}})
			}
			got := all(s, c.requests, func(int) intent.CreateAllocation { return intent.CreateAllocation{CPUs: 1} })
			if placed := distinct(s, got); len(placed) != c.want {
				t.Errorf("%d were placed, %d could be", len(placed), c.want)
			}
		})
	}
}

// TestAFailedRequestDoesNotHideItsUnit: who waits for a unit that another one
// holds and gives back, gets it.
func TestAFailedRequestDoesNotHideItsUnit(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	result := make(chan error, 1)
	rolledBack := errors.New("changed my mind")
	err := s.DB.InTx(t.Context(), func(tx *store.Tx) error {
		wanted := store.Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: 1}
		unit, ok, err := tx.PickUnit(t.Context(), wanted)
		if err != nil || !ok {
			return fmt.Errorf("%v: %w", ok, err)
		}
		if _, ok, err := tx.ReserveAddress(t.Context(), domain.DefaultWorkspace, "default", unit.ID); err != nil || !ok {
			return fmt.Errorf("%v: %w", ok, err)
		}
		go func() {
			_, _, err := s.Allocate(intent.CreateAllocation{})
			result <- err
		}()
		site.Eventually(t, "the other one to wait", func() bool { return waiting(s) > 0 })
		return rolledBack
	})
	if !errors.Is(err, rolledBack) {
		t.Fatal(err)
	}
	if err := site.Await(t, "the other one", result); err != nil {
		t.Errorf("refused while a unit was free: %v", err)
	}
}

func TestALoginUserIsAFilter(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 50)
	for range 10 {
		s.ReadyHost(site.HostSpec{Units: []string{"1", "2", "3"}})
	}
	got := all(s, 10, func(int) intent.CreateAllocation { return intent.CreateAllocation{CPUs: 1, LoginUser: "ada"} })
	if placed := distinct(s, got); len(placed) != 10 {
		t.Errorf("%d of 10 hosts have an ada: %v", len(placed), got)
	}
	_, _, err := s.Allocate(intent.CreateAllocation{LoginUser: "ada"})
	why := whyNot(t, err)
	if diff := cmp.Diff([]domain.RuledOut{{Filter: "unit_state", Why: "is not free", Units: 10}, {Filter: "login_user", Why: "is on a host where the login user is taken", Units: 20}}, why.RuledOut); diff != "" {
		t.Error(diff)
	}
	if why.Units != 30 || why.Nearest != "Choose another login user." {
		t.Errorf("%+v", why)
	}
}

// TestTheAdministratorsNameIsNoTenants: or the tenant's setup would take over
// the account that we log in with.
func TestTheAdministratorsNameIsNoTenants(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 5)
	s.ReadyHost(site.HostSpec{AdminUser: "deploy", Units: []string{"1"}})
	_, _, err := s.Allocate(intent.CreateAllocation{LoginUser: "deploy"})
	if why := whyNot(t, err); len(why.RuledOut) != 1 || why.RuledOut[0].Filter != "admin_user" {
		t.Errorf("%+v", why)
	}
	h := s.ReadyHost(site.HostSpec{AdminUser: "other1", Units: []string{"1", "2"}})
	a, _, err := s.Allocate(intent.CreateAllocation{LoginUser: "deploy"})
	if err != nil || s.Allocation(a).HostID != h.ID {
		t.Errorf("%v", err)
	}
}

// TestTheLastAddress: who loses it is placed where there is another one.
func TestTheLastAddress(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("north", 1)
	s.AddAddresses("south", 7)
	for _, n := range []string{"north", "south"} {
		s.ReadyHost(site.HostSpec{Networks: []string{n}, Units: []string{"1", "2", "3", "4", "5", "6", "7"}})
	}
	got := all(s, 12, func(int) intent.CreateAllocation { return intent.CreateAllocation{CPUs: 1} })
	if placed := distinct(s, got); len(placed) != 8 {
		t.Errorf("%d were placed on 8 addresses", len(placed))
	}
	_, _, err := s.Allocate(intent.CreateAllocation{})
	why := whyNot(t, err)
	if len(why.RuledOut) != 2 || why.RuledOut[1].Filter != "address" || why.RuledOut[1].Units != 6 || !strings.Contains(why.Nearest, "Add addresses") {
		t.Errorf("%+v", why)
	}
	s.AddAddresses("west", 3)
	s.ReadyHost(site.HostSpec{Networks: []string{"north", "west"}, Units: []string{"1"}})
	a, _, err := s.Allocate(intent.CreateAllocation{})
	if err != nil || s.Allocation(a).Network != "west" {
		t.Errorf("a host of two networks: %v", err)
	}
}

func TestTheSmallestUnitThatFits(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 9)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2-3", "4-7"}})
	for _, c := range []struct{ cpus, got int }{{2, 2}, {1, 1}, {1, 4}} {
		a, _, err := s.Allocate(intent.CreateAllocation{CPUs: c.cpus})
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Allocation(a).CPUCount; n != c.got {
			t.Errorf("asked for %d CPUs, got %d", c.cpus, n)
		}
	}
}

func whyNot(t *testing.T, err error) domain.WhyNot {
	t.Helper()
	var none *intent.NoCapacity
	if !errors.As(err, &none) {
		t.Fatalf("not a lack of capacity: %v", err)
	}
	return none.Why
}

// TestHostsUnder72PercentArePreferred, whatever the fleet: the unit is the
// smallest that fits on a host of which less is in use, and the smallest of all
// where there is none such.
func TestHostsUnder72PercentArePreferred(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 500)
	cuts := [][]string{{"1", "2", "3", "4", "5", "6", "7"}, {"1-2", "3-4", "5-7"}, {"1-5", "6-7"}, {"1-7"}, {"1", "2-3", "4-7"}}
	roomy, full := 0, 0
	for fleet := range 24 {
		random := rand.New(rand.NewPCG(uint64(fleet), 72))
		region := fmt.Sprintf("fleet-%d", fleet)
		var hosts []store.Host
		for h := range 1 + random.IntN(3) {
			host := s.ReadyHost(site.HostSpec{Name: fmt.Sprintf("f%d-%d", fleet, h), Region: region, Units: cuts[random.IntN(len(cuts))*min(fleet%4, 1)]})
			for _, u := range s.Units(host.ID) {
				if fleet%4 == 0 && u.Ordinal > 1 || fleet%4 > 0 && random.IntN(3) > 0 { // every fourth is full but for single CPUs
					if _, _, err := s.Allocate(intent.CreateAllocation{UnitID: &u.ID}); err != nil {
						t.Fatal(err)
					}
				}
			}
			hosts = append(hosts, host)
		}
		cpus := 1 + random.IntN(3)*min(fleet%4, 1)
		smallest := map[bool]int{} // CPUs, by whether the host is under 72 %
		under := map[uuid.UUID]bool{}
		for _, h := range hosts {
			used, all := 0, 0
			units := s.Units(h.ID)
			for _, u := range units {
				all += u.CPUCount
				if u.State != domain.UnitFree {
					used += u.CPUCount
				}
			}
			under[h.ID] = used*100 < all*72
			for _, u := range units {
				if best := smallest[under[h.ID]]; u.State == domain.UnitFree && u.CPUCount >= cpus && (best == 0 || u.CPUCount < best) {
					smallest[under[h.ID]] = u.CPUCount
				}
			}
		}
		id, _, err := s.Allocate(intent.CreateAllocation{Region: region, CPUs: cpus})
		if smallest[true] == 0 && smallest[false] == 0 {
			if full := (*intent.NoCapacity)(nil); !errors.As(err, &full) {
				t.Errorf("fleet %d: nothing fits, and got %v", fleet, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("fleet %d: %v", fleet, err)
			continue
		}
		got, want := s.Allocation(id), smallest[true] > 0
		if want {
			roomy++
		} else {
			full++
		}
		if under[got.HostID] != want || got.CPUCount != smallest[want] {
			t.Errorf("fleet %d: %d CPUs on a host under 72 %%: %v; want %d, %v", fleet, got.CPUCount, under[got.HostID], smallest[want], want)
		}
	}
	if roomy == 0 || full == 0 {
		t.Errorf("the fleets were all of one sort: %d roomy, %d full", roomy, full)
	}
}

func TestWhyNot(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, _, err := s.Allocate(intent.CreateAllocation{})
	if why := whyNot(t, err); why.Units != 0 || !strings.Contains(why.Nearest, "add a host") {
		t.Errorf("an empty installation: %+v", why)
	}
	s.AddAddresses("default", 9)
	h1 := s.ReadyHost(site.HostSpec{Name: "h1", Region: "eu", Zone: "a", Labels: map[string]string{"disk": "ssd"}, Units: []string{"1", "2-3"}})
	h2 := s.ReadyHost(site.HostSpec{Name: "h2", Region: "us", Zone: "b", Units: []string{"1-4"}})
	u1 := s.Units(h1.ID)
	if err := s.Intents.CloseUnit(t.Context(), s.Actor, u1[0].ID, 0); err != nil {
		t.Fatal(err)
	}
	host := func(id uuid.UUID) *uuid.UUID { return &id }
	for name, c := range map[string]struct {
		r       intent.CreateAllocation
		ruled   map[string]int
		nearest string
	}{
		"too many CPUs":          {intent.CreateAllocation{CPUs: 5}, map[string]int{"unit_state": 1, "cpus": 2}, "Ask for 4 CPUs: that is the largest free unit that otherwise fits."},
		"CPUs in a region":       {intent.CreateAllocation{CPUs: 3, Region: "eu"}, map[string]int{"unit_state": 1, "cpus": 1, "region": 1}, "Ask for 2 CPUs: that is the largest free unit that otherwise fits."},
		"region":                 {intent.CreateAllocation{CPUs: 1, Region: "ap"}, map[string]int{"unit_state": 1, "region": 2}, `Leave out region "ap".`},
		"zone":                   {intent.CreateAllocation{CPUs: 1, Region: "eu", Zone: "b"}, map[string]int{"unit_state": 1, "region": 1, "zone": 1}, `Leave out region "eu".`},
		"labels":                 {intent.CreateAllocation{CPUs: 1, HostLabels: map[string]string{"disk": "hdd"}}, map[string]int{"unit_state": 1, "host_labels": 2}, "Leave out some of the host labels."},
		"network":                {intent.CreateAllocation{CPUs: 1, Network: "other"}, map[string]int{"unit_state": 1, "network": 2}, ""},
		"a closed unit":          {intent.CreateAllocation{UnitID: &u1[0].ID}, map[string]int{"unit_state": 1, "unit": 2}, "Leave out the unit."},
		"a host with too little": {intent.CreateAllocation{CPUs: 3, HostID: host(h1.ID)}, map[string]int{"unit_state": 1, "host": 1, "cpus": 1}, "Leave out the host."},
	} {
		_, _, err := s.Allocate(c.r)
		why := whyNot(t, err)
		got := map[string]int{}
		for _, r := range why.RuledOut {
			got[r.Filter] = r.Units
			if r.Why == "" {
				t.Errorf("%s: %s does not say why", name, r.Filter)
			}
		}
		if diff := cmp.Diff(c.ruled, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if c.nearest != "" && why.Nearest != c.nearest || why.Units != 3 {
			t.Errorf("%s: of %d units: %q", name, why.Units, why.Nearest)
		}
	}
	for _, h := range []store.Host{h1, h2} {
		if err := s.Intents.DrainHost(t.Context(), s.Actor, h.ID, 0); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err = s.Allocate(intent.CreateAllocation{})
	if why := whyNot(t, err); !strings.Contains(why.Nearest, "host is ready") {
		t.Errorf("drained: %+v", why)
	}
	if err := s.Intents.UndrainHost(t.Context(), s.Actor, h1.ID, 0); err != nil {
		t.Fatal(err)
	}
	// Labels that match, a unit that is named, and nothing of it is refused.
	if _, _, err := s.Allocate(intent.CreateAllocation{UnitID: &u1[1].ID, HostLabels: map[string]string{"disk": "ssd"}, Region: "eu", Zone: "a", Network: "default"}); err != nil {
		t.Error(err)
	}
}

func TestBadRequestsNameEveryField(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	_, key := site.NewKey(t)
	unit := uuid.New()
	_, _, err := s.Intents.CreateAllocation(t.Context(), s.Actor, domain.DefaultWorkspace, intent.CreateAllocation{
		CPUs: 1 << 40, UnitID: &unit, Region: "{{x}}", Zone: "A", Network: "a b", LoginUser: "root", SSHKeys: []string{key, "x", key},
		HostLabels: map[string]string{"A": ""}, Labels: map[string]string{"a": "\n"},
	})
	var bad *domain.Invalid
	if !errors.As(err, &bad) {
		t.Fatal(err)
	}
	var fields []string
	for _, f := range bad.Fields {
		fields = append(fields, f.Field)
	}
	slices.Sort(fields)
	want := []string{"cpus", "cpus", "host_labels", "labels", "login_user", "network", "region", "ssh_keys[1]", "ssh_keys[2]", "zone"}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	_, _, err = s.Intents.RegisterHost(t.Context(), s.Actor, domain.DefaultWorkspace, intent.RegisterHost{
		Name: "all", Address: "169.254.169.254", Port: 70000,
		AdminUser: "-x", Region: "A", Zone: "A", Networks: []string{"a", "a"}, Labels: map[string]string{"A": ""}, Profile: "large", HostKey: "ssh-dss AAAA",
	})
	if !errors.As(err, &bad) || len(bad.Fields) != 10 {
		t.Errorf("%v", err)
	}
	_, err = s.Intents.AddAddresses(t.Context(), s.Actor, domain.DefaultWorkspace, "A", []intent.AddressRange{
		{Range: "x"}, {Range: "10.0.0.1-10.0.0.2", Endpoint: "h:1"}, {Range: "10.0.0.9", Endpoint: "h:99999"}, {Range: "10.1.0.0-10.1.15.255"},
	})
	if !errors.As(err, &bad) || len(bad.Fields) != 5 {
		t.Errorf("%v", err)
	}
	if _, err = s.Intents.AddAddresses(t.Context(), s.Actor, domain.DefaultWorkspace, "default", nil); !errors.As(err, &bad) {
		t.Errorf("no addresses: %v", err)
	}
	hosts, err := s.DB.Hosts(t.Context(), store.HostFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 9})
	if err != nil || len(hosts) != 0 {
		t.Errorf("something was written: %v, %v", hosts, err)
	}
}

// TestDecommissionAgainstAllocate: one of the two wins, never both.
func TestDecommissionAgainstAllocate(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 50)
	wins := map[string]int{}
	for range 12 {
		h := s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
		var decommission, allocate error
		var both sync.WaitGroup
		both.Go(func() { _, decommission = s.Intents.DecommissionHost(t.Context(), s.Actor, h.ID, 0) })
		both.Go(func() { _, _, allocate = s.Allocate(intent.CreateAllocation{HostID: &h.ID}) })
		both.Wait()
		state, free := s.Host(h.ID), s.Host(h.ID).Units["free"]
		switch {
		case decommission == nil && allocate != nil:
			wins["decommission"]++
			if state.State != domain.HostDecommissioning || state.Units["removing"] != 2 || state.LiveAllocations != 0 {
				t.Errorf("%+v", state)
			}
			whyNot(t, allocate)
		case decommission != nil && allocate == nil:
			wins["allocate"]++
			if state.State != domain.HostReady || free != 1 || state.LiveAllocations != 1 {
				t.Errorf("%+v", state)
			}
			if c := (*domain.Conflict)(nil); !errors.As(decommission, &c) {
				t.Errorf("not a conflict: %v", decommission)
			}
		default:
			t.Errorf("decommission %v, allocate %v", decommission, allocate)
		}
	}
	t.Log(wins)
}

// TestDeclaredLostAgainstAllocate: nothing lives on a host that is lost. The
// placement has its unit and has not committed when the host is declared lost.
func TestDeclaredLostAgainstAllocate(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 3)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	unit := s.Units(h.ID)[0]
	lost := make(chan error, 1)
	a := uuid.New()
	err := s.DB.InTx(t.Context(), func(tx *store.Tx) error {
		if _, ok, err := tx.PickUnit(t.Context(), store.Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: 1}); err != nil || !ok {
			return fmt.Errorf("%v: %w", ok, err)
		}
		go func() { lost <- s.Intents.DeclareHostLost(t.Context(), s.Actor, h.ID, 0, h.Name) }()
		site.Eventually(t, "the other one to wait", func() bool { return waiting(s) > 0 })
		address, ok, err := tx.ReserveAddress(t.Context(), domain.DefaultWorkspace, "default", a)
		if err != nil || !ok {
			return fmt.Errorf("%v: %w", ok, err)
		}
		return tx.InsertAllocation(t.Context(), store.Allocation{
			ID: a, WorkspaceID: domain.DefaultWorkspace, UnitID: unit.ID, HostID: h.ID, LoginUser: "ada",
			UID: 200001, Address: address, Network: "default", SSHKeys: []string{}, Labels: map[string]string{}, State: domain.AllocationAllocating, CreatedBy: "ada",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := site.Await(t, "the declaration", lost); err != nil {
		t.Fatal(err)
	}
	if got := s.Host(h.ID); got.State != domain.HostLost || got.LiveAllocations != 0 || len(got.Units) != 0 || s.Allocation(a).State != domain.AllocationLost {
		t.Errorf("%+v, allocation %s", got, s.Allocation(a).State)
	}
}

// TestAVersionIsHeldUntilTheEnd: a change that is under way while another one
// compares versions is seen by that one, whichever of the two began first.
func TestAVersionIsHeldUntilTheEnd(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	s.AddAddresses("default", 1)
	all, err := s.DB.Addresses(t.Context(), store.AddressFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	a := all[0]
	for name, c := range map[string]struct {
		change func(tx *store.Tx) error
		other  func() error
	}{
		"host": {
			func(tx *store.Tx) error { return tx.OfferHostKey(t.Context(), h.ID, "ssh-ed25519 AAAA") },
			func() error { return s.Intents.DrainHost(t.Context(), s.Actor, h.ID, h.Version) },
		},
		"address": {
			func(tx *store.Tx) error {
				if _, err := tx.MoveAddress(t.Context(), a.ID, a.State, domain.Closed); err != nil {
					return err
				}
				_, err := tx.MoveAddress(t.Context(), a.ID, domain.AddressUnavailable, domain.Opened)
				return err
			},
			func() error { return s.Intents.CloseAddress(t.Context(), s.Actor, a.ID, a.Version) },
		},
	} {
		asked := make(chan error, 1)
		s.Tx(func(tx *store.Tx) error {
			if err := c.change(tx); err != nil {
				return err
			}
			go func() { asked <- c.other() }()
			site.Eventually(t, "the other change to wait", func() bool { return waiting(s) == 1 })
			return nil
		})
		err := site.Await(t, "the other change", asked)
		if conflict := (*domain.Conflict)(nil); !errors.As(err, &conflict) || conflict.Code != "version_mismatch" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := s.Host(h.ID); got.State != domain.HostReady {
		t.Errorf("host is %s", got.State)
	}
}

func TestTwoLayoutsAtOnce(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	srv := site.NewSSHServer(t)
	s.Backend()
	host, job, err := s.Intents.RegisterHost(t.Context(), s.Actor, domain.DefaultWorkspace,
		intent.RegisterHost{Name: "h1", Address: "127.0.0.1", Port: srv.Port, AdminUser: "operator1", TrustOnFirstUse: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	errs := make([]error, 8)
	var done sync.WaitGroup
	for i := range errs {
		done.Go(func() {
			_, errs[i] = s.Intents.SetLayout(t.Context(), s.Actor, host, 0, domain.LayoutRequest{Count: 1 + i%3, CPUsEach: 1, Devices: []string{site.Disk}})
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
	if h := s.Host(host); set == 0 || h.Units["preparing"] != len(h.Layout.Units) {
		t.Errorf("%d were set; %v, %d in the layout", set, h.Units, len(h.Layout.Units))
	}
}

func TestUIDsAreNeverUsedAgain(t *testing.T) {
	t.Parallel()
	s := site.NewWith(t, intent.Config{FirstUID: 300000, LastUID: 300002})
	s.AddAddresses("default", 9)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	s.Backend()
	seen := map[int64]bool{}
	for range 3 {
		a, job, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		s.Ended(job, domain.JobSucceeded)
		got := s.Allocation(a)
		if seen[got.UID] || got.UID < 300000 || got.UID > 300002 {
			t.Errorf("UID %d after %v", got.UID, seen)
		}
		seen[got.UID] = true
		back, err := s.Intents.Deallocate(t.Context(), s.Actor, a, 0, got.LoginUser)
		if err != nil {
			t.Fatal(err)
		}
		s.Ended(back, domain.JobSucceeded)
	}
	_, _, err := s.Allocate(intent.CreateAllocation{})
	if c := (*domain.Conflict)(nil); !errors.As(err, &c) || c.Code != "no_uid_left" {
		t.Errorf("the fourth: %v", err)
	}
}

// TestOperationsTellWhatAnAttemptWould.
func TestOperationsTellWhatAnAttemptWould(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h := s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	allowed := func(ops []domain.Operation) (names []string) {
		for _, o := range ops {
			if o.Allowed {
				names = append(names, o.Name)
			} else if o.Prevents == "" {
				t.Errorf("%s is prevented by nothing", o.Name)
			}
		}
		return names
	}
	if diff := cmp.Diff([]string{"probe", "relayout", "initialize", "drain", "decommission", "declare-lost"}, allowed(intent.HostOperations(h))); diff != "" {
		t.Errorf("ready host:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"probe", "remove"}, allowed(intent.HostOperations(store.Host{State: domain.HostRegistered}))); diff != "" {
		t.Errorf("registered host:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"replace-keys", "deallocate"}, allowed(intent.AllocationOperations(store.Allocation{State: domain.AllocationAllocated}))); diff != "" {
		t.Errorf("allocation:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"retry", "give-up"}, allowed(intent.JobOperations(store.Job{State: domain.JobFailed, Kind: domain.KindUnitAllocate}))); diff != "" {
		t.Errorf("job:\n%s", diff)
	}
}

// A unit that a backend of before put has no note of its zone: the first look,
// which goes by it, does not see the unit, and the next one must.
func TestUnitWithoutANoteOfItsZone(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h := s.ReadyHost(site.HostSpec{Zone: "a", Units: []string{"1", "2"}})
	s.AddAddresses("default", 2)
	noted := s.Units(h.ID)[0]
	forget(s, s.Units(h.ID)[1].ID)
	for range 2 {
		if _, _, err := s.Allocate(intent.CreateAllocation{CPUs: 1, Zone: "a"}); err != nil {
			t.Fatal(err)
		}
		if u, err := s.DB.Unit(t.Context(), noted.ID); err != nil || u.State != domain.UnitAllocating {
			t.Errorf("the unit with the note is %s, %v", u.State, err)
		}
	}
	if _, _, err := s.Allocate(intent.CreateAllocation{CPUs: 1, Zone: "b"}); err == nil {
		t.Error("a unit in another zone was given")
	}
}
