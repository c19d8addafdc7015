package app

import (
	"net/netip"

	"kloigos/backend/internal/area/dns"
	"kloigos/backend/internal/area/dns/dnshttp"
	"kloigos/backend/internal/area/dns/dnswork"
	"kloigos/backend/internal/kernel/work"
)

// dnsArea is DNS zones and their record sets.
func dnsArea(p Parts) Area {
	config := dnswork.Config{DB: p.DB, Keys: p.Keyset, Kinds: p.Kinds}
	if r := p.Config.DNSResolver; r != nil {
		config.Resolver = func() netip.AddrPort { return *r }
	}
	return Area{
		Nouns:    []work.Noun{dns.ZoneJobs, dns.RecordSetJobs},
		Kinds:    []work.Kind{dns.ZoneSync, dns.RecordSetCheck},
		Handlers: dnswork.Handlers(config),
		Routes:   dnshttp.Routes(dnshttp.Parts{Engine: p.Engine, Keys: p.Keyset, Kinds: p.Kinds}),
		Policies: dnswork.Policies(config),
	}
}
