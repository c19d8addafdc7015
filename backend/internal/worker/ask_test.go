package worker_test

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/intent"
	"kloigos/backend/internal/store"
	"kloigos/backend/internal/testkit/site"
)

// ask is an action of a test: the request of the API and its intent.
type ask struct {
	intent.PlanRequest
	do func(ctx context.Context, call intent.Call) error
}

func (p place) askInitialize(host uuid.UUID) ask {
	return ask{intent.PlanRequest{Action: domain.ActionInitialize}, func(ctx context.Context, call intent.Call) error {
		_, err := p.Intents.InitializeHost(ctx, call, host, 0, false)
		return err
	}}
}

func (p place) askRelayout(host uuid.UUID, cpusEach int) ask {
	r := domain.LayoutRequest{Count: 1, CPUsEach: cpusEach}
	return ask{intent.PlanRequest{Action: domain.ActionRelayout, Body: r}, func(ctx context.Context, call intent.Call) error {
		_, err := p.Intents.RelayoutHost(ctx, call, host, 0, r)
		return err
	}}
}

func (p place) askDecommission(host uuid.UUID) ask {
	return ask{intent.PlanRequest{Action: domain.ActionDecommission}, func(ctx context.Context, call intent.Call) error {
		_, err := p.Intents.DecommissionHost(ctx, call, host, 0)
		return err
	}}
}

func (p place) askAllocate(r intent.CreateAllocation) ask {
	if r.SSHKeys == nil {
		_, key := site.NewKey(p.T)
		r.SSHKeys = []string{key}
	}
	return ask{intent.PlanRequest{Action: domain.ActionAllocate, Body: r}, func(ctx context.Context, call intent.Call) error {
		_, _, err := p.Intents.CreateAllocation(ctx, call, r)
		return err
	}}
}

func (p place) askKeys(a uuid.UUID, key string) ask {
	return ask{intent.PlanRequest{Action: domain.ActionReplaceKeys, Body: []string{key}}, func(ctx context.Context, call intent.Call) error {
		_, err := p.Intents.ReplaceKeys(ctx, call, a, 0, []string{key})
		return err
	}}
}

func (p place) askDeallocate(a uuid.UUID) ask {
	user := p.Allocation(a).LoginUser
	return ask{intent.PlanRequest{Action: domain.ActionDeallocate, Body: user}, func(ctx context.Context, call intent.Call) error {
		_, err := p.Intents.Deallocate(ctx, call, a, 0, user)
		return err
	}}
}

func (p place) plan(a ask) (plan, job uuid.UUID) {
	p.T.Helper()
	plan, job, err := p.Intents.Plan(p.T.Context(), p.Call, a.PlanRequest, 0, a.do)
	if err != nil {
		p.T.Fatal(err)
	}
	return plan, job
}

// planned makes a plan and waits for its check.
func (p place) planned(a ask) store.Plan {
	p.T.Helper()
	plan, job := p.plan(a)
	p.Ended(job, domain.JobSucceeded)
	return p.thePlan(plan)
}

func (p place) thePlan(id uuid.UUID) store.Plan {
	p.T.Helper()
	got, err := p.DB.Plan(p.T.Context(), id)
	if err != nil {
		p.T.Fatal(err)
	}
	return got
}

// apply asks for an action, bound to a plan, and returns the job.
func (p place) apply(plan uuid.UUID, a ask) (uuid.UUID, error) {
	p.T.Helper()
	call, err := p.Call.BoundTo(plan, a.PlanRequest)
	if err != nil {
		p.T.Fatal(err)
	}
	if err := a.do(p.T.Context(), call); err != nil {
		return uuid.Nil, err
	}
	got := p.thePlan(plan)
	if got.State != domain.PlanApplied || got.AppliedJobID == nil {
		p.T.Fatalf("applied: %+v", got)
	}
	return *got.AppliedJobID, nil
}

func (p place) mustApply(plan uuid.UUID, a ask) uuid.UUID {
	p.T.Helper()
	return p.must(p.apply(plan, a))
}

// stale holds what an attempt to apply was refused for against these.
func (p place) stale(err error, want ...string) {
	p.T.Helper()
	var stale *intent.PlanStale
	if !errors.As(err, &stale) {
		p.T.Fatalf("not refused as stale: %v", err)
	}
	if diff := cmp.Diff(want, stale.Moved); diff != "" || len(stale.Why) != len(stale.Moved) {
		p.T.Errorf("moved: %s, %v", diff, stale.Why)
	}
}

func (p place) conflict(err error, code string) {
	p.T.Helper()
	var c *domain.Conflict
	if !errors.As(err, &c) || c.Code != code {
		p.T.Errorf("%v, not %s", err, code)
	}
}

// dump is every row of every table, but of those that a plan writes.
func (p place) dump() map[string]string {
	p.T.Helper()
	ctx := p.T.Context()
	conn, err := pgx.Connect(ctx, p.URL)
	if err != nil {
		p.T.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `SELECT tablename FROM pg_tables WHERE schemaname = current_schema()`)
	if err != nil {
		p.T.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(tables) < 15 {
		p.T.Fatalf("tables %v, %v", tables, err)
	}
	all := map[string]string{}
	for _, table := range tables {
		if slices.Contains([]string{"plans", "jobs", "job_steps", "job_log", "events", "backends", "schema_migrations", "schema_migrations_lock"}, table) {
			continue
		}
		columns := "t.*"
		if table == "host_locks" { // its number is how the fence ends whoever came before
			columns = "t.host_id, t.job_id"
		}
		rows, err := conn.Query(ctx, `SELECT r.line FROM (SELECT row_to_json(x)::TEXT AS line FROM (SELECT `+columns+` FROM `+table+` t) x) r ORDER BY r.line`)
		if err != nil {
			p.T.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			p.T.Fatal(err)
		}
		all[table] = strings.Join(lines, "\n")
	}
	return all
}
