package login

import (
	"kloigos/webapp/internal/page"
)

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Notices: map[string]string{
		"logged-out": "You are logged out.",
	},
}
