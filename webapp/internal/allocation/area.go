package allocation

import (
	"context"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c.6-3 2.7-4 5.500-4s4.900 1 5.500 4"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MainGroup, Href: "/allocations", Label: "Allocations", Icon: icon, Needs: "project.workspace.allocation:read"}},
	Pages: []ui.Target{
		{Href: "/allocations/new", Label: "Allocate a unit", Icon: icon, Needs: "project.workspace.allocation:create"},
	},
	Finds: []page.Find{{Noun: "Allocations", Do: find}},
	Nouns: []page.Noun{{Name: "allocation", Path: "/allocations/"}},
}

func find(ctx context.Context, r *page.Request, query string) (all []ui.Target, err error) {
	allocations, err := r.API.ListAllocations(ctx, api.AllocationFilter{Search: query, PageQuery: api.PageQuery{Limit: page.MaxFound}})
	for _, a := range allocations.Items {
		all = append(all, ui.Target{Href: "/allocations/" + a.ID, Label: a.LoginUser, Note: ui.Word(a.State) + " · " + a.Unit + " · " + a.Address, Icon: icon})
	}
	return all, err
}
