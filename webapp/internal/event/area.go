package event

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M2 4h12M2 8h12M2 12h8"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/events", Label: "Events", Icon: icon, Needs: "project.workspace.event:read"}},
}
