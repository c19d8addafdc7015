package dns

import "net/netip"

// never are ranges without any name server: a zone cannot allow them. Link-local addresses are among them, since clouds
// serve credentials of the machine there.
var never = prefixes("0.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4", "::/128", "fe80::/10", "ff00::/8")

// private are ranges that only a zone with allow_private may use (IANA special-purpose registries, RFC 6890): loopback,
// private networks, shared address space, benchmarks, documentation, and translations that may lead to any of them.
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

// AddressRule decides which addresses the name servers of a zone may have. The name of a server, and the NS records of a
// zone, come from a tenant and may lead to services inside our own network. The error is a Refusal.
func AddressRule(allowPrivate bool) func(netip.Addr) error {
	return func(address netip.Addr) error {
		address = address.Unmap().WithZone("")
		switch {
		case !address.IsValid() || inAny(never, address):
			return Refusal(address.String() + " is not the address of a name server.")
		case !allowPrivate && inAny(private, address):
			return Refusal(address.String() + " is in a private range. The zone must allow private name servers.")
		}
		return nil
	}
}

func inAny(ranges []netip.Prefix, address netip.Addr) bool {
	for _, each := range ranges {
		if each.Contains(address) {
			return true
		}
	}
	return false
}
