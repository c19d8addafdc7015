package intent_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

func addresses(s *site.Site) []store.Address {
	s.T.Helper()
	all, err := s.DB.Addresses(s.T.Context(), store.AddressFilter{WorkspaceID: domain.DefaultWorkspace, Limit: 5000})
	if err != nil {
		s.T.Fatal(err)
	}
	return all
}

// TestAddressesAreAddedAllOrNone, and listed as numbers, not as text.
func TestAddressesAreAddedAllOrNone(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	add := func(ranges ...intent.AddressRange) error {
		_, err := s.Intents.AddAddresses(t.Context(), s.Call, "default", ranges)
		return err
	}
	if err := add(intent.AddressRange{Range: "10.0.0.9", Endpoint: "gate.example:4022"}, intent.AddressRange{Range: "10.0.0.10-10.0.0.12"}); err != nil {
		t.Fatal(err)
	}
	conflict := (*domain.Conflict)(nil)
	if err := add(intent.AddressRange{Range: "10.0.1.1"}, intent.AddressRange{Range: "10.0.0.7-10.0.0.10"}); !errors.As(err, &conflict) || !strings.Contains(conflict.Detail, "2 of them") || !strings.Contains(conflict.Detail, "10.0.0.9") {
		t.Errorf("overlaps what is there: %v", err)
	}
	if err := add(intent.AddressRange{Range: "10.0.2.1-10.0.2.2"}, intent.AddressRange{Range: "10.0.2.2"}); !errors.As(err, &conflict) {
		t.Errorf("overlaps itself: %v", err)
	}
	var text []string
	for _, a := range addresses(s) {
		text = append(text, a.Address)
	}
	if got := strings.Join(text, " "); got != "10.0.0.9 10.0.0.10 10.0.0.11 10.0.0.12" {
		t.Errorf("got %s", got)
	}
	if err := add(intent.AddressRange{Range: "10.1.0.0-10.1.15.255"}); err != nil {
		t.Error(err)
	}
	if n := len(addresses(s)); n != 4+4096 {
		t.Errorf("%d addresses", n)
	}
}

// TestAnAddressFromAddToRemove: each action in the states that take it, and
// refused in all others.
func TestAnAddressFromAddToRemove(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	s.AddAddresses("default", 1)
	a := addresses(s)[0]
	ctx := t.Context()
	actions := map[string]func(uuid.UUID) error{
		"close":   func(id uuid.UUID) error { return s.Intents.CloseAddress(ctx, s.Call, id, 0) },
		"open":    func(id uuid.UUID) error { return s.Intents.OpenAddress(ctx, s.Call, id, 0) },
		"release": func(id uuid.UUID) error { return s.Intents.ReleaseAddress(ctx, s.Call, id, 0) },
	}
	refused := func(names ...string) {
		t.Helper()
		for _, name := range names {
			if c := (*domain.Conflict)(nil); !errors.As(actions[name](a.ID), &c) {
				t.Errorf("%s of an address that is %s", name, addresses(s)[0].State)
			}
		}
	}
	refused("open", "release")
	if err := actions["close"](a.ID); err != nil {
		t.Fatal(err)
	}
	refused("close", "release")
	s.ReadyHost(site.HostSpec{})
	if _, _, err := s.Allocate(intent.CreateAllocation{}); err == nil {
		t.Error("a closed address was handed out")
	}
	if err := actions["open"](a.ID); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Allocate(intent.CreateAllocation{}); err != nil {
		t.Fatal(err)
	}
	refused("close", "open", "release")
	if err := s.Intents.RemoveAddress(ctx, s.Call, a.ID, 0); err == nil {
		t.Error("an address in use was removed")
	}
	s.AddAddresses("other", 1)
	for _, other := range addresses(s) {
		if other.Network == "other" {
			if err := s.Intents.RemoveAddress(ctx, s.Call, other.ID, 0); err != nil {
				t.Error(err)
			}
			if err := s.Intents.RemoveAddress(ctx, s.Call, other.ID, 0); !errors.Is(err, domain.ErrNotFound) {
				t.Errorf("removed twice: %v", err)
			}
		}
	}
}

// TestAddressesOfHostsStayOutOfPools: those under which hosts are reached, and those that a probe found.
func TestAddressesOfHostsStayOutOfPools(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	add := func(text string) error {
		_, err := s.Intents.AddAddresses(t.Context(), s.Call, "default", []intent.AddressRange{{Range: "10.0.0.1"}, {Range: text}})
		return err
	}
	invalid := (*domain.Invalid)(nil)
	h := s.ReadyHost(site.HostSpec{Name: "h1"}) // 10.0.2.15, by its facts
	if err := add("10.0.2.1-10.0.2.40"); !errors.As(err, &invalid) || invalid.Fields[0] != (domain.FieldError{Field: "addresses[1].range", Problem: "10.0.2.15 is the address of host h1"}) {
		t.Errorf("the uplink's address: %v", err)
	}
	if n := len(addresses(s)); n != 0 {
		t.Errorf("%d were added", n)
	}
	if err := add("10.0.2.40-10.0.2.41"); err != nil {
		t.Fatal(err)
	}
	// The probe of a host finds one that is in the pool by now.
	facts := site.Facts("h1")
	facts.Addresses = []string{"10.0.2.15", "10.0.2.41", "172.17.0.1"}
	s.Tx(func(tx *store.Tx) error { return tx.SetHostFacts(t.Context(), h.ID, facts) })
	if err := add("172.17.0.1"); !errors.As(err, &invalid) {
		t.Errorf("the address of another interface: %v", err)
	}
	var closed store.Address
	for _, a := range addresses(s) {
		if (a.State == domain.AddressUnavailable) != (a.Address == "10.0.2.41") {
			t.Errorf("%s is %s", a.Address, a.State)
		} else if a.State == domain.AddressUnavailable {
			closed = a
		}
	}
	conflict := (*domain.Conflict)(nil)
	if err := s.Intents.OpenAddress(t.Context(), s.Call, closed.ID, closed.Version); !errors.As(err, &conflict) || conflict.Code != "address_of_host" {
		t.Errorf("opened: %v", err)
	}
	// A host that has it no more, or is no more, keeps nothing.
	facts.Addresses = nil
	s.Tx(func(tx *store.Tx) error { return tx.SetHostFacts(t.Context(), h.ID, facts) })
	if err := s.Intents.OpenAddress(t.Context(), s.Call, closed.ID, closed.Version); err != nil {
		t.Error(err)
	}
}

// TestAddressesOfHostsAreNotHandedOut, also where one is free in a pool, as an older release left it.
func TestAddressesOfHostsAreNotHandedOut(t *testing.T) {
	t.Parallel()
	s := site.New(t)
	h := s.ReadyHost(site.HostSpec{Name: "h1", Units: []string{"1", "2", "3"}})
	s.AddAddresses("default", 2)
	all := addresses(s)
	s.Tx(func(tx *store.Tx) error { return tx.NoteHostAddress(t.Context(), h.ID, all[0].Address) })
	a, _, err := s.Allocate(intent.CreateAllocation{})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Allocation(a); got.Address != all[1].Address {
		t.Errorf("handed out %s", got.Address)
	}
	// Nor after a change of something else of the host.
	if _, err := s.Intents.UpdateHost(t.Context(), s.Call, h.ID, 0, intent.UpdateHost{Labels: &map[string]string{"rack": "r9"}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Allocate(intent.CreateAllocation{}); err == nil {
		t.Error("the host's own was handed out")
	}
	s.Tx(func(tx *store.Tx) error {
		ok, err := tx.ReserveThisAddress(t.Context(), domain.DefaultWorkspace, "default", all[0].Address, uuid.New())
		if ok {
			t.Error("a plan took the host's own")
		}
		return err
	})
}
