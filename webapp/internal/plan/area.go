package plan

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M3 2.500 13 8 3 13.500z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Pages: []ui.Target{
		{Href: "/plans", Label: "Plans", Icon: icon, Needs: "project.workspace.plan:read"},
	},
	Nouns: []page.Noun{{Name: "plan", Path: "/plans/"}},
	Notices: map[string]string{
		"plan-approved": "You approved the plan.",
		"plan-refused":  "You refused the plan. It can't be applied.",
	},
}
