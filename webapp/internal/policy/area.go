package policy

import (
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M13.500 8a5.500 5.500 0 1 1-1.600-3.900M13.500 1.500v3h-3M8 5v3l2 1.500"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/policies", Label: "Policies", Icon: icon, Needs: "installation.policy:read"}},
	Nouns: []page.Noun{{Name: "policy"}},
	Notices: map[string]string{
		"policy-due":     "The policy is due. A reconciler runs it within a second, if one is alive.",
		"policy-paused":  "The policy is paused. A run that has begun continues.",
		"policy-resumed": "The policy is resumed. What became due meanwhile runs now.",
	},
}
