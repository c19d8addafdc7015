package network

import (
	"net/netip"
	"testing"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cidr, address string
		want          bool
	}{
		{"", "203.0.113.9", true},
		{"192.0.2.0/24", "192.0.2.1", true},
		{"192.0.2.0/24", "192.0.2.254", true},
		{"192.0.2.0/24", "192.0.2.0", false},   // names the network
		{"192.0.2.0/24", "192.0.2.255", false}, // broadcast
		{"192.0.2.0/24", "192.0.3.1", false},
		{"192.0.2.0/24", "191.255.255.255", false},
		{"192.0.2.8/31", "192.0.2.8", true},
		{"192.0.2.8/31", "192.0.2.9", true},
		{"192.0.2.8/31", "192.0.2.10", false},
		{"192.0.2.8/32", "192.0.2.8", true},
		{"255.0.0.0/8", "255.255.255.254", true},
		{"192.0.2.0/24", "::ffff:192.0.2.1", false},
		{"nonsense", "192.0.2.1", false},
	} {
		if got := (Network{CIDR: test.cidr}).Holds(netip.MustParseAddr(test.address)); got != test.want {
			t.Errorf("%q holds %s: %v", test.cidr, test.address, got)
		}
	}
}

func TestDraft(t *testing.T) {
	t.Parallel()
	for cidr, good := range map[string]bool{
		"": true, "10.0.0.0/8": true, "192.0.2.8/32": true, "10.0.0.0/7": false, "192.0.2.1/24": false, "2001:db8::/64": false, "192.0.2.0": false,
		"::ffff:192.0.2.0/120": false, "192.0.2.0/33": false,
	} {
		if _, err := (Draft{Name: "lab", CIDR: cidr}).check(); (err == nil) != good {
			t.Errorf("%q: %v", cidr, err)
		}
	}
	for name, good := range map[string]bool{"lab": true, "0": true, "": false, "-a": false, "a-": false, "A": false, "a b": false, "a\nb": false} {
		if _, err := (Draft{Name: name}).check(); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := (Draft{Name: "a", Description: "two\nlines"}).check(); err == nil {
		t.Error("a description of two lines passes")
	}
}
