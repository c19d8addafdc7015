// Package egress owns which addresses a server may connect to on behalf of a user who names the target. Names resolve to
// what their owner likes, so an address is judged when the connection is made. It knows no noun.
//
// Sources: the IANA special-purpose address registries (RFC 6890), and the documentation of clouds for their metadata services.
package egress

import (
	"net"
	"net/netip"
	"syscall"
)

// never are ranges without any service of a user: nothing allows them. Link-local addresses are among them, since clouds
// serve the credentials of a machine there, and so are the other addresses of such services.
var never = prefixes(
	"0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8",
	"100.100.100.200/32", "168.63.129.16/32", "192.0.0.192/32", "fd00:ec2::/112", "fd20:ce::254/128", "fd00:c1::a9fe:a9fe/128", "fd00:42::42/128",
)

// private are ranges that lead into a network of somebody: loopback, private networks, shared address space, benchmarks,
// documentation, and translations that may lead to any of them.
var private = prefixes(
	"10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
	"::1/128", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fc00::/7", "fec0::/10",
)

func prefixes(texts ...string) []netip.Prefix {
	made := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		made[i] = netip.MustParsePrefix(text)
	}
	return made
}

// Never reports whether no user's service has the address.
func Never(a netip.Addr) bool { return !a.IsValid() || inAny(never, plain(a)) }

// Private reports whether the address lies in a range that is not public.
func Private(a netip.Addr) bool { return inAny(private, plain(a)) }

func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

func inAny(ranges []netip.Prefix, a netip.Addr) bool {
	for _, each := range ranges {
		if each.Contains(a) {
			return true
		}
	}
	return false
}

// Refused says in a sentence why an address is not connected to.
type Refused string

func (r Refused) Error() string { return string(r) }

// Rule is what an installation allows. The zero value allows public addresses only.
type Rule struct {
	Allowed []netip.Prefix // private ranges that may be used
	Denied  []netip.Prefix // the control plane's own networks; they go before Allowed
}

// Check tells why an address may not be connected to; nil if it may. The error is a Refused.
func (r Rule) Check(a netip.Addr) error {
	switch a = plain(a); {
	case Never(a):
		return Refused("No service can have the address " + a.String() + ".")
	case inAny(r.Denied, a):
		return Refused(a.String() + " is in a network of the control plane.")
	case Private(a) && !inAny(r.Allowed, a):
		return Refused(a.String() + " is in a private range that this installation does not allow.")
	}
	return nil
}

// Control is for a net.Dialer: it looks at the address that a connection goes to, after all names are resolved.
func (r Rule) Control(_, address string, _ syscall.RawConn) error {
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return Refused(address + " is not an address.")
	}
	return r.Check(target.Addr())
}

// Dialer connects only to what the rule allows.
func (r Rule) Dialer() *net.Dialer { return &net.Dialer{Control: r.Control} }
