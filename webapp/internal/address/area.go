package address

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 14.500s5-4.700 5-8.300a5 5 0 0 0-10 0c0 3.600 5 8.300 5 8.300zM8 8a1.800 1.800 0 1 0 0-3.600A1.800 1.800 0 0 0 8 8z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/address-pool", Label: "Address pool", Icon: icon, Needs: "project.workspace.address:read"}},
	Nouns: []page.Noun{{Name: "address"}, {Name: "address_pool"}},
	Notices: map[string]string{
		"address-closed":   "The address is closed. Allocations will not use it.",
		"address-opened":   "The address is open. Allocations can use it again.",
		"address-released": "The address left quarantine. Allocations can use it again.",
		"address-removed":  "The address was removed from the pool.",
		"addresses-added":  "The addresses were added to the pool.",
	},
}
