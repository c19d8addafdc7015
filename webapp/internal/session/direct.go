package session

import (
	"net/netip"

	"github.com/gofiber/fiber/v2"
)

// Direct refuses what came through a proxy, as if there were no such page: only who reaches this web app by itself may ask.
func (s *Sessions) Direct(c *fiber.Ctx) error {
	peer, _ := netip.AddrFromSlice(ip(c.Context().RemoteIP()))
	if s.trusts(peer.Unmap()) || c.Get("Forwarded") != "" || c.Get(fiber.HeaderXForwardedFor) != "" {
		return fiber.ErrNotFound
	}
	return c.Next()
}
