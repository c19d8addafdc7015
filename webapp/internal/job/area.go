package job

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const icon = "M3 2.500 13 8 3 13.500z"

// Area is the pages of this folder.
var Area = page.Area{
	Mount: mount,
	Nav:   []ui.NavEntry{{Group: ui.MainGroup, Href: "/jobs", Label: "Jobs", Icon: icon, Needs: "project.workspace.job:read"}},
	Pages: []ui.Target{
		{Href: "/jobs?state=active", Label: "Active jobs", Icon: icon},
		{Href: "/jobs?state=failed", Label: "Failed jobs", Icon: icon},
	},
	Finds: []page.Find{{Noun: "Jobs", Do: find}},
	Nouns: []page.Noun{{Name: "job", Path: "/jobs/"}},
	Notices: map[string]string{
		"cancel-asked": "Cancel requested. The job stops.",
		"retried":      "The job is queued again.",
	},
}

// find finds a job by its id, and the newest ones of a kind by its words.
func find(ctx context.Context, r *page.Request, query string) ([]ui.Target, error) {
	if _, err := uuid.Parse(query); err == nil {
		j, err := r.API.GetJob(ctx, query)
		if err != nil {
			return nil, err
		}
		return []ui.Target{target(j)}, nil
	}
	var all []ui.Target
	recent, err := r.API.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: 50}})
	for _, j := range recent.Items {
		all = append(all, target(j))
	}
	return ui.Matching(all, query, page.MaxFound), err
}

func target(j api.Job) ui.Target {
	return ui.Target{Href: "/jobs/" + j.ID, Label: j.Title(), Note: ui.Word(j.State) + " · " + j.RequestedBy, Icon: icon}
}
