package token

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M5.500 11.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.500 8.500h6M12 8.500v2.500"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/tokens", Label: "Tokens", Icon: icon}},
	Nouns: []page.Noun{{Name: "token"}},
	Notices: map[string]string{
		"token-ended": "The token was ended. It no longer works.",
	},
}
