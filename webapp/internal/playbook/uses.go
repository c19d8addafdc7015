package playbook

import (
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/job"
	"kloigos/webapp/internal/page"
)

const (
	mostActive = 50 // jobs that have not ended which are shown
	mostEnded  = 10 // jobs that have which are shown
)

// uses is what uses a version: the newest of the jobs that are bound to it and
// have not ended, and of those that ran with it.
type uses struct {
	At                    place
	Active, Ended         []api.Job
	MoreActive, MoreEnded bool
}

func (u uses) all(state string) string { return job.BoundTo(u.At.Playbook, u.At.Version, state) }

// usesOf finds the jobs that are bound to a version.
func usesOf(r *page.Request, at place) (uses, error) {
	g, ctx := errgroup.WithContext(r.Ctx)
	find := func(to *api.Page[api.Job], state string, most int) {
		g.Go(func() (err error) {
			*to, err = r.API.ListJobs(ctx, api.JobFilter{State: state, Playbook: at.Playbook, Version: at.Version, PageQuery: api.PageQuery{Limit: most}})
			return page.Optional(err)
		})
	}
	var active, ended api.Page[api.Job]
	find(&active, "active", mostActive)
	find(&ended, "ended", mostEnded)
	if err := g.Wait(); err != nil {
		return uses{}, err
	}
	return uses{At: at, Active: active.Items, Ended: ended.Items, MoreActive: active.NextCursor != "", MoreEnded: ended.NextCursor != ""}, nil
}
