package system

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 10.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM8 1.500v2M8 12.500v2M1.500 8h2M12.500 8h2M3.400 3.400l1.400 1.400M11.200 11.200l1.400 1.400M3.400 12.600l1.400-1.400M11.200 4.800l1.400-1.400"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/system", Label: "System", Icon: icon, Needs: "installation.system:read"}},
	Nouns: []page.Noun{{Name: "queue"}},
	Notices: map[string]string{
		"queue-paused":  "The queue is paused. No queued job starts until you resume it.",
		"queue-resumed": "The queue is resumed. Queued jobs start again.",
	},
}
