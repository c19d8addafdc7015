package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/testkit"
)

// TestClaimDoesNotSortTheQueue that has filled up faster than PostgreSQL has
// counted it.
func TestClaimDoesNotSortTheQueue(t *testing.T) {
	t.Parallel()
	postgresOnly(t)
	db := open(t, testkit.MigratedURL(t))
	if err := db.InTx(t.Context(), func(tx *Tx) error { return tx.EnsureDefaultScopes(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`ALTER TABLE jobs SET (autovacuum_enabled = false)`,
		`INSERT INTO jobs (id, workspace_id, kind, args, state, priority, deadline_at, max_attempts, requested_by)
		 SELECT gen_random_uuid(), w.id, 'host_probe', '{}', 'queued', 20, now(), 3, 'ada' FROM workspaces w, generate_series(1, 20000)`,
	} {
		if _, err := db.pool.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	const limit = 500
	var claims []Claim
	var setting string
	err := db.InTx(t.Context(), func(tx *Tx) (err error) {
		if claims, err = tx.ClaimJobs(t.Context(), uuid.New(), time.Minute, limit); err != nil {
			return err
		}
		return tx.q.QueryRow(t.Context(), `SHOW enable_sort`).Scan(&setting)
	})
	if err != nil || len(claims) != limit || setting != "off" {
		t.Errorf("%d jobs were claimed, sorting is %s, %v", len(claims), setting, err)
	}
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	plan := func(sql statement, args ...any) string {
		rows, err := conn.Query(t.Context(), "EXPLAIN "+string(sql), args...)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	walks := func(what, plan string) {
		if !strings.Contains(plan, "Index Scan using jobs_claimable") || strings.Contains(plan, "Sort") {
			t.Errorf("%s:\n%s", what, plan)
		}
	}
	walks("the look for what may be claimed", plan(sqlWaiting, readOnlyKinds()))
	for _, sql := range []string{`BEGIN`, sqlDoNotSort} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	walks("the claim", plan(sqlClaimJobs, readOnlyKinds(), uuid.New(), time.Minute.Milliseconds(), limit))
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), `SHOW enable_sort`).Scan(&setting); err != nil || setting != "on" {
		t.Errorf("after a claim sorting is %s, %v", setting, err)
	}
}
