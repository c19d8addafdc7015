package unit

import (
	"context"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M4 4h8v8H4zM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MainGroup, Href: "/compute-units", Label: "Compute units", Icon: icon, Needs: "project.workspace.unit:read"}},
	Pages: []ui.Target{
		{Href: "/compute-units?state=free", Label: "Free compute units", Icon: icon},
	},
	Finds: []page.Find{{Noun: "Compute units", Do: find}},
	Nouns: []page.Noun{{Name: "unit", Path: "/compute-units/"}, {Name: "compute_unit", Path: "/compute-units/"}},
	Notices: map[string]string{
		"unit-closed": "The unit is closed. No one can allocate it.",
		"unit-opened": "The unit can be allocated again.",
	},
}

func find(ctx context.Context, r *page.Request, query string) (all []ui.Target, err error) {
	units, err := r.API.ListComputeUnits(ctx, api.UnitFilter{Search: query, PageQuery: api.PageQuery{Limit: page.MaxFound}})
	for _, u := range units.Items {
		all = append(all, ui.Target{Href: "/compute-units/" + u.ID, Label: u.Name, Note: ui.Word(u.State) + " · " + ui.Count(u.CPUCount, "CPU"), Icon: icon})
	}
	return all, err
}
