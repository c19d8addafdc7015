package store

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

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
	for _, sql := range []string{`BEGIN`, sqlDoNotSort} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := conn.Query(t.Context(), "EXPLAIN "+sqlClaimJobs, readOnlyKinds(), uuid.New(), time.Minute.Milliseconds(), limit)
	if err != nil {
		t.Fatal(err)
	}
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil || !strings.Contains(plan.String(), "Index Scan using jobs_claimable") || strings.Contains(plan.String(), "Sort") {
		t.Errorf("%v\n%s", err, plan.String())
	}
	if _, err := conn.Exec(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if err := conn.QueryRow(t.Context(), `SHOW enable_sort`).Scan(&setting); err != nil || setting != "on" {
		t.Errorf("after a claim sorting is %s, %v", setting, err)
	}
}
