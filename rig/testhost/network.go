package testhost

import (
	"fmt"
	"net/netip"
	"strings"
)

// guestGateway is this machine, as the guest sees it: QEMU's default.
const guestGateway = "10.0.2.2"

func (o Options) validateSwitch() error {
	switch {
	case o.Through != 0 && o.Switch == "":
		return fmt.Errorf("the port %d of another machine, but no switch that leads to it", o.Through)
	case o.Through != 0 && (len(o.Addresses) > 0 || len(o.Ports) > 0):
		return fmt.Errorf("ports are forwarded by the machine that has the way out")
	}
	return nil
}

// network are the arguments that give the guest's card, whose peer is called net, its network. At a switch, the first machine brings the
// way out, the user network, on a port of its own. The others have their card alone.
func (o Options) network(ports map[string]int) []string {
	user := func(id string) string { return "user,id=" + id + forwards(ports) + o.ports() }
	if o.Switch == "" {
		return []string{"-netdev", user("net")}
	}
	cable := func(id string) string {
		return "stream,id=" + id + ",server=off,addr.type=unix,addr.path=" + escape(o.Switch)
	}
	card := []string{"-netdev", cable("net")}
	if o.Through != 0 {
		return card
	}
	return append(card, "-netdev", user("out"), "-netdev", cable("up"),
		"-netdev", "hubport,id=hub-out,hubid=0,netdev=out", "-netdev", "hubport,id=hub-up,hubid=0,netdev=up")
}

// hardwareAddress tells machines of one network apart. QEMU gives all of them the same one.
func (o Options) hardwareAddress() string {
	if o.Address == GuestAddress {
		return ""
	}
	b := netip.MustParseAddr(o.Address).As4()
	return fmt.Sprintf(",mac=52:54:%02x:%02x:%02x:%02x", b[0], b[1], b[2], b[3])
}

// interfaces is the guest's /etc/network/interfaces.
func interfaces(address string) string {
	return strings.Join([]string{
		"auto lo", "iface lo inet loopback", "", "auto ens3", "iface ens3 inet static",
		"    address " + address + "/24", "    gateway " + guestGateway, "",
	}, "\n")
}
