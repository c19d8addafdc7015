package reader

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
)

// network is what the kernel says of addresses and routes, over netlink. It asks and sets nothing.
type network struct {
	addresses map[string][]string // IPv4 address: its interfaces
	rules     map[uint32]bool     // UIDs with a rule that leads to the table of the same number
	routes    map[uint32]string   // the default route of each table above 255
}

// Of <linux/fib_rules.h> and <linux/rtnetlink.h>.
const (
	fraTable, fraUIDRange = 15, 20
	rtaTable              = 15
	typeUnreachable       = 7
	headerBytes           = 12 // of struct fib_rule_hdr and struct rtmsg
)

func (r *Reader) readNetwork() network {
	if r.Network != nil {
		return *r.Network
	}
	n := network{addresses: map[string][]string{}, rules: map[uint32]bool{}, routes: map[uint32]string{}}
	names := map[int]string{}
	links, err := net.Interfaces()
	if err != nil {
		return n
	}
	for _, l := range links {
		names[l.Index] = l.Name
		addresses, _ := l.Addrs()
		for _, a := range addresses {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
				n.addresses[p.Addr().String()] = append(n.addresses[p.Addr().String()], l.Name)
			}
		}
	}
	for _, on := range n.addresses {
		slices.Sort(on)
	}
	dump(syscall.RTM_GETRULE, func(_ []byte, a map[uint16][]byte) {
		span := a[fraUIDRange]
		if len(span) != 8 || len(a[fraTable]) != 4 {
			return
		}
		uid := binary.NativeEndian.Uint32(span)
		if uid == binary.NativeEndian.Uint32(span[4:]) && uid == binary.NativeEndian.Uint32(a[fraTable]) {
			n.rules[uid] = true
		}
	})
	dump(syscall.RTM_GETROUTE, func(header []byte, a map[uint16][]byte) {
		if header[1] == 0 && len(a[rtaTable]) == 4 { // its destination is everything
			if table := binary.NativeEndian.Uint32(a[rtaTable]); table > 255 {
				n.routes[table] = routeText(header, a, names)
			}
		}
	})
	return n
}

func routeText(header []byte, a map[uint16][]byte, names map[int]string) string {
	if header[7] == typeUnreachable {
		return "unreachable"
	}
	text := "via " + addressText(a[syscall.RTA_GATEWAY])
	if out := a[syscall.RTA_OIF]; len(out) == 4 {
		text += " dev " + names[int(binary.NativeEndian.Uint32(out))]
	}
	return text + fmt.Sprintf(" src %s", addressText(a[syscall.RTA_PREFSRC]))
}

func addressText(raw []byte) string {
	if a, ok := netip.AddrFromSlice(raw); ok {
		return a.String()
	}
	return none
}

// dump asks for all rules or routes of IPv4, and gives each with its attributes.
func dump(what int, each func(header []byte, attributes map[uint16][]byte)) {
	raw, err := syscall.NetlinkRIB(what, syscall.AF_INET)
	if err != nil {
		return
	}
	messages, err := syscall.ParseNetlinkMessage(raw)
	if err != nil {
		return
	}
	for _, m := range messages {
		if m.Header.Type == syscall.NLMSG_DONE || m.Header.Type == syscall.NLMSG_ERROR || len(m.Data) < headerBytes {
			continue
		}
		attributes := map[uint16][]byte{}
		for rest := m.Data[headerBytes:]; len(rest) >= 4; {
			length := int(binary.NativeEndian.Uint16(rest))
			if length < 4 || length > len(rest) {
				break
			}
			attributes[binary.NativeEndian.Uint16(rest[2:])&^(1<<15)] = rest[4:length]
			rest = rest[min(len(rest), (length+3)&^3):]
		}
		each(m.Data[:headerBytes], attributes)
	}
}
