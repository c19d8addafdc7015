package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
	"kloigos/crdb/localdb"
)

//go:embed sql/history.sql
var historySQL string

const (
	shortHistory = 200 // jobs: enough for full pages
	timed        = 500 // claims and pulses of one round
)

// withHistory makes a database in which so many jobs have ended.
func (b *Bed) withHistory(ctx context.Context, jobs int) (string, error) {
	database, err := b.fleet(ctx, unitsAHost*4, 0)
	if err != nil {
		return "", err
	}
	server, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return database, err
	}
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return database, fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	// Rows that are known to fit need not be looked up one by one.
	if _, err := conn.Exec(ctx, "SET session_replication_role = replica"); err != nil {
		return database, fmt.Errorf("leave foreign keys unchecked: %w", err)
	}
	for statement := range strings.SplitSeq(historySQL, "----\n") {
		if _, err := conn.Exec(ctx, statement, jobs); err != nil {
			return database, fmt.Errorf("make a history: %w, in %.100s", err, statement)
		}
	}
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE) jobs, job_steps, job_log, events")
	return database, err
}

// side is one of two installations that differ in how much has happened in them.
type side struct {
	database string
	backend  *backend
	paths    []string // of pages
}

// pages is what is listed: the newest jobs, those at half of the history, one host's, those that run, and events.
func (s *side) pages(ctx context.Context) error {
	list, err := s.backend.client.ListJobs(ctx, api.JobFilter{PageQuery: api.PageQuery{Limit: pageSize}})
	if err != nil {
		return fmt.Errorf("list jobs: %w", err)
	}
	if len(list.Items) == 0 {
		return errors.New("no jobs are there")
	}
	s.paths = []string{
		"/jobs", "/jobs?cursor=" + url.QueryEscape(list.NextCursor), "/jobs?state=active", "/jobs?host=" + list.Items[0].HostID,
		"/jobs?kind=host_probe", "/jobs?sort=kind", "/events", "/events?object=" + list.Items[0].HostID,
	}
	return nil
}

// history compares what an installation of a million jobs does with one that has begun.
func history(ctx context.Context, b *Bed, scale Scale) (results []Result, err error) {
	sides := make([]side, 2)
	for i, jobs := range []int{shortHistory, scale.History} {
		s := &sides[i]
		s.database, err = b.withHistory(ctx, jobs)
		if s.database != "" {
			defer func() { _ = b.dropDatabase(ctx, s.database) }()
		}
		if err != nil {
			return nil, err
		}
		if s.backend, err = b.startBackend(ctx, s.database, "api"); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.backend.Kill()) }()
		if err := s.pages(ctx); err != nil {
			return nil, err
		}
	}
	pages, claims, pulses := make([][][]float64, 2), make([][]float64, 2), make([][]float64, 2)
	for i := range sides {
		pages[i] = make([][]float64, len(sides[i].paths))
	}
	for range scale.Rounds {
		for i, s := range sides {
			for n := range s.paths {
				m, err := s.read(ctx, n, scale.Pages/20)
				if err != nil {
					return nil, err
				}
				pages[i][n] = append(pages[i][n], float64(percentile(m.latencies, 50)))
			}
			var took struct{ Claims, Pulses []time.Duration } // in microseconds
			if err := b.benchjobSays(ctx, s.database, &took, "times", "--times", strconv.Itoa(min(timed, scale.Pages))); err != nil {
				return nil, err
			}
			claims[i] = append(claims[i], float64(percentile(took.Claims, 50)*time.Microsecond))
			pulses[i] = append(pulses[i], float64(percentile(took.Pulses, 50)*time.Microsecond))
		}
	}
	results = append(results, worstPage(b, scale, sides, pages))
	for _, r := range []struct {
		what  string
		times [][]float64
	}{{"median of a claim", claims}, {"median of a job's pulse", pulses}} {
		few, many := median(r.times[0]), median(r.times[1])
		results = append(results, Result{
			What:  fmt.Sprintf("%s with %d jobs behind it, over the same with %d", r.what, scale.History, shortHistory),
			Limit: Limit{Value: 1.2}, Measured: many / few, Raw: milliseconds(time.Duration(many)) + ", with few " + milliseconds(time.Duration(few)),
		})
	}
	return results, nil
}

// worstPage is the one that suffers most from what lies behind it.
func worstPage(b *Bed, scale Scale, sides []side, pages [][][]float64) (worst Result) {
	for n, path := range sides[1].paths {
		few, many := median(pages[0][n]), median(pages[1][n])
		b.say("   %s: %s, with few %s", path, milliseconds(time.Duration(many)), milliseconds(time.Duration(few)))
		if many/few > worst.Measured {
			worst = Result{
				What:  fmt.Sprintf("median of the page of jobs or events that suffers most from %d jobs, over the same with %d", scale.History, shortHistory),
				Limit: Limit{Value: 1.2}, Measured: many / few,
				Raw: fmt.Sprintf("%s, with few %s: %.24s", milliseconds(time.Duration(many)), milliseconds(time.Duration(few)), path),
			}
		}
	}
	return worst
}

// read has one reader read a page, so many times.
func (s *side) read(ctx context.Context, page, times int) (measured, error) {
	return load{
		address: s.backend.listen, clients: 1, each: max(1, times),
		next: func(_, _ int, r *fasthttp.Request) bool {
			r.SetRequestURI("http://" + s.backend.listen + api.Prefix + s.paths[page])
			r.Header.Set("Authorization", "Bearer "+s.backend.token)
			return true
		},
		take: func(c, n int, r *fasthttp.Response) error {
			if err := expect(http.StatusOK)(c, n, r); err != nil {
				return fmt.Errorf("%s: %w", s.paths[page], err)
			}
			return nil
		},
	}.run(ctx)
}
