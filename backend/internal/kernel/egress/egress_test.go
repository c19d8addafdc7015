package egress_test

import (
	"errors"
	"net"
	"net/netip"
	"testing"

	"kloigos/backend/internal/kernel/egress"
)

func TestRule(t *testing.T) {
	t.Parallel()
	rule := egress.Rule{
		Allowed: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16")},
		Denied:  []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("2620:fe::/48")},
	}
	for address, allowed := range map[string]bool{
		"9.9.9.9": true, "2a00:1450:4001::1": true, "10.2.0.1": true, "::ffff:10.2.0.1": true,
		"10.1.0.1": false, "::ffff:10.1.0.1": false, "2620:fe::fe": false, "127.0.0.1": false, "::1": false, "192.168.1.1": false, "fc00::1": false,
		"169.254.169.254": false, "168.63.129.16": false, "fd00:ec2::254": false, "fe80::1%eth0": false, "0.0.0.0": false, "224.0.0.1": false, "64:ff9b::a02:1": false,
	} {
		if err := rule.Check(netip.MustParseAddr(address)); (err == nil) != allowed {
			t.Errorf("%s: %v", address, err)
		}
	}
	if rule.Check(netip.Addr{}) == nil {
		t.Error("no address is allowed")
	}
}

// A name that leads to loopback is refused when it is connected to.
func TestDialerJudgesTheAddress(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	_, port, _ := net.SplitHostPort(server.Addr().String())
	_, err = egress.Rule{}.Dialer().DialContext(t.Context(), "tcp", net.JoinHostPort("localhost", port))
	var refused egress.Refused
	if !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
	conn, err := egress.Rule{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}.Dialer().DialContext(t.Context(), "tcp4", net.JoinHostPort("localhost", port))
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}
