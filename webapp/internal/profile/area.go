package profile

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.500 14c0-3 2.500-4.500 5.500-4.500s5.500 1.500 5.500 4.500"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/profile", Label: "Your account", Icon: icon}},
	Notices: map[string]string{
		"second-factor-removed": "The second factor is removed. Your logins ask for the password only.",
		"identity-linked":       "The identity is linked. You can log in by its provider.",
		"identity-unlinked":     "The identity is unlinked. It logs nobody in to this account any more.",
		"passkey-added":         "The passkey is added. The login page takes it from now on.",
		"passkey-removed":       "The passkey is removed. It logs nobody in any more.",
		"session-ended":         "The session has ended, with the API tokens that it made.",
	},
}
