package page

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"kloigos/backend/api"
	"kloigos/webapp/internal/ui"
)

const (
	standingAge     = 5 * time.Second // how long an answer serves the pages of a session
	standingTimeout = 2 * time.Second // a page does without it
	mostStandings   = 1000
)

// standings are what the pages say of the queue and the workers, by session: not
// everyone may read it.
type standings struct {
	mu  sync.Mutex
	all map[string]standing
}

type standing struct {
	banner ui.Banner
	until  time.Time
}

func (s *standings) get(token string, now time.Time) (ui.Banner, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, ok := s.all[token]
	return found.banner, ok && now.Before(found.until)
}

func (s *standings) put(token string, b ui.Banner, until time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil || len(s.all) >= mostStandings {
		s.all = map[string]standing{}
	}
	s.all[token] = standing{b, until}
}

// ForgetStanding has the next page ask how the queue stands: it was just changed.
func (r *Request) ForgetStanding() {
	s := &r.app.standings
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = nil
}

// banner is what keeps all jobs from beginning.
func (r *Request) banner() ui.Banner {
	a, token := r.app, r.app.Sessions.Token(r.C)
	if found, ok := a.standings.get(token, time.Now()); ok {
		return found
	}
	ctx, cancel := context.WithTimeout(r.Ctx, standingTimeout)
	defer cancel()
	var b ui.Banner
	var q api.Queue
	var s api.System
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		q, err = r.API.GetQueue(ctx)
		return Optional(err)
	})
	g.Go(func() (err error) {
		s, err = r.API.GetSystem(ctx)
		return Optional(err)
	})
	if g.Wait() != nil {
		return b
	}
	b = ui.Banner{Paused: q.Paused, By: q.PausedBy, Reason: q.Reason, Since: q.PausedAt}
	b.NoWorker = len(s.Backends) > 0 && !HasWorker(s.Backends)
	a.standings.put(token, b, time.Now().Add(standingAge))
	return b
}

// HasWorker tells whether a backend is there that does jobs.
func HasWorker(all []api.Backend) bool {
	return slices.ContainsFunc(all, func(b api.Backend) bool { return b.Alive && strings.Contains(b.Roles, "worker") })
}
