package dns

import (
	"net/netip"
	"testing"
)

func TestAddressRule(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]struct{ public, private bool }{
		"9.9.9.9":                {true, true},
		"2620:fe::fe":            {true, true},
		"::ffff:9.9.9.9":         {true, true},
		"10.1.2.3":               {false, true},
		"172.31.255.255":         {false, true},
		"172.32.0.1":             {true, true},
		"192.168.1.1":            {false, true},
		"100.64.0.1":             {false, true},
		"127.0.0.1":              {false, true},
		"127.9.9.9":              {false, true},
		"::1":                    {false, true},
		"::ffff:127.0.0.1":       {false, true},
		"::ffff:10.0.0.1":        {false, true},
		"64:ff9b::a00:1":         {false, true}, // 10.0.0.1 behind NAT64
		"2002:a00:1::1":          {false, true}, // 10.0.0.1 by 6to4
		"fd00::53":               {false, true},
		"0.0.0.0":                {false, false}, // Linux connects to itself
		"::":                     {false, false},
		"169.254.169.254":        {false, false},
		"::ffff:169.254.169.254": {false, false},
		"fe80::1":                {false, false},
		"224.0.0.251":            {false, false},
		"255.255.255.255":        {false, false},
		"ff02::fb":               {false, false},
	} {
		parsed := netip.MustParseAddr(address)
		if err := AddressRule(false)(parsed); (err == nil) != want.public {
			t.Errorf("%s without private servers: %v, want allowed %v", address, err, want.public)
		}
		if err := AddressRule(true)(parsed); (err == nil) != want.private {
			t.Errorf("%s with private servers: %v, want allowed %v", address, err, want.private)
		}
	}
	if err := AddressRule(true)(netip.Addr{}); err == nil {
		t.Error("the zero address is allowed")
	}
}
