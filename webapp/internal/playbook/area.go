package playbook

import (
	"context"
	"net/url"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M3 1.500h7l3 3v10H3zM5.500 7h5M5.500 10h5"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MoreGroup, Href: "/playbooks", Label: "Playbooks", Icon: icon, Needs: "organization.playbook:read"}},
	Finds: []page.Find{{Noun: "Playbooks", Do: find}},
	Nouns: []page.Noun{{Name: "playbook"}},
	Notices: map[string]string{
		"default-set":    "The default version has changed. New jobs use it.",
		"version-stored": "Version stored. The default does not change until you change it.",
	},
}

func find(ctx context.Context, r *page.Request, query string) (all []ui.Target, err error) {
	playbooks, err := r.API.ListPlaybooks(ctx, api.PageQuery{Limit: 100})
	for _, p := range playbooks.Items {
		all = append(all, ui.Target{Href: "/playbooks/" + url.PathEscape(p.Name), Label: p.Name, Note: p.Description, Icon: icon})
	}
	return ui.Matching(all, query, page.MaxFound), err
}
