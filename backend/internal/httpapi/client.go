package httpapi

import (
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// clientAddress is the address that a request came from. What proxies tell is
// believed only as far as trusted ones told it: the list is read from its end,
// and the first address that is no trusted proxy is the client's.
func (s transport) clientAddress(c *fiber.Ctx) string {
	var told []string
	for _, v := range c.Request().Header.PeekAll("Forwarded") {
		told = append(told, forwardedFor(string(v))...)
	}
	if told == nil {
		for _, v := range c.Request().Header.PeekAll("X-Forwarded-For") {
			told = append(told, strings.Split(string(v), ",")...)
		}
	}
	peer, err := netip.ParseAddrPort(c.Context().RemoteAddr().String())
	if err != nil {
		return ""
	}
	return client(peer.Addr(), told, s.cfg.trusts).String()
}

// trusts tells whether an address is of a proxy that is believed.
func (c Config) trusts(a netip.Addr) bool {
	for _, p := range c.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

func client(peer netip.Addr, told []string, trusted func(netip.Addr) bool) netip.Addr {
	at := peer.Unmap()
	for i := len(told) - 1; i >= 0 && trusted(at); i-- {
		next, ok := nodeAddress(told[i])
		if !ok {
			return at // "unknown" or a hidden name: no one further away can be told
		}
		at = next
	}
	return at
}

// forwardedFor returns the for= of each element of a Forwarded header
// (RFC 7239), "" where an element has none.
func forwardedFor(header string) []string {
	all := []string{}
	for _, element := range splitOutsideQuotes(header, ',') {
		node := ""
		for _, pair := range splitOutsideQuotes(element, ';') {
			name, value, _ := strings.Cut(pair, "=")
			if strings.EqualFold(strings.TrimSpace(name), "for") {
				node = strings.Trim(strings.TrimSpace(value), `"`)
			}
		}
		all = append(all, node)
	}
	return all
}

func splitOutsideQuotes(s string, by byte) []string {
	var parts []string
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == by && !quoted:
			parts = append(parts, s[from:i])
			from = i + 1
		}
	}
	return append(parts, s[from:])
}

// nodeAddress reads "192.0.2.1", "192.0.2.1:80", "2001:db8::1",
// "[2001:db8::1]" and "[2001:db8::1]:80".
func nodeAddress(s string) (netip.Addr, bool) {
	s = strings.TrimSpace(s)
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil && a.Zone() == "" {
		return a.Unmap(), true
	}
	host, _, err := net.SplitHostPort(s)
	if err != nil {
		return netip.Addr{}, false
	}
	a, err := netip.ParseAddr(host)
	return a.Unmap(), err == nil && a.Zone() == ""
}
