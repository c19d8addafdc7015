package host

import (
	"context"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M2 2.5h12v4.5H2zM2 9h12v4.5H2zM4.5 4.8h.01M4.5 11.2h.01"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MainGroup, Href: "/hosts", Label: "Hosts", Icon: icon, Needs: "project.workspace.host:read"}},
	Pages: []ui.Target{
		{Href: "/hosts/new", Label: "Register a host", Icon: icon, Needs: "project.workspace.host:create"},
	},
	Finds: []page.Find{{Noun: "Hosts", Do: find}},
	Nouns: []page.Noun{{Name: "host", Path: "/hosts/"}},
	Notices: map[string]string{
		"drained":       "The host takes no new allocations. Existing ones stay.",
		"host-lost":     "The host was declared lost.",
		"host-removed":  "The host was removed.",
		"key-confirmed": "Host key confirmed. A probe is running.",
		"measuring":     "A measurement is running. Its units show the result when it ends.",
		"layout-set":    "Layout set. Initialize the host to create its units.",
		"host-changed":  "The host is changed.",
		"registered":    "Host registered. A probe is running; it changes nothing on the host.",
		"undrained":     "The host takes allocations again.",
	},
}

func find(ctx context.Context, r *page.Request, query string) (all []ui.Target, err error) {
	hosts, err := r.API.ListHosts(ctx, api.HostFilter{Search: query, PageQuery: api.PageQuery{Limit: page.MaxFound}})
	for _, h := range hosts.Items {
		all = append(all, ui.Target{Href: "/hosts/" + h.ID, Label: h.Name, Note: ui.Word(h.State) + " · " + h.Address, Icon: icon})
	}
	return all, err
}
