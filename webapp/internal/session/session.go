// Package session owns what the web app keeps of a login: one opaque token of
// the API in one cookie. It owns the check that an unsafe request comes from
// our own pages, and the question from which address a client comes.
//
// It refuses to look into the token, and it has no state.
package session

import (
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

const (
	secureCookie   = "__Host-kloigos"
	insecureCookie = "kloigos"
	maxToken       = 512
)

// Sessions reads and writes the cookie.
type Sessions struct {
	// Insecure is for tests without TLS: the cookie is then sent over plain HTTP
	// too, under another name.
	Insecure bool
	// TrustedProxies are the peers whose header Forwarded is believed.
	TrustedProxies []netip.Prefix
}

func (s *Sessions) name() string {
	if s.Insecure {
		return insecureCookie
	}
	return secureCookie
}

// Token returns the token of the request's session, "" if there is none.
func (s *Sessions) Token(c *fiber.Ctx) string { return s.TokenOf(&c.Request().Header) }

// TokenOf is Token of a request of which only the header is there.
func (s *Sessions) TokenOf(h *fasthttp.RequestHeader) string {
	t := string(h.Cookie(s.name()))
	if len(t) > maxToken || strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return t
}

// Begin stores the token of a new session until it expires.
func (s *Sessions) Begin(c *fiber.Ctx, token string, expires time.Time) {
	c.Cookie(s.cookie(token, expires))
}

// End removes the cookie.
func (s *Sessions) End(c *fiber.Ctx) {
	c.Cookie(s.cookie("", time.Unix(1, 0)))
}

func (s *Sessions) cookie(value string, expires time.Time) *fiber.Cookie {
	return &fiber.Cookie{
		Name: s.name(), Value: value, Path: "/", Expires: expires,
		Secure: !s.Insecure, HTTPOnly: true, SameSite: fiber.CookieSameSiteLaxMode,
	}
}

// loginSuffix ends the name of the cookie of a login that was begun at an identity provider.
const loginSuffix = "-login"

// BeginLogin keeps the secret of a login while the browser is at an identity provider.
func (s *Sessions) BeginLogin(c *fiber.Ctx, secret string, expires time.Time) {
	cookie := s.cookie(secret, expires)
	cookie.Name += loginSuffix
	c.Cookie(cookie)
}

// EndLogin returns the secret of the login that this browser began, and removes it; "" if there is none.
func (s *Sessions) EndLogin(c *fiber.Ctx) string {
	secret := string(c.Request().Header.Cookie(s.name() + loginSuffix))
	s.BeginLogin(c, "", time.Unix(1, 0))
	if len(secret) > maxToken {
		return ""
	}
	return secret
}

// Guard lets an unsafe request pass only if the browser says that one of our
// own pages sent it.
func (s *Sessions) Guard(c *fiber.Ctx) error {
	switch c.Method() {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodOptions:
		return c.Next()
	}
	if !s.sameOrigin(c) {
		return fiber.NewError(fiber.StatusForbidden, "This request did not come from a page of Kloigos. Nothing was done.")
	}
	return c.Next()
}

func (s *Sessions) sameOrigin(c *fiber.Ctx) bool {
	if site := c.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin := c.Get(fiber.HeaderOrigin)
	if origin == "" { // browsers that send neither are older than our pages work in
		return c.Get("Sec-Fetch-Site") == "same-origin"
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || !strings.EqualFold(u.Host, string(c.Request().Header.Host())) {
		return false
	}
	return u.Scheme == "https" || s.Insecure
}

// ClientAddress returns the address that a request comes from: the peer's, or,
// where the peer is a trusted proxy, the nearest one in Forwarded (RFC 7239)
// that is not a trusted proxy itself.
func (s *Sessions) ClientAddress(c *fiber.Ctx) string {
	peer, _ := netip.AddrFromSlice(ip(c.Context().RemoteIP()))
	peer = peer.Unmap()
	if !peer.IsValid() {
		return ""
	}
	hops := forwardedFor(c.Get("Forwarded"))
	for i := len(hops) - 1; i >= 0 && s.trusts(peer); i-- {
		if !hops[i].IsValid() {
			break // obfuscated or broken: the proxy that wrote it is the nearest address known
		}
		peer = hops[i]
	}
	return peer.String()
}

func ip(b net.IP) []byte {
	if v4 := b.To4(); v4 != nil {
		return v4
	}
	return b
}

func (s *Sessions) trusts(a netip.Addr) bool {
	for _, p := range s.TrustedProxies {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// forwardedFor returns the addresses of the header's for= parameters, in
// order; an invalid one for each that is no address.
func forwardedFor(header string) []netip.Addr {
	if header == "" {
		return nil
	}
	var hops []netip.Addr
	for element := range strings.SplitSeq(header, ",") {
		var hop netip.Addr
		for pair := range strings.SplitSeq(element, ";") {
			name, value, _ := strings.Cut(strings.TrimSpace(pair), "=")
			if strings.EqualFold(name, "for") {
				hop = address(strings.Trim(value, `"`))
			}
		}
		hops = append(hops, hop)
	}
	return hops
}

func address(s string) netip.Addr {
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap()
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap()
	}
	return netip.Addr{}
}

// ParseProxies reads a list of addresses and prefixes, separated by commas.
func ParseProxies(list string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for s := range strings.SplitSeq(list, ",") {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if a, err := netip.ParseAddr(s); err == nil {
			all = append(all, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		p, err := netip.ParsePrefix(s)
		if err != nil {
			return nil, err
		}
		all = append(all, p.Masked())
	}
	return all, nil
}

// ReturnPath returns where to go after logging in: the wanted page if it is
// one of this site, else the overview.
func ReturnPath(wanted string) string {
	u, err := url.Parse(wanted)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Opaque != "" ||
		!strings.HasPrefix(wanted, "/") || strings.HasPrefix(wanted, "//") || strings.ContainsAny(wanted, "\\\r\n\t") ||
		u.Path == "/login" || u.Path == "/logout" || strings.HasPrefix(u.Path, "/login/") {
		return "/"
	}
	return wanted
}
