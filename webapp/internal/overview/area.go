package overview

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MainGroup, Href: "/", Label: "Overview", Icon: icon}},
}
