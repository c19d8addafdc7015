package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
	"kloigos/rig/demo"
)

const (
	// readers read lists at once: one, since its client, the backend and the database are three that want a processor, and
	// what is measured is the work and not the wait for one.
	readers  = 1
	pageSize = 50 // the default
	samples  = 20 // pages, evenly spread, first and last among them
)

// listed is a list that is measured.
type listed struct {
	route string
	from  string // what only its SQL has
	next  func(ctx context.Context, s *backend, q api.PageQuery) (cursor string, err error)
}

var listedUnits = listed{"/compute-units", "FROM compute_units", func(ctx context.Context, s *backend, q api.PageQuery) (string, error) {
	page, err := s.client.ListComputeUnits(ctx, api.UnitFilter{PageQuery: q})
	return page.NextCursor, err
}}

// lists compares pages of a long list with the same SQL in pgbench, the last page with the first, and has the web app
// render them. The SQL is not a copy: it is what the server's log says that the backend has just sent.
func lists(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	database, err := b.fleet(ctx, scale.ListUnits, scale.ListUnits/2)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	s, err := b.startBackend(ctx, database, "api")
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Kill() }()
	cursors, err := s.cursors(ctx, listedUnits)
	if err != nil {
		return nil, err
	}
	bare, err := b.pages(ctx, s, database, listedUnits, cursors)
	if err != nil {
		return nil, err
	}
	var ours, theirs []time.Duration // p99 of each round
	var first, last []time.Duration  // medians
	for range scale.Rounds {
		bare.each = max(1, scale.Pages/readers)
		m, err := b.costed("pgbench", 0, func() (measured, error) { return b.runPgbench(ctx, bare) })
		if err != nil {
			return nil, err
		}
		theirs = append(theirs, percentile(m.latencies, 99))
		if m, err = b.costed("Kloigos", s.PID, func() (measured, error) { return s.readPages(ctx, listedUnits, scale.Pages, cursors) }); err != nil {
			return nil, err
		}
		ours = append(ours, percentile(m.latencies, 99))
		begins, ends, err := s.ends(ctx, scale.Pages/2, cursors[0], cursors[len(cursors)-1])
		if err != nil {
			return nil, err
		}
		first, last = append(first, percentile(begins, 50)), append(last, percentile(ends, 50))
		b.say("   p99: %s, pgbench %s; median of the first page %s, of the last %s", milliseconds(ours[len(ours)-1]),
			milliseconds(theirs[len(theirs)-1]), milliseconds(first[len(first)-1]), milliseconds(last[len(last)-1]))
	}
	rendered, err := b.rendered(ctx, s, scale, cursors)
	if err != nil {
		return nil, err
	}
	return []Result{
		{
			What:  fmt.Sprintf("p99 of a page of %d out of %d units, one reader, over the same SQL in pgbench (READ COMMITTED)", pageSize, scale.ListUnits),
			Limit: Limit{Value: 3}, Measured: float64(median(ours)) / float64(median(theirs)),
			Raw: milliseconds(median(ours)) + ", pgbench " + milliseconds(median(theirs)),
		},
		{
			What: "median of the last page over that of the first", Limit: Limit{Value: 1.2}, Measured: float64(median(last)) / float64(median(first)),
			Raw: milliseconds(median(last)) + ", first " + milliseconds(median(first)),
		},
		{
			What: "p99 of the same pages rendered by the web app", Limit: Limit{Value: 50, Unit: "ms"},
			Measured: float64(median(rendered)) / float64(time.Millisecond), Raw: fmt.Sprintf("of %d rounds", len(rendered)),
		},
	}, nil
}

// cursors walks the whole list and returns where some pages begin: "" for the first, then evenly to the last.
func (s *backend) cursors(ctx context.Context, l listed) ([]string, error) {
	all := []string{""}
	for {
		next, err := l.next(ctx, s, api.PageQuery{Limit: pageSize, Cursor: all[len(all)-1]})
		if err != nil {
			return nil, fmt.Errorf("read the list: %w", err)
		}
		if next == "" {
			break
		}
		all = append(all, next)
	}
	some := make([]string, min(samples, len(all)))
	for i := range some {
		some[i] = all[i*(len(all)-1)/max(1, len(some)-1)]
	}
	return slices.Compact(some), nil
}

// pages is the same reading for pgbench.
func (b *Bed) pages(ctx context.Context, s *backend, database string, l listed, cursors []string) (script, error) {
	ran, err := b.watch(ctx, func() error {
		for _, cursor := range cursors {
			if _, err := l.next(ctx, s, api.PageQuery{Limit: pageSize, Cursor: cursor}); err != nil {
				return fmt.Errorf("read a page: %w", err)
			}
		}
		return nil
	})
	if err != nil {
		return script{}, err
	}
	lists := with(ran, l.from)
	if len(lists) != len(cursors) {
		return script{}, fmt.Errorf("the backend ran %d statements for %d pages", len(lists), len(cursors))
	}
	made := script{clients: readers, database: database}
	for i, list := range lists {
		text, variables := list.script(i)
		made.texts, made.variables = append(made.texts, text), append(made.variables, variables...)
	}
	return made, nil
}

// readPages has the readers read pages through the API, each time any of those that begin at the cursors.
func (s *backend) readPages(ctx context.Context, l listed, pages int, cursors []string) (measured, error) {
	return s.pagesFrom(ctx, l, max(1, pages/readers), func(int) string { return cursors[rand.IntN(len(cursors))] })
}

// ends has them read two pages in turns, so that whatever else goes on meets both.
func (s *backend) ends(ctx context.Context, pages int, first, last string) (begins, ends []time.Duration, err error) {
	each := max(1, pages/2/readers) * 2 // even: the latencies of the clients stand one behind the other
	m, err := s.pagesFrom(ctx, listedUnits, each, func(n int) string { return []string{first, last}[n%2] })
	for i, took := range m.latencies {
		if i%2 == 0 {
			begins = append(begins, took)
		} else {
			ends = append(ends, took)
		}
	}
	return begins, ends, err
}

func (s *backend) pagesFrom(ctx context.Context, l listed, each int, cursor func(n int) string) (measured, error) {
	return load{
		address: s.listen, clients: readers, each: each,
		next: func(_, n int, r *fasthttp.Request) bool {
			r.SetRequestURI("http://" + s.listen + api.Prefix + l.route + "?cursor=" + url.QueryEscape(cursor(n)))
			r.Header.Set("Authorization", "Bearer "+s.token)
			return true
		},
		take: expect(http.StatusOK),
	}.run(ctx)
}

// rendered has the web app render the pages, and returns the p99 of each round.
func (b *Bed) rendered(ctx context.Context, s *backend, scale Scale, cursors []string) (p99 []time.Duration, err error) {
	ports, err := demo.FreePorts(0, 1)
	if err != nil {
		return nil, err
	}
	listen := fmt.Sprintf("127.0.0.1:%d", ports[0])
	p, err := b.group.Start(fmt.Sprintf("webapp-%d", b.made.Add(1)), b.path("kloigos-webapp"), []string{
		"KLOIGOS_WEB_LISTEN=" + listen, "KLOIGOS_API_URL=http://" + s.listen, "KLOIGOS_WEB_INSECURE_COOKIE=true",
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = p.Kill() }()
	if err := awaitReady(ctx, p, "http://"+listen+"/web/healthz"); err != nil {
		return nil, err
	}
	for range scale.Rounds {
		m, err := b.costed("rendered", p.PID, load{
			address: listen, clients: readers, each: max(1, scale.Pages/4/readers),
			next: func(_, _ int, r *fasthttp.Request) bool {
				r.SetRequestURI("http://" + listen + listedUnits.route + "?cursor=" + url.QueryEscape(cursors[rand.IntN(len(cursors))]))
				r.Header.SetCookie("kloigos", s.token)
				return true
			},
			take: expect(http.StatusOK),
		}.inContext(ctx))
		if err != nil {
			return nil, fmt.Errorf("render pages: %w", err)
		}
		p99 = append(p99, percentile(m.latencies, 99))
	}
	return p99, nil
}
