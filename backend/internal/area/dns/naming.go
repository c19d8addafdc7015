package dns

import (
	"context"
	"net/netip"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/miekg/dns"

	"kloigos/backend/internal/kernel/db"
)

// Nouns whose objects a zone may name.
const (
	AllocationNoun = "allocation"
	ClusterNoun    = "cluster"
)

// namingTTL is that of the records of named objects, in seconds: an address can go to another tenant soon after its return.
const namingTTL = 300

// NamedNoun is a noun whose objects have names in the zone of their workspace that names them.
type NamedNoun struct {
	Noun string
	// Load returns an object as far as its name goes, keep one that does not change before the transaction ends.
	Load func(ctx context.Context, q db.Reader, id uuid.UUID) (Named, error)
	keep func(ctx context.Context, tx *db.Tx, id uuid.UUID) (Named, error)
	// ToName lists the ids of objects that a zone names, behind one of them, ascending.
	ToName func(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error)

	ofWorkspace, byGrant db.Statement // ids of its objects: all of a workspace, and those that a shared zone names
}

// NamedNouns are all of them.
func NamedNouns() []NamedNoun { return []NamedNoun{allocationNames, clusterNames} }

// Named is an object as far as its name goes.
type Named struct {
	Noun        string
	ID          uuid.UUID
	WorkspaceID uuid.UUID
	Label       string   // its name below a zone
	Addresses   []string // that the name leads to, sorted
	Reverse     bool     // the address is its own, and has a name too
	Has         bool     // it is to have a name now
	Ended       bool     // nothing will become of it any more
}

func (n Named) owner() SetOwner { return OwnedByObject(n.Noun, n.ID) }

// same tells whether the name has to be what it was.
func (n Named) same(o Named) bool {
	return n.ID == o.ID && n.WorkspaceID == o.WorkspaceID && n.Label == o.Label && n.Has == o.Has && slices.Equal(n.Addresses, o.Addresses)
}

// NamingZone is a zone that a workspace may use for names of its objects: one of its own, or one that is granted to it.
type NamingZone struct {
	ID               uuid.UUID `db:"id"`
	WorkspaceID      uuid.UUID `db:"workspace_id"` // that uses it
	Name             Name      `db:"name"`
	Suffix           Name      `db:"suffix"` // names end with it
	NamesAllocations bool      `db:"names_allocations"`
	Ended            bool      `db:"ended"` // its grant is revoked: names that are there stay, and none comes
}

// WantedSet is a record set that an object is to have.
type WantedSet struct {
	Zone  NamingZone
	Draft Draft
}

// Wanted are the record sets that the object is to have. Its name leads to its addresses. Its own address leads back to the name, in the
// nearest reverse zone, if there is one. zones are those that its workspace may use.
func (n Named) Wanted(zones []NamingZone) []WantedSet {
	at := slices.IndexFunc(zones, func(z NamingZone) bool { return z.NamesAllocations })
	if !n.Has || at < 0 {
		return nil
	}
	forward := zones[at]
	name := n.Label + "." + string(forward.Suffix)
	var wanted []WantedSet
	for _, of := range []struct {
		kind   Type
		belong func(netip.Addr) bool
	}{{A, netip.Addr.Is4}, {AAAA, netip.Addr.Is6}} {
		var values []string
		for _, text := range n.Addresses {
			if a, err := netip.ParseAddr(text); err == nil && of.belong(a) {
				values = append(values, text)
			}
		}
		if len(values) > 0 {
			wanted = append(wanted, WantedSet{forward, Draft{Name: name, Type: string(of.kind), TTL: namingTTL, Values: values}})
		}
	}
	if len(wanted) == 1 && n.Reverse {
		wanted = append(wanted, n.back(zones, name)...)
	}
	return wanted
}

// back is the record set that leads from the address of an object to its name.
func (n Named) back(zones []NamingZone, name string) []WantedSet {
	reverse, err := dns.ReverseAddr(n.Addresses[0])
	if err != nil {
		return nil
	}
	var nearest *NamingZone
	for i, zone := range zones {
		if within(reverse, zone.Suffix) && (nearest == nil || len(zone.Name) > len(nearest.Name)) {
			nearest = &zones[i]
		}
	}
	if nearest == nil {
		return nil
	}
	return []WantedSet{{*nearest, Draft{Name: reverse, Type: string(PTR), TTL: namingTTL, Values: []string{name}}}}
}

// within tells whether a name lies below a zone.
func within(name string, zone Name) bool { return strings.HasSuffix(name, "."+string(zone)) }

// reverse tells whether the zone holds names of addresses.
func (z Zone) reverse() bool {
	return strings.HasSuffix("."+string(z.Name), ".in-addr.arpa.") || strings.HasSuffix("."+string(z.Name), ".ip6.arpa.")
}
