package domain

import (
	"fmt"
	"net/netip"
	"strings"
)

// AddressState is where a floating IP is in its life.
type AddressState string

// The states of an address.
const (
	AddressFree        AddressState = "free"
	AddressReserved    AddressState = "reserved"
	AddressAllocated   AddressState = "allocated"
	AddressReleasing   AddressState = "releasing"
	AddressQuarantined AddressState = "quarantined"
	AddressUnavailable AddressState = "unavailable"
)

// Released takes an address out of quarantine.
const Released Event = "released"

// AddressLifecycle is the life of a floating IP.
var AddressLifecycle = Lifecycle[AddressState]{
	Noun: "address", Initial: AddressFree,
	States: []StateInfo[AddressState]{
		{State: AddressFree, Means: "available for an allocation"},
		{State: AddressReserved, Means: "reserved for an allocation whose setup is running or failed"},
		{State: AddressAllocated, Means: "in use by an allocation"},
		{State: AddressReleasing, Means: "Kloigos is removing it from its host, or the removal failed"},
		{State: AddressQuarantined, Means: "its host was declared lost and may still use it; release it when the host is off for good"},
		{State: AddressUnavailable, Means: "closed by an operator, or because it is the address of a host"},
	},
	Transitions: []Transition[AddressState]{
		{AddressFree, AllocateRequested, AddressReserved},
		{AddressReserved, AllocateRequested, AddressReserved},
		{AddressReserved, AllocateSucceeded, AddressAllocated},
		{AddressReserved, AllocateFailed, AddressReserved},
		{AddressReserved, AllocateWithdrawn, AddressFree},

		{AddressAllocated, DeallocateRequested, AddressReleasing},
		{AddressReserved, DeallocateRequested, AddressReleasing},
		{AddressReleasing, DeallocateRequested, AddressReleasing},
		{AddressReleasing, DeallocateSucceeded, AddressFree},
		{AddressReleasing, DeallocateFailed, AddressReleasing},
		{AddressReleasing, DeallocateWithdrawn, AddressAllocated},

		{AddressReserved, DeclaredLost, AddressQuarantined},
		{AddressAllocated, DeclaredLost, AddressQuarantined},
		{AddressReleasing, DeclaredLost, AddressQuarantined},
		{AddressQuarantined, Released, AddressFree},

		{AddressFree, Closed, AddressUnavailable},
		{AddressUnavailable, Opened, AddressFree},
	},
}

// MaxAddressRange is how many addresses one request may add.
const MaxAddressRange = 4096

// ExpandAddresses reads "10.0.0.5" or "10.0.0.5-10.0.0.20" into single IPv4
// addresses that can be given to a unit.
func ExpandAddresses(s string) ([]netip.Addr, error) {
	lo, hi, isRange := strings.Cut(s, "-")
	first, err := unitAddress(lo)
	if err != nil {
		return nil, err
	}
	if !isRange {
		return []netip.Addr{first}, nil
	}
	last, err := unitAddress(hi)
	if err != nil {
		return nil, err
	}
	if last.Less(first) {
		return nil, fmt.Errorf("the range %s ends before it begins", s)
	}
	var all []netip.Addr
	for a := first; !last.Less(a); a = a.Next() {
		if len(all) == MaxAddressRange {
			return nil, fmt.Errorf("range %s holds more than %d addresses", s, MaxAddressRange)
		}
		all = append(all, a)
	}
	return all, nil
}

func unitAddress(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	if err != nil || !a.Is4() {
		return netip.Addr{}, fmt.Errorf("%q is not an IPv4 address", s)
	}
	if a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified() || a.As4()[0] == 0 || a.As4()[0] >= 240 {
		return netip.Addr{}, fmt.Errorf("%s can't be the address of a unit", s)
	}
	return a, nil
}
