package playbook

import (
	"net/url"
	"strconv"

	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/page"
	"kloigos/webapp/internal/ui"
)

const (
	mostActive  = 50  // jobs that have not ended which are shown
	mostOfLast  = 100 // newest jobs which are looked at
	mostUsesRun = 10  // jobs that have ended which are shown
)

// uses is what uses a version.
type uses struct {
	At     place
	Active []api.Job // bound to it, and not ended
	More   bool      // there are more of them
	Ended  []api.Job // of the newest jobs, those that ran with it
}

// all is the list of the jobs that are bound to it and have not ended.
func (u uses) all() string {
	q := url.Values{"state": {"active"}, "playbook": {u.At.Playbook}, "version": {strconv.Itoa(u.At.Version)}}
	return "/jobs?" + q.Encode()
}

func (u uses) count() string {
	count := ui.Count(len(u.Active), "job") + " not ended"
	if u.More {
		return "more than " + count
	}
	return count
}

// usesOf finds the jobs that are bound to a version.
func usesOf(r *page.Request, at place) (uses, error) {
	u := uses{At: at}
	g, ctx := errgroup.WithContext(r.Ctx)
	var active, last api.Page[api.Job]
	g.Go(func() (err error) {
		active, err = r.API.ListJobs(ctx, api.JobFilter{State: "active", Playbook: at.Playbook, Version: at.Version, PageQuery: api.PageQuery{Limit: mostActive}})
		return page.Optional(err)
	})
	g.Go(func() (err error) {
		last, err = r.API.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: mostOfLast}})
		return page.Optional(err)
	})
	if err := g.Wait(); err != nil {
		return uses{}, err
	}
	u.Active, u.More = active.Items, active.NextCursor != ""
	for _, j := range last.Items {
		if j.Playbook == at.Playbook && j.Version == at.Version && j.FinishedAt != nil && len(u.Ended) < mostUsesRun {
			u.Ended = append(u.Ended, j)
		}
	}
	return u, nil
}
