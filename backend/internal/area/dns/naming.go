package dns

import (
	"strings"

	"github.com/google/uuid"
	"github.com/miekg/dns"
)

// AllocationNoun is the noun whose objects a zone may name.
const AllocationNoun = "allocation"

// namingTTL is that of the records of allocations, in seconds: an address can go to another tenant soon after its return.
const namingTTL = 300

// Named is an allocation as far as its name goes.
type Named struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	Unit        string    `db:"unit"`
	Address     string    `db:"address"`
	State       string    `db:"state"`
}

// Has tells whether the allocation is to have a name: from the request until it is given back.
func (n Named) Has() bool {
	switch n.State {
	case "allocating", "allocated", "allocation_failed":
		return true
	}
	return false
}

// Ended tells whether nothing will become of the allocation any more.
func (n Named) Ended() bool { return n.State == "deallocated" || n.State == "lost" }

// NamingZone is a zone that a workspace may use for names of its allocations: one of its own, or one that is granted to it.
type NamingZone struct {
	ID               uuid.UUID `db:"id"`
	WorkspaceID      uuid.UUID `db:"workspace_id"` // that uses it
	Name             Name      `db:"name"`
	Suffix           Name      `db:"suffix"` // names end with it
	NamesAllocations bool      `db:"names_allocations"`
	Ended            bool      `db:"ended"` // its grant is revoked: names that are there stay, and none comes
}

// WantedSet is a record set that an allocation is to have.
type WantedSet struct {
	Zone  NamingZone
	Draft Draft
}

// Wanted are the record sets that the allocation is to have in zones that its workspace may use: its address under the name of
// its unit, and that name in the reverse zone that is nearest to the address, if there is one.
func (n Named) Wanted(zones []NamingZone) []WantedSet {
	if !n.Has() {
		return nil
	}
	reverse, err := dns.ReverseAddr(n.Address)
	if err != nil {
		return nil
	}
	var forward, backward *NamingZone
	for i, zone := range zones {
		if zone.NamesAllocations {
			forward = &zones[i]
		}
		if within(reverse, zone.Suffix) && (backward == nil || len(zone.Name) > len(backward.Name)) {
			backward = &zones[i]
		}
	}
	if forward == nil {
		return nil
	}
	name := n.Unit + "." + string(forward.Suffix)
	kind := A
	if strings.Contains(n.Address, ":") {
		kind = AAAA
	}
	wanted := []WantedSet{{*forward, Draft{Name: name, Type: string(kind), TTL: namingTTL, Values: []string{n.Address}}}}
	if backward != nil {
		wanted = append(wanted, WantedSet{*backward, Draft{Name: reverse, Type: string(PTR), TTL: namingTTL, Values: []string{name}}})
	}
	return wanted
}

// within tells whether a name lies below a zone.
func within(name string, zone Name) bool { return strings.HasSuffix(name, "."+string(zone)) }

// reverse tells whether the zone holds names of addresses.
func (z Zone) reverse() bool {
	return strings.HasSuffix("."+string(z.Name), ".in-addr.arpa.") || strings.HasSuffix("."+string(z.Name), ".ip6.arpa.")
}
