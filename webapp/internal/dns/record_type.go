package dns

import (
	"kloigos/backend/api"
	"kloigos/webapp/internal/states"
)

// kind says how the values of a type are written.
type kind struct{ Values, Example, Means string }

var kinds = map[string]kind{
	"A":     {"IPv4 addresses", "192.0.2.1", "Where the name is, in IPv4."},
	"AAAA":  {"IPv6 addresses", "2001:db8::1", "Where the name is, in IPv6."},
	"CAA":   {"Flags, tag and text", "0 issue \"letsencrypt.org\"", "Which authorities may issue certificates."},
	"CNAME": {"Another name", "www.example.net", "The name is an alias. No other record may stand beside it, and it can't be at the apex."},
	"MX":    {"Preference and mail server", "10 mail.example.org", "Which servers take mail; the lowest preference first."},
	"NS":    {"Name servers", "ns1.example.net", "Which servers have the names below; not at the apex."},
	"PTR":   {"Names", "host.example.org", "Which name an address has."},
	"SRV":   {"Priority, weight, port and server", "10 5 5060 sip.example.org", "Where a service is. Its name looks like _sip._tcp."},
	"TXT":   {"Texts", "v=spf1 -all", "Free text, one in each line. In quotes, \\\" and \\065 are escapes."},
}

func types() []string { return states.Enum(api.CreateDNSRecordSet{}, "Type") }
