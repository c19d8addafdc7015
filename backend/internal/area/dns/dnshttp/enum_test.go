package dnshttp

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"kloigos/backend/api"
	"kloigos/backend/internal/area/dns"
)

// The closed sets of the wire types are those of the rules.
func TestEnums(t *testing.T) {
	t.Parallel()
	var types, modes []string
	for _, kind := range dns.Types() {
		types = append(types, string(kind))
	}
	for _, mode := range dns.Modes() {
		modes = append(modes, string(mode))
	}
	zones, sets := dns.ZoneLifecycle.Names(), dns.SetLifecycle.Names()
	for _, test := range []struct {
		of    any
		field string
		want  []string
	}{
		{api.DNSZone{}, "State", zones},
		{api.DNSZoneFilter{}, "State", zones},
		{api.DNSRecordSet{}, "State", sets},
		{api.DNSRecordSetFilter{}, "State", sets},
		{api.DNSZone{}, "Mode", modes},
		{api.CreateDNSZone{}, "Mode", modes},
		{api.ChangeDNSZone{}, "Mode", modes},
		{api.DNSZoneFilter{}, "Mode", modes},
		{api.DNSZone{}, "KeyAlgorithm", dns.KeyAlgorithms()},
		{api.CreateDNSZone{}, "KeyAlgorithm", dns.KeyAlgorithms()},
		{api.ChangeDNSZone{}, "KeyAlgorithm", dns.KeyAlgorithms()},
		{api.DNSZone{}, "Provider", []string{dns.RFC2136}},
		{api.CreateDNSRecordSet{}, "Type", types},
		{api.DNSRecordSetFilter{}, "Type", types},
		{api.AdoptDNSRecord{}, "From", []string{string(dns.AdoptUnowned), string(dns.AdoptForeign)}},
	} {
		field, ok := reflect.TypeOf(test.of).FieldByName(test.field)
		if got := strings.Split(field.Tag.Get("enum"), ","); !ok || !slices.Equal(got, test.want) {
			t.Errorf("%T.%s may be %q, want %q", test.of, test.field, got, test.want)
		}
	}
}
