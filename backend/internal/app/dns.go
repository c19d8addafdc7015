package app

import (
	"net/netip"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnshttp"
	"kloigos/backend/internal/area/dns/dnswork"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/work"
)

// dnsArea is DNS zones and their record sets.
func dnsArea(p Parts) Area {
	config := dnswork.Config{DB: p.DB, Keys: p.Keyset, Kinds: p.Kinds}
	if r := p.Config.DNSResolver; r != nil {
		config.Resolver = func() netip.AddrPort { return *r }
	}
	parts := dnshttp.Parts{Engine: p.Engine, Keys: p.Keyset, Kinds: p.Kinds}
	return Area{
		Nouns:    []work.Noun{dns.ZoneJobs, dns.RecordSetJobs},
		Kinds:    []work.Kind{dns.ZoneSync, dns.RecordSetCheck},
		Handlers: handlers(dnswork.ZoneHandlers(config), dnswork.RecordSetHandlers(config)),
		Routes:   routes(dnshttp.Zones(parts), dnshttp.RecordSets(parts), dnshttp.SharedZones(parts)),
		Policies: append(dnswork.NamingPolicies(config), dnswork.ZonePolicy(config), dnswork.RecordSetPolicy(config)),
		InFlight: []reconcile.Deadlines{dns.ZonesInFlight()},
	}
}
