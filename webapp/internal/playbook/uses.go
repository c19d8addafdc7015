package playbook

import (
	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	mostActive  = 200 // jobs that have not ended which are looked at
	mostOfLast  = 100 // newest jobs which are looked at
	mostUsesRun = 10  // jobs that have ended which are shown
)

// uses is what uses a version, as far as the newest jobs tell.
type uses struct {
	Active []api.Job // bound to it, and not ended
	More   bool      // there are more jobs that have not ended than were looked at
	Ended  []api.Job // the last that ran with it
}

func (u uses) count() string {
	count := ui.Count(len(u.Active), "job") + " not ended"
	if u.More {
		return "at least " + count
	}
	return count
}

// usesOf finds the jobs that are bound to a version.
func usesOf(r *page.Request, at place) (u uses, err error) {
	g, ctx := errgroup.WithContext(r.Ctx)
	var active, last api.Page[api.Job]
	g.Go(func() (err error) {
		active, err = r.API.ListJobs(ctx, api.JobFilter{State: "active", PageQuery: api.PageQuery{Limit: mostActive}})
		return page.Optional(err)
	})
	g.Go(func() (err error) {
		last, err = r.API.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: mostOfLast}})
		return page.Optional(err)
	})
	if err := g.Wait(); err != nil {
		return uses{}, err
	}
	u.More = active.NextCursor != ""
	for _, j := range active.Items {
		if j.Playbook == at.Playbook && j.Version == at.Version {
			u.Active = append(u.Active, j)
		}
	}
	for _, j := range last.Items {
		if j.Playbook == at.Playbook && j.Version == at.Version && j.FinishedAt != nil && len(u.Ended) < mostUsesRun {
			u.Ended = append(u.Ended, j)
		}
	}
	return u, nil
}
