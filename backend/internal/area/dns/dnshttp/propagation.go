package dnshttp

import (
	"kloigos/backend/api"
	"kloigos/backend/internal/area/dns"
)

// presentCheck is what servers told of a record set; nil if none was asked since it changed.
func presentCheck(m dns.ManagedSet) *api.DNSCheck {
	if m.Checked == nil || m.CheckedAt == nil {
		return nil
	}
	out := &api.DNSCheck{At: *m.CheckedAt, Everywhere: m.Checked.Everywhere, Servers: []api.DNSAnswer{}, Notes: m.Checked.Notes}
	for _, told := range m.Checked.Servers {
		out.Servers = append(out.Servers, presentAnswer(told))
	}
	if m.Checked.Resolver != nil {
		answer := presentAnswer(*m.Checked.Resolver)
		out.Resolver = &answer
	}
	return out
}

func presentAnswer(t dns.Told) api.DNSAnswer {
	return api.DNSAnswer{Server: t.Server, Address: t.Address, Status: t.Status, Values: t.Values, TTL: t.TTL, Message: t.Text}
}
