package store

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/testkit"
)

// crowded is a database with a few thousand rows of everything that grows.
func crowded(t *testing.T) *opened {
	t.Helper()
	db := open(t, testkit.MigratedURL(t))
	if err := db.InTx(t.Context(), func(tx *Tx) error { return tx.EnsureDefaultScopes(t.Context()) }); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, zone, networks, labels, profile, trust_on_first_use, host_key, facts, layout, state, incarnation)
		 SELECT gen_random_uuid(), $1, $2, 'h' || n, '192.0.2.1', 22, 'root', 'z' || n % 4, ARRAY['default'], '{"rack": "r1"}', 'minimal', false, 'k', '{}', '{}', 'ready', gen_random_uuid()
		   FROM generate_series(1, 400) AS n`,
		`INSERT INTO host_locks (host_id, job_id) SELECT h.id, CASE WHEN length(h.name) < 3 THEN gen_random_uuid() END FROM hosts h WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO compute_units (id, workspace_id, host_id, ordinal, name, state, cpus, cpu_count, memory_nodes, memory_max_bytes, memory_high_bytes, volume_bytes, tasks_max, shuffle, zone)
		 SELECT gen_random_uuid(), $1, h.id, n, h.name || '-cu' || n, CASE WHEN n = 1 THEN 'free' ELSE 'allocated' END, '1', n, '0', 9, 8, 1, 1, (random() * 2000000000)::INT4, h.zone
		   FROM hosts h, generate_series(1, 12) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO addresses (id, workspace_id, network, address, sort_key, state, allocation_id, shuffle)
		 SELECT gen_random_uuid(), $1, 'default', '10.0.' || n / 256 || '.' || n % 256, n, CASE WHEN n % 10 = 0 THEN 'free' ELSE 'allocated' END,
		        CASE WHEN n % 10 = 0 THEN NULL ELSE gen_random_uuid() END, (random() * 2000000000)::INT4
		   FROM generate_series(1, 5000) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO allocations (id, workspace_id, unit_id, host_id, login_user, uid, address, network, ssh_keys, labels, state, created_by, created_at)
		 SELECT gen_random_uuid(), $1, u.id, u.host_id, 'u' || u.ordinal, 200000, '10.0.0.1', 'default', ARRAY['k'], '{}', 'allocated', 'ada', now() - u.ordinal * INTERVAL '1 minute'
		   FROM compute_units u WHERE u.ordinal > 1 AND $1::UUID <> $2::UUID`,
		`INSERT INTO playbooks (name, description, default_version) SELECT 'host_probe', '', 20 WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO playbook_versions (id, playbook, version, sha256, content, size_bytes, decoded_bytes, files, seeded, created_by)
		 SELECT gen_random_uuid(), 'host_probe', n, n::TEXT, '', 0, 0, 0, false, 'ada' FROM generate_series(1, 20) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO jobs (id, workspace_id, kind, args, host_id, playbook_version_id, state, priority, deadline_at, max_attempts, requested_by, created_at, finished_at, lease_expires_at, worker_id)
		 SELECT gen_random_uuid(), $1, 'host_probe', '{}', h.id, (SELECT v.id FROM playbook_versions v WHERE v.version = 1 + substr(h.name, 2)::INT4 % 20),
		        CASE WHEN n = 1 THEN 'queued' WHEN n = 2 AND length(h.name) < 3 THEN 'running' ELSE 'succeeded' END, n, now(), 3, 'ada', now() - n * INTERVAL '1 minute',
		        CASE WHEN n = 1 OR n = 2 AND length(h.name) < 3 THEN NULL ELSE now() END,
		        CASE WHEN n = 2 AND length(h.name) < 3 THEN now() END, CASE WHEN n = 2 AND length(h.name) < 3 THEN gen_random_uuid() END
		   FROM hosts h, generate_series(1, 12) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind, object_id)
		 SELECT gen_random_uuid(), now() - n * INTERVAL '1 second', $1, 'account', 'ada', 'x', 'host', h.id FROM hosts h, generate_series(1, 12) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO accounts (id, name, password_hash, role) SELECT gen_random_uuid(), 'a' || n, '', 'administrator' FROM generate_series(1, 50) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO tokens (id, kind, account_id, name, prefix, hash, created_at, expires_at)
		 SELECT gen_random_uuid(), CASE WHEN n % 9 = 0 THEN 'api' ELSE 'session' END, a.id, 't', 'kl_', decode(md5(a.name || '/' || n), 'hex'), now() - n * INTERVAL '1 minute', now() + INTERVAL '1 hour'
		   FROM accounts a, generate_series(1, 200) AS n WHERE $1::UUID <> $2::UUID`,
		`INSERT INTO job_log (job_id, first_seq, last_seq, attempt, entries, outline)
		 SELECT j.id, n * 10, n * 10 + 9, 1, '', CASE WHEN n % 10 = 0 THEN 'x' ELSE '' END::BYTEA FROM (SELECT id FROM jobs LIMIT 50) j, generate_series(1, 100) AS n WHERE $1::UUID <> $2::UUID`,
	} {
		if _, err := db.pool.Exec(t.Context(), sql, domain.DefaultWorkspace, domain.DefaultOrganization); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, table := range []string{"hosts", "host_locks", "compute_units", "addresses", "allocations", "playbook_versions", "jobs", "events", "tokens", "job_log"} {
		if _, err := db.pool.Exec(t.Context(), `ANALYZE `+table); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

func explain(t *testing.T, db *opened, sql statement, args ...any) string {
	t.Helper()
	rows, err := db.pool.Query(t.Context(), "EXPLAIN "+string(sql), args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return plan.String()
}

// TestHotStatementsUseTheirIndexes looks at plans, so that nobody has to
// believe that an index helps.
func TestHotStatementsUseTheirIndexes(t *testing.T) {
	t.Parallel()
	postgresOnly(t)
	db := crowded(t)
	one := uuid.New()
	page := func(base, order statement, more ...statement) (statement, []any) {
		l := newList(base)
		for _, m := range more {
			if strings.Contains(string(m), "?") {
				l.And(m, domain.DefaultWorkspace)
			} else {
				l.And(m)
			}
		}
		return l.Page(order, 51)
	}
	type hot struct {
		name  string
		sql   statement
		args  []any
		uses  string // a pattern in the plan: an index
		never string // a pattern in the plan
	}
	// Where all that waits is looked at, it may be by each of the indexes that hold it.
	const anyOfQueued = "jobs_(claimable|queued|queued_of_host)"
	statements := []hot{
		{"claim", sqlClaimJobs, []any{[]string{"host_probe"}, one, int64(30000), 8}, "jobs_claimable", `Seq Scan on jobs|Sort`},
		{"look for overdue jobs", sqlOverdueJobs, []any{one, 8}, "jobs_leased_of_host", `Seq Scan on jobs`},
		{"take over", sqlTakeOverJobs, []any{[]uuid.UUID{one}, one, int64(30000)}, "jobs_pkey", `Seq Scan on jobs`},
		{"look for what may be claimed", sqlWaiting, []any{[]string{"host_probe"}}, "jobs_claimable", `Seq Scan on jobs|Sort`},
		{"look for what may be taken over", sqlWaiting, []any{[]string{"host_probe"}}, "jobs_leased_of_host", `Seq Scan on jobs|Sort`},
		{"renew", sqlRenewLease, []any{one, 1, one, int64(30000)}, "jobs_pkey", `Seq Scan`},
		{"end several", sqlSucceedJobs, []any{[]uuid.UUID{one}, []int64{1}, []string{""}}, "jobs_pkey", `Seq Scan on jobs`},
		{"let go of a host", sqlUnlockHost, []any{one, 1}, "host_locks_pkey", `Seq Scan`},
		{"end several and let go of their hosts", sqlSucceedJobs, []any{[]uuid.UUID{one}, []int64{1}, []string{""}}, "host_locks_pkey", `Seq Scan on host_locks`},
		{"append to log", sqlAppendLog, []any{one, 1, 2, 1, []byte{1}, []byte{}}, "jobs_pkey", `Seq Scan on jobs`},
		{"end of log", sqlLastSequence, []any{one}, "job_log_pkey", `Seq Scan|Sort`},
		{"read log", sqlLogChunks, []any{one, 500, 20}, "job_log_pkey", `Seq Scan|Sort`},
		{"outline of log", sqlLogOutlines, []any{one, 0, 500, outlinesAtOnce}, "job_log_outlined", `Seq Scan|Sort|Filter`},
		{"read old chunks for an outline", sqlLogChunksAsTheyWere, []any{one, 0, 500}, "job_log", `Seq Scan|Sort`},
		{"backlog", sqlBacklog, []any{BacklogCounted}, anyOfQueued, `Seq Scan on jobs`},
		{"logs that expired", sqlExpiredLogs, []any{int64(86400), 50}, "jobs_with_log", `Seq Scan|Sort`},
		{"logs to remove", sqlDeleteLogs, []any{[]uuid.UUID{one}, 500}, "job_log_pkey", `Seq Scan`},
		{"reserve address", sqlReserveAddress, []any{domain.DefaultWorkspace, "default", one, 1000}, "addresses_free", `Seq Scan|Sort`},
	}
	for _, index := range []string{"jobs_leased_of_host", "jobs_queued_of_host"} {
		statements = append(statements, hot{"a host", sqlShownHost + " AND h.id = $1", []any{one}, index, `Seq Scan on jobs`})
	}
	add := func(name, uses, never string, sql statement, args []any) {
		statements = append(statements, hot{name, sql, args, uses, never})
	}
	sql, args := Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: 1, LoginUser: "ada"}.list(sqlPickFrom).Page("u.cpu_count, u.shuffle", 1)
	add("place", "compute_units_free", `Seq Scan on compute_units|Seq Scan on allocations|Sort`, sql+"\nFOR UPDATE OF u SKIP LOCKED", args)
	sql, args = Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: 1, Zone: "z1", LoginUser: "ada"}.quick().Locked("u.cpu_count, u.shuffle", 1, "FOR UPDATE OF u SKIP LOCKED")
	add("place in a zone", "compute_units_free_in_zone", `Seq Scan on compute_units|Seq Scan on allocations|Sort`, sql, args)
	sql, args = Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: 1}.quick().And(onRoomyHost).Locked("u.cpu_count, u.shuffle", 1, "FOR UPDATE OF u SKIP LOCKED")
	add("place on a roomy host", "compute_units_free", `Seq Scan on compute_units`, sql, args)
	sql, args = page(sqlShownHost, "h.name, h.id", "h.workspace_id = ?", "h.removed_at IS NULL")
	add("hosts", "hosts_by_workspace", `Seq Scan on (jobs|compute_units|allocations)`, sql, args)
	sql, args = page(sqlUnit, "u.name, u.id", "u.workspace_id = ?", "u.state <> 'removed'")
	add("units", "compute_units_by_workspace", `Seq Scan on (compute_units|allocations)`, sql, args)
	sql, args = page(sqlAllocation, "a.created_at DESC, a.id DESC", "a.workspace_id = ?")
	add("allocations", "allocations_newest", `Seq Scan on (allocations|jobs)`, sql, args)
	back := Position{Time: time.Now(), ID: one, Back: true}
	for _, of := range []struct {
		name   string
		filter JobFilter
		uses   []string // the index of each part
	}{
		{"jobs", JobFilter{}, []string{"jobs_queued", "jobs_leased_of_host", "jobs_ended_by_age"}},
		{"second page of jobs", JobFilter{After: &Position{Time: time.Now(), ID: one}}, []string{"jobs_queued", "jobs_leased_of_host", "jobs_ended_by_age"}},
		{"the page of jobs before", JobFilter{After: &back}, []string{"jobs_queued", "jobs_leased_of_host", "jobs_ended_by_age"}},
		{"jobs of a rare kind", JobFilter{Kind: string(domain.KindHostDecommission)}, []string{anyOfQueued, "jobs_leased_of_host", "jobs_ended_of_kind"}},
		{"active jobs", JobFilter{State: "active"}, []string{"jobs_queued", "jobs_leased_of_host"}},
		{"failed jobs", JobFilter{State: "failed"}, []string{"jobs_ended_badly"}},
		{"succeeded jobs", JobFilter{State: "succeeded"}, []string{"jobs_ended_by_age"}},
		{"jobs of a host", JobFilter{HostID: &one}, []string{"jobs_queued_of_host", "jobs_leased_of_host", "jobs_ended_of_host", "job_hosts_of_host"}},
		{"jobs of a version", JobFilter{Playbook: "host_probe", Version: 1}, []string{anyOfQueued, "jobs_leased_of_host", "jobs_ended_of_version"}},
	} {
		sent := &paper{}
		of.filter.WorkspaceID, of.filter.Limit = domain.DefaultWorkspace, 51
		if _, err := (Reads{q: over(sent)}).JobsByParts(t.Context(), of.filter); err != nil || len(sent.sent) != len(of.uses) {
			t.Fatalf("%s: %d statements, %v", of.name, len(sent.sent), err)
		}
		for i, index := range of.uses {
			add(of.name, index+" ", `Seq Scan on jobs`, statement(sent.sent[i]), sent.args[i])
		}
	}
	sql, args = page(sqlEvent, "e.at DESC, e.id DESC", "e.workspace_id = ?")
	add("events", "events_newest", `Seq Scan|Sort`, sql, args)
	sql, args = page(sqlEvent, "e.at DESC, e.id DESC", "e.object_id = ?")
	add("events of an object", "events_of_object", `Seq Scan`, sql, args)
	sql, args = page(sqlAddress, "p.network, p.sort_key, p.id", "p.workspace_id = ?")
	add("addresses", "addresses_by_workspace", `Seq Scan on addresses`, sql, args)
	// Each order in which a list can be read, from somewhere in its midst.
	for _, o := range []struct {
		noun, indexes string // in the order of the sorts
		read          func(Reads, string, *Position) error
		sorts         []string
	}{
		{"hosts", "hosts_by_workspace hosts_by_age hosts_by_state", func(r Reads, sort string, p *Position) error {
			_, err := r.Hosts(t.Context(), HostFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, After: p, Limit: 51})
			return err
		}, HostSorting.Names()},
		{"units", "compute_units_by_workspace compute_units_sorted_by_state compute_units_by_size", func(r Reads, sort string, p *Position) error {
			_, err := r.Units(t.Context(), UnitFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, After: p, Limit: 51})
			return err
		}, UnitSorting.Names()},
		{"allocations", "allocations_newest allocations_by_login allocations_by_state", func(r Reads, sort string, p *Position) error {
			_, err := r.Allocations(t.Context(), AllocationFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, After: p, Limit: 51})
			return err
		}, AllocationSorting.Names()},
		{"addresses", "addresses_by_workspace addresses_by_state", func(r Reads, sort string, p *Position) error {
			_, err := r.Addresses(t.Context(), AddressFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, After: p, Limit: 51})
			return err
		}, AddressSorting.Names()},
		{"jobs", "jobs_ended_by_age jobs_ended_of_kind", func(r Reads, sort string, p *Position) error {
			_, err := r.JobsByParts(t.Context(), JobFilter{WorkspaceID: domain.DefaultWorkspace, State: "ended", Sort: sort, After: p, Limit: 51})
			return err
		}, JobSorting.Names()},
		{"events of a name", "events_by_name", func(r Reads, sort string, p *Position) error {
			_, err := r.Events(t.Context(), EventFilter{WorkspaceID: domain.DefaultWorkspace, Object: "h1", Sort: sort, After: p, Limit: 51})
			return err
		}, EventSorting.Names()},
		{"events", "events_newest", func(r Reads, sort string, p *Position) error {
			_, err := r.Events(t.Context(), EventFilter{WorkspaceID: domain.DefaultWorkspace, Sort: sort, After: p, Limit: 51})
			return err
		}, EventSorting.Names()},
		{"tokens", "tokens_of_account tokens_by_age", func(r Reads, sort string, p *Position) error {
			_, err := r.Tokens(t.Context(), TokenFilter{AccountID: one, Sort: sort, After: p, Limit: 51})
			return err
		}, TokenSorting.Names()},
	} {
		indexes := strings.Fields(o.indexes)
		if len(o.sorts) != 2*len(indexes) {
			t.Errorf("%s: %v has no index each", o.noun, o.sorts)
			continue
		}
		for i, sort := range o.sorts {
			sent := &paper{}
			if err := o.read(Reads{q: over(sent)}, sort, &Position{Text: "m", Number: 5, Time: time.Now().Add(-time.Hour), ID: one}); err != nil {
				t.Fatal(err)
			}
			add(o.noun+" by "+sort, indexes[i/2], `Seq Scan on (jobs|compute_units|allocations|addresses|events|tokens)`, statement(sent.sent[0]), sent.args[0])
		}
	}
	sent := &paper{}
	if _, err := (Reads{q: over(sent)}).Allocations(t.Context(), AllocationFilter{WorkspaceID: domain.DefaultWorkspace, Labels: map[string]string{"team": "none"}, Limit: 51}); err != nil {
		t.Fatal(err)
	}
	add("allocations by label", "allocations_by_label", `Seq Scan on allocations`, statement(sent.sent[0]), sent.args[0])
	for _, s := range statements {
		plan := explain(t, db, s.sql, s.args...)
		if !regexp.MustCompile(s.uses).MatchString(plan) {
			t.Errorf("%s does not use %s:\n%s", s.name, s.uses, plan)
		}
		if bad := regexp.MustCompile(s.never).FindString(plan); bad != "" {
			t.Errorf("%s has %q in its plan:\n%s", s.name, bad, plan)
		}
	}
	// The claim's inner statement runs once: as a join it may claim too many.
	// Nor does the outer one walk over all that is queued.
	if plan := explain(t, db, statements[0].sql, statements[0].args...); !strings.Contains(plan, "InitPlan") || strings.Contains(plan, "Semi Join") || strings.Count(plan, statements[0].uses) != 1 {
		t.Errorf("claim:\n%s", plan)
	}
}

// TestStepsAndLocksAreWrittenInPlace: the begin of jobs writes their steps and
// the locks of their hosts on the pages that these are on, and no index. So does
// the end, unless a reader of before keeps the room from being used again.
func TestStepsAndLocksAreWrittenInPlace(t *testing.T) {
	t.Parallel()
	postgresOnly(t)
	db := crowded(t)
	const jobs = 200
	if _, err := db.pool.Exec(t.Context(), `
WITH queued AS (
     INSERT INTO jobs (id, workspace_id, kind, args, host_id, state, priority, deadline_at, max_attempts, requested_by)
     SELECT gen_random_uuid(), $1, 'host_decommission', '{}', l.host_id, 'queued', 1000, now() + INTERVAL '1 hour', 3, 'ada' FROM host_locks l WHERE l.job_id IS NULL LIMIT $2
     RETURNING id)
INSERT INTO job_steps (job_id, position, name, state) SELECT q.id, 0, 'decommission', 'pending' FROM queued q`, domain.DefaultWorkspace, jobs); err != nil {
		t.Fatal(err)
	}
	err := db.InTx(t.Context(), func(tx *Tx) error {
		before, err := inPlaceSoFar(t, tx)
		if err != nil {
			return err
		}
		if _, err := tx.ClaimJobs(t.Context(), uuid.New(), time.Minute, jobs); err != nil {
			return err
		}
		after, err := inPlaceSoFar(t, tx)
		for table, n := range after {
			if n -= before[table]; n < jobs*3/4 { // not all: a page may be full of rows of before
				t.Errorf("%d rows of %s written in place, of %d", n, table, jobs)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inPlaceSoFar tells of steps and locks how many rows the connection has written in place.
func inPlaceSoFar(t *testing.T, tx *Tx) (map[string]int, error) {
	t.Helper()
	rows := map[string]int{}
	for _, table := range []string{"job_steps", "host_locks"} {
		var n int
		if err := tx.q.QueryRow(t.Context(), `SELECT pg_stat_get_xact_tuples_hot_updated($1::TEXT::REGCLASS)`, table).Scan(&n); err != nil {
			return nil, err
		}
		rows[table] = n
	}
	return rows, nil
}

// TestWhatAClaimReadsIsNotSorted: a claim has sorting switched off. A plan that has
// to sort all the same is reckoned with a cost beyond all others, and compiled.
func TestWhatAClaimReadsIsNotSorted(t *testing.T) {
	t.Parallel()
	postgresOnly(t)
	db := crowded(t)
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), sqlDoNotSort); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []statement{sqlJob + " AND j.id = $1", sqlHost + " AND h.id = $1", sqlUnit + " AND u.id = $1", sqlAllocation + " AND a.id = $1"} {
		rows, err := tx.Query(t.Context(), "EXPLAIN "+string(sql), uuid.New())
		if err != nil {
			t.Fatal(err)
		}
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); strings.Contains(text, "cost=10000000") || strings.Contains(text, "JIT") {
			t.Errorf("%s", text)
		}
	}
}
