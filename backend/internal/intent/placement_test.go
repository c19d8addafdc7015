package intent_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
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
			func() error { return s.Intents.DrainHost(t.Context(), s.Call, h.ID, h.Version) },
		},
		"address": {
			func(tx *store.Tx) error {
				if _, err := tx.MoveAddress(t.Context(), a.ID, a.State, domain.Closed); err != nil {
					return err
				}
				_, err := tx.MoveAddress(t.Context(), a.ID, domain.AddressUnavailable, domain.Opened)
				return err
			},
			func() error { return s.Intents.CloseAddress(t.Context(), s.Call, a.ID, a.Version) },
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

// TestUIDsAreUsedAgainLast: each is given once before any is given twice, then the one that was wiped longest ago. One
// whose tenant left something is not given again.
func TestUIDsAreUsedAgainLast(t *testing.T) {
	t.Parallel()
	s := site.NewWith(t, intent.Config{FirstUID: 300000, LastUID: 300002})
	s.AddAddresses("default", 9)
	s.ReadyHost(site.HostSpec{Units: []string{"1", "2"}})
	s.Backend()
	var given []int64
	for range 5 {
		a, job, err := s.Allocate(intent.CreateAllocation{})
		if err != nil {
			t.Fatal(err)
		}
		s.Ended(job, domain.JobSucceeded)
		got := s.Allocation(a)
		if got.UID < 300000 || got.UID > 300002 {
			t.Errorf("UID %d after %v", got.UID, given)
		}
		given = append(given, got.UID)
		back, err := s.Intents.Deallocate(t.Context(), s.Call, a, 0, got.LoginUser)
		if err != nil {
			t.Fatal(err)
		}
		s.Ended(back, domain.JobSucceeded)
	}
	if given[0] == given[1] || given[1] == given[2] || given[0] == given[2] || given[3] != given[0] || given[4] != given[1] {
		t.Errorf("given in turn: %v", given)
	}
	// The third one's tenant left something, the others are in use.
	s.Tx(func(tx *store.Tx) error {
		for range 2 {
			if uid, ok, err := tx.ReuseUID(t.Context(), given[2], given[2], uuid.New()); err != nil || uid != given[2] && ok {
				return fmt.Errorf("took %d: %w", uid, err)
			}
		}
		return nil
	})
	for range 2 {
		if _, _, err := s.Allocate(intent.CreateAllocation{}); err != nil {
			t.Fatal(err)
		}
	}
	s.ReadyHost(site.HostSpec{Units: []string{"1"}})
	_, _, err := s.Allocate(intent.CreateAllocation{})
	if c := (*domain.Conflict)(nil); !errors.As(err, &c) || c.Code != "no_uid_left" {
		t.Errorf("the last: %v", err)
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
	if diff := cmp.Diff([]string{"update", "probe", "probe-together", "relayout", "initialize", "refence", "drain", "decommission", "declare-lost"}, allowed(intent.HostOperations(h))); diff != "" {
		t.Errorf("ready host:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"update", "probe", "remove"}, allowed(intent.HostOperations(store.Host{State: domain.HostRegistered}))); diff != "" {
		t.Errorf("registered host:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"replace-keys", "deallocate"}, allowed(s.Intents.AllocationOperations(store.Allocation{State: domain.AllocationAllocated}))); diff != "" {
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

// TestNetworksOfUnits: where units get networks of their own, they go to hosts that can give them one. What
// was allocated before stays as it is.
func TestNetworksOfUnits(t *testing.T) {
	t.Parallel()
	s := site.NewWith(t, intent.Config{UnitNetwork: domain.NetworkOfUnit})
	s.AddAddresses("default", 9)
	for name, able := range map[string]string{"h1": "", "h2": "missing: the kernel module veth"} {
		setUnitNetworks(s, s.ReadyHost(site.HostSpec{Name: name, Units: []string{"1-3"}}), name, able)
	}
	_, _, err := s.Allocate(intent.CreateAllocation{})
	if none := (*intent.NoCapacity)(nil); !errors.As(err, &none) || none.Why.RuledOut[len(none.Why.RuledOut)-1].Filter != "unit_networks" || none.Why.Nearest == "" {
		t.Fatalf("hosts that can't: %v", err)
	}
	h := s.ReadyHost(site.HostSpec{Name: "h3", Units: []string{"1", "2"}})
	setUnitNetworks(s, h, "h3", domain.Possible)
	s.Backend()
	a, job, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	if got := s.Allocation(a); got.HostID != h.ID || got.UnitNetwork != domain.NetworkOfUnit {
		t.Errorf("%+v", got)
	}
	calls := s.Runner.Calls()
	if last := string(calls[len(calls)-1].Vars); !strings.Contains(last, `"unit_allocate_network":"unit"`) {
		t.Error(last)
	}
	before := intent.New(s.DB, intent.Config{}) // a backend with the other setting
	_, key := site.NewKey(t)
	if job, err = before.ReplaceKeys(t.Context(), s.Call, a, 0, []string{key}); err != nil {
		t.Fatal(err)
	}
	s.Ended(job, domain.JobSucceeded)
	calls = s.Runner.Calls()
	if last := string(calls[len(calls)-1].Vars); !strings.Contains(last, `"unit_allocate_network":"unit"`) {
		t.Error(last)
	}
}

// TestNetworksOfUnitsWherePossible: with the default setting a unit gets a network of its own on a host that can give one, and any
// other host still takes allocations.
func TestNetworksOfUnitsWherePossible(t *testing.T) {
	t.Parallel()
	s := site.NewWith(t, intent.Config{UnitNetwork: domain.NetworkAuto})
	s.AddAddresses("default", 9)
	s.Backend()
	for name, c := range map[string]struct {
		able string
		kind domain.UnitNetwork
	}{
		"h1": {"missing: the packet filter of this release (initialize the host again)", domain.NetworkOfHost}, "h2": {domain.Possible, domain.NetworkOfUnit},
	} {
		h := s.ReadyHost(site.HostSpec{Name: name, Units: []string{"1-3"}})
		setUnitNetworks(s, h, name, c.able)
		a, job, err := s.Allocate(intent.CreateAllocation{HostID: &h.ID})
		if err != nil {
			t.Fatal(err)
		}
		s.Ended(job, domain.JobSucceeded)
		if got := s.Allocation(a); got.UnitNetwork != c.kind || s.Intents.RestartNeeded(got) {
			t.Errorf("%s: %+v", name, got)
		}
		setUnitNetworks(s, h, name, domain.Possible)
		if got := s.Allocation(a); s.Intents.RestartNeeded(got) != (c.kind == domain.NetworkOfHost) {
			t.Errorf("%s: a restart is needed: %t", name, s.Intents.RestartNeeded(got))
		}
	}
}

func setUnitNetworks(s *site.Site, h store.Host, name, able string) {
	f := site.Facts(name)
	f.Capabilities.UnitNetworks = able
	s.Tx(func(tx *store.Tx) error { return tx.SetHostFacts(s.T.Context(), h.ID, f) })
}
