package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/valyala/fasthttp"

	"kloigos/backend/api"
	"kloigos/crdb/localdb"
)

//go:embed sql/access.sql
var accessSQL string

const (
	accessRoles    = 1000
	accessProjects = 100 // of ten workspaces each
	grantsOfEach   = 100
	loginsAtOnce   = 100
	// revokedWithin is how long a revocation is waited for. It is far over its limit.
	revokedWithin = 10 * time.Second
)

// access looks at what permissions cost: the decision itself, a list that is filtered by grants, the time until a revocation
// holds on another backend, and what many logins cost everybody else.
func access(ctx context.Context, b *Bed, scale Scale) ([]Result, error) {
	database, err := b.fleet(ctx, scale.Units/100, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = b.dropDatabase(ctx, database) }()
	if err := b.fillAccess(ctx, database, scale.People); err != nil {
		return nil, err
	}
	s, err := b.startBackend(ctx, database, "api", "KLOIGOS_LIMIT_ADDRESS=0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Kill() }()
	other, err := b.startBackend(ctx, database, "api", "KLOIGOS_LIMIT_ADDRESS=0")
	if err != nil {
		return nil, err
	}
	defer func() { _ = other.Kill() }()
	var all []Result
	for _, part := range []func() (Result, error){
		func() (Result, error) { return b.decisions(ctx, s, scale) },
		func() (Result, error) { return b.filteredList(ctx, s, database, scale) },
		func() (Result, error) { return b.revocations(ctx, s, other, scale) },
		func() (Result, error) { return b.besideLogins(ctx, s, scale) },
	} {
		result, err := part()
		if err != nil {
			return all, err
		}
		all = append(all, result)
	}
	return all, nil
}

func (b *Bed) fillAccess(ctx context.Context, database string, people int) error {
	url, err := localdb.WithDatabase(b.server.URL, database)
	if err != nil {
		return err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", database, err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, accessSQL, people, accessRoles, accessProjects); err != nil {
		return fmt.Errorf("make people, roles and grants: %w", err)
	}
	_, err = conn.Exec(ctx, "VACUUM (ANALYZE) organizations, projects, workspaces, roles, accounts, tokens, grants")
	return err
}

// secretOf is the secret of one of the people's sessions.
func secretOf(person int) string { return fmt.Sprintf("kl_%043d", person) }

// readAs reads the first page of units, each time as the next of the people.
func (s *backend) readAs(ctx context.Context, people, pages int) (measured, error) {
	return load{
		address: s.listen, clients: readers, each: pages,
		next: func(_, n int, r *fasthttp.Request) bool {
			r.SetRequestURI("http://" + s.listen + api.Prefix + listedUnits.route + "?limit=1")
			r.Header.Set("Authorization", "Bearer "+secretOf(n%people+1))
			r.Header.Set(api.WorkspaceHeader, "default/default/default")
			return true
		},
		take: expect(http.StatusOK),
	}.run(ctx)
}

// decisions has all the people ask in turns, and takes the time of the decisions from the backend's own metric.
func (b *Bed) decisions(ctx context.Context, s *backend, scale Scale) (Result, error) {
	if _, err := s.readAs(ctx, scale.People, scale.People); err != nil { // warm up
		return Result{}, err
	}
	before, err := s.histogram(ctx, "kloigos_authorization_seconds")
	if err != nil {
		return Result{}, err
	}
	pages := scale.Pages * scale.Rounds
	m, err := b.costed("Kloigos", s.PID, func() (measured, error) { return s.readAs(ctx, scale.People, pages) })
	if err != nil {
		return Result{}, err
	}
	after, err := s.histogram(ctx, "kloigos_authorization_seconds")
	if err != nil {
		return Result{}, err
	}
	decided := after.since(before)
	if n := decided.count(); n < int64(pages) {
		return Result{}, fmt.Errorf("%d decisions were measured of %d requests", n, pages)
	}
	return Result{
		What: fmt.Sprintf("p99 of the decision whether a request may go on: %d people with %d grants each, %d roles, one request at a time",
			scale.People, grantsOfEach, accessRoles),
		Limit: Limit{Value: 0.3, Unit: "ms"}, Measured: decided.quantile(0.99) * 1000,
		Raw: fmt.Sprintf("of %d; p50 %.2f ms; requests p50 %s, p99 %s", decided.count(), decided.quantile(0.5)*1000,
			milliseconds(percentile(m.latencies, 50)), milliseconds(percentile(m.latencies, 99))),
	}, nil
}

// seenBy is the condition by which the backend narrows the list of workspaces to what an account sees.
var seenBy = regexp.MustCompile(`(?s)s\.id IN \(SELECT w\.id\s+FROM grants g.*?SELECT g\.scope_id FROM grants g WHERE g\.account_id = (\$\d+)\)`)

// filteredList compares the list of workspaces that one of the people sees with the same statement without the condition.
func (b *Bed) filteredList(ctx context.Context, s *backend, database string, scale Scale) (Result, error) {
	person := s.client.WithToken(secretOf(1))
	ran, err := b.watch(ctx, func() error {
		_, err := person.ListWorkspaces(ctx, api.WorkspaceFilter{PageQuery: api.PageQuery{Limit: pageSize}})
		return err
	})
	if err != nil {
		return Result{}, err
	}
	lists := with(with(ran, "FROM workspaces s"), "SELECT g.scope_id FROM grants g")
	if len(lists) != 1 {
		return Result{}, fmt.Errorf("the backend ran %d statements for a list of workspaces", len(lists))
	}
	filtered, bare := lists[0], lists[0]
	bare.sql = seenBy.ReplaceAllString(filtered.sql, "$1::UUID IS NOT NULL")
	if bare.sql == filtered.sql {
		return Result{}, errors.New("the list of workspaces has another condition by now")
	}
	bare.sql = everyValue(bare)
	var with, without []time.Duration // p99 of each round
	for range scale.Rounds {
		for _, side := range []struct {
			name string
			of   statement
			all  *[]time.Duration
		}{{"filtered", filtered, &with}, {"all", bare, &without}} {
			text, variables := side.of.script(0)
			m, err := b.costed(side.name, 0, func() (measured, error) {
				return b.runPgbench(ctx, script{texts: []string{text}, variables: variables, clients: readers, each: scale.Pages, database: database})
			})
			if err != nil {
				return Result{}, err
			}
			*side.all = append(*side.all, percentile(m.latencies, 99))
		}
	}
	return Result{
		What: fmt.Sprintf("p99 of a page of workspaces that a person with %d grants sees, out of %d, over the same statement without the filter",
			grantsOfEach, accessProjects*10),
		Limit: Limit{Value: 1.5}, Measured: float64(median(with)) / float64(median(without)),
		Raw: milliseconds(median(with)) + ", without " + milliseconds(median(without)),
	}, nil
}

// everyValue mentions each parameter of a statement, since a database wants to know the type of all.
func everyValue(s statement) string {
	text := s.sql
	for i := range s.values {
		if !strings.Contains(text, "$"+strconv.Itoa(i+1)) {
			text = strings.Replace(text, " ORDER BY", fmt.Sprintf(" AND $%d::TEXT IS NOT NULL ORDER BY", i+1), 1)
		}
	}
	return text
}

// revocations takes grants away through one backend, and asks another one until it refuses.
func (b *Bed) revocations(ctx context.Context, s, other *backend, scale Scale) (Result, error) {
	var took []time.Duration
	for n := range scale.Revocations {
		one, err := b.revocation(ctx, s, other, n%scale.People+1)
		if err != nil {
			return Result{}, err
		}
		took = append(took, one)
	}
	return Result{
		What:  "longest time from the answer to a revocation until another backend refuses, asked without a pause",
		Limit: Limit{Value: 1, Unit: "s"}, Measured: percentile(took, 100).Seconds(),
		Raw: fmt.Sprintf("of %d: p50 %.2f s, p99 %.2f s", len(took), percentile(took, 50).Seconds(), percentile(took, 99).Seconds()),
	}, nil
}

func (b *Bed) revocation(ctx context.Context, s, other *backend, person int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, revokedWithin)
	defer cancel()
	c := other.client.WithToken(secretOf(person)).WithWorkspace("default/default/default")
	name := "person-" + strconv.Itoa(person)
	grant, err := s.client.CreateGrant(ctx, api.CreateGrant{Account: name, Role: "admin", Scope: "default/default/default"})
	if err != nil {
		return 0, fmt.Errorf("give a role: %w", err)
	}
	may := func() (bool, error) {
		// What an admin may do and a viewer may not, of an object that is not there.
		err := c.DeleteDNSZone(ctx, "none.example.")
		problem := (*api.Problem)(nil)
		if !errors.As(err, &problem) {
			return false, fmt.Errorf("ask whether somebody may: %w", err)
		}
		return problem.Status == http.StatusNotFound, nil
	}
	if ok, err := may(); err != nil || !ok {
		return 0, fmt.Errorf("a new role gives nothing: %w", err)
	}
	if err := s.client.DeleteGrant(ctx, grant.ID); err != nil {
		return 0, fmt.Errorf("take a role away: %w", err)
	}
	begun := time.Now()
	for {
		switch ok, err := may(); {
		case err != nil:
			return 0, err
		case !ok:
			return time.Since(begun), nil
		}
	}
}

// besideLogins reads pages alone and while many people log in at once, in turns.
func (b *Bed) besideLogins(ctx context.Context, s *backend, scale Scale) (Result, error) {
	var alone, beside []time.Duration // p99 of each round
	read := func() (time.Duration, error) {
		m, err := s.readPages(ctx, listedUnits, scale.Pages, []string{""})
		return percentile(m.latencies, 99), err
	}
	for range scale.Rounds {
		quiet, err := read()
		if err != nil {
			return Result{}, err
		}
		logins := make(chan error, 1)
		go func() { logins <- s.logIn(ctx, loginsAtOnce) }()
		var during time.Duration
		if during, err = read(); err == nil {
			err = <-logins
		}
		if err != nil {
			return Result{}, err
		}
		alone, beside = append(alone, quiet), append(beside, during)
		b.say("   p99 %s, beside logins %s", milliseconds(quiet), milliseconds(during))
	}
	return Result{
		What:  fmt.Sprintf("p99 of a page while %d people log in at once, over without, on one backend", loginsAtOnce),
		Limit: Limit{Value: 1.5}, Measured: float64(median(beside)) / float64(median(alone)),
		Raw: milliseconds(median(beside)) + ", without " + milliseconds(median(alone)),
	}, nil
}

// logIn has many log in at once; one that is told to come back does.
func (s *backend) logIn(ctx context.Context, many int) error {
	var all sync.WaitGroup
	failed := make(chan error, many)
	for range many {
		all.Go(func() {
			for {
				_, err := s.client.CreateSession(ctx, api.Login{Account: s.bed.account, Password: s.bed.password})
				problem := (*api.Problem)(nil)
				if errors.As(err, &problem) && (problem.Status == http.StatusServiceUnavailable || problem.Status == http.StatusTooManyRequests) {
					time.Sleep(100 * time.Millisecond)
					continue
				}
				failed <- err
				return
			}
		})
	}
	all.Wait()
	close(failed)
	var err error
	for one := range failed {
		err = errors.Join(err, one)
	}
	return err
}
