package dns

import (
	"net/netip"

	"kloigos/backend/internal/kernel/egress"
)

// AddressRule decides which addresses the name servers of a zone may have. The name of a server, and the NS records of a
// zone, come from a tenant and may lead to services inside our own network. The error is a Refusal.
func AddressRule(allowPrivate bool) func(netip.Addr) error {
	return func(address netip.Addr) error {
		address = address.Unmap().WithZone("")
		switch {
		case egress.Never(address):
			return Refusal(address.String() + " is not the address of a name server.")
		case !allowPrivate && egress.Private(address):
			return Refusal(address.String() + " is in a private range. The zone must allow private name servers.")
		}
		return nil
	}
}
