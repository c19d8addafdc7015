package network

import (
	"encoding/binary"
	"net/netip"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// Noun names networks in events and problems.
const Noun = "network"

// Network is one row of networks, and how much of it is used.
type Network struct {
	ID          uuid.UUID `db:"id"`
	WorkspaceID uuid.UUID `db:"workspace_id"`
	Name        string    `db:"name"`
	Description string    `db:"description"`
	CIDR        string    `db:"cidr"` // "" for any address
	Version     int64     `db:"version"`
	CreatedAt   time.Time `db:"created_at"`
	UpdatedAt   time.Time `db:"updated_at"`

	Addresses int64 `db:"addresses"` // in its pool
	Free      int64 `db:"free"`      // of those
	Hosts     int64 `db:"hosts"`     // that carry it
}

// Draft is a network as a person writes it.
type Draft struct {
	Name, Description, CIDR string
}

// goodName is that of domain.CheckPlace, which hosts and addresses name their networks by.
var goodName = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$`)

const (
	maxDescription = 500
	// minBits bounds a range from above: no wider one is meant.
	minBits = 8
)

// SharedID is the id by which a host names a network of another workspace; false for a name, which is of its own workspace.
func SharedID(name string) (uuid.UUID, bool) {
	id, err := uuid.Parse(name)
	return id, err == nil && id.String() == name
}

// check returns the draft with its range in one form, or a fault.Invalid with all mistakes.
func (d Draft) check() (Draft, error) {
	var bad fault.Invalid
	if !goodName.MatchString(d.Name) {
		bad.Add("name", "Use 1 to 63 lower-case letters, digits, dots, hyphens and underscores; begin and end with a letter or digit.")
	}
	if _, shared := SharedID(d.Name); shared {
		bad.Add("name", "Use a name that does not read like an id: hosts name networks of other workspaces by theirs.")
	}
	d.Description = strings.TrimSpace(d.Description)
	if len(d.Description) > maxDescription || strings.ContainsFunc(d.Description, unicode.IsControl) {
		bad.Add("description", "Use at most %d bytes in one line.", maxDescription)
	}
	if d.CIDR != "" {
		p, err := netip.ParsePrefix(d.CIDR)
		switch {
		case err != nil || !p.Addr().Is4() || p.Bits() < minBits:
			bad.Add("cidr", "Use an IPv4 range of at most 2^%d addresses, such as 192.0.2.0/24.", 32-minBits)
		case p != p.Masked():
			bad.Add("cidr", "The range begins at %s. Use %s.", p.Masked().Addr(), p.Masked())
		default:
			d.CIDR = p.String()
		}
	}
	return d, bad.OrNil()
}

// bounds are the first and the last address of a range that can be handed out. Of a range with more than two addresses the
// first names the network, and the last is the broadcast address.
func bounds(p netip.Prefix) (first, last uint32) {
	first = number(p.Masked().Addr())
	last = first | uint32(1<<(32-p.Bits())-1)
	if p.Bits() <= 30 {
		return first + 1, last - 1
	}
	return first, last
}

// Holds tells whether an address may be in the pool of the network.
func (n Network) Holds(a netip.Addr) bool {
	p, err := netip.ParsePrefix(n.CIDR)
	if err != nil { // any
		return n.CIDR == ""
	}
	if !a.Is4() {
		return false
	}
	first, last := bounds(p)
	return first <= number(a) && number(a) <= last
}

// number is an IPv4 address as the sort_key of its row has it.
func number(a netip.Addr) uint32 {
	four := a.As4()
	return binary.BigEndian.Uint32(four[:])
}

func (n Network) draft() Draft { return Draft{Name: n.Name, Description: n.Description, CIDR: n.CIDR} }

// facts are what an event tells of a network.
func (n Network) facts() map[string]any {
	return map[string]any{"name": n.Name, "description": n.Description, "cidr": n.CIDR}
}

// CanDelete tells why a network can't be deleted; nil if it can.
func (n Network) CanDelete() error {
	if n.Addresses > 0 || n.Hosts > 0 {
		return fault.Conflictf("network_in_use", "Hosts that carry the network %s: %d; addresses in its pool: %d. Take them out first.", n.Name, n.Hosts, n.Addresses)
	}
	return nil
}
