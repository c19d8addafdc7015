package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"kloigos/backend/internal/domain"
)

// TestEventsArePlannedOnce: PostgreSQL keeps the plan of a page of events, which
// reads along their index.
func TestEventsArePlannedOnce(t *testing.T) {
	t.Parallel()
	postgresOnly(t)
	db := crowded(t)
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	since := time.Now().Add(-time.Hour)
	at := Position{Time: time.Now(), ID: uuid.New()}
	for _, f := range []EventFilter{{}, {After: &at}, {Since: &since}, {Action: "x"}, {ObjectKind: "host", Actor: "ada"}} {
		f.WorkspaceID, f.Limit = domain.DefaultWorkspace, 51
		for range 10 {
			if _, err := (Reads{q: over(conn)}).Events(t.Context(), f); err != nil {
				t.Fatal(err)
			}
		}
		sent := &paper{}
		if _, err := (Reads{q: over(sent)}).Events(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		var kept bool
		var name string
		err := conn.QueryRow(t.Context(), `SELECT name, generic_plans > 0 FROM pg_prepared_statements WHERE statement = $1`, sent.sent[0]).Scan(&name, &kept)
		if err != nil || !kept {
			t.Errorf("it is planned each time (%v):\n%s", err, sent.sent[0])
		}
		plan := explainKept(t, conn.Conn(), name, sent.args[0])
		if !strings.Contains(plan, "events_newest") || strings.Contains(plan, "Sort") {
			t.Errorf("%s:\n%s", sent.sent[0], plan)
		}
	}
}

// TestPlacementIsPlannedOnce: the plan that is kept for all placements of a kind
// goes from one free unit to the next, whatever they ask for.
func TestPlacementIsPlannedOnce(t *testing.T) {
	t.Parallel()
	postgresOnly(t)
	db := crowded(t)
	conn, err := db.pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Release()
	if _, err := conn.Exec(t.Context(), strings.Replace(sqlPlanOnce, "LOCAL ", "", 1)); err != nil {
		t.Fatal(err)
	}
	labels, kept := map[string]string{"rack": "r1"}, 0
	for _, w := range []Wanted{
		{}, {Zone: "z1"}, {Network: "default"}, {HostLabels: labels}, {Region: "r", HostLabels: labels, Network: "default", Zone: "z1"},
	} {
		w.WorkspaceID, w.MinCPUs, w.LoginUser = domain.DefaultWorkspace, 2, "ada"
		index := "compute_units_free"
		if w.Zone != "" {
			index = "compute_units_free_in_zone"
		}
		walked := regexp.MustCompile(`Index Scan using ` + index + ` on compute_units u `)
		for _, l := range w.searches(true) {
			if !l.IsPlannedOnce() {
				continue
			}
			kept++
			sql, args := l.Locked("u.cpu_count, u.shuffle", 1, "FOR UPDATE OF u SKIP LOCKED")
			prepared, err := conn.Conn().Prepare(t.Context(), fmt.Sprint("placement ", kept), string(sql))
			if err != nil {
				t.Fatal(err)
			}
			plan := explainKept(t, conn.Conn(), prepared.Name, args)
			for _, index := range []string{"hosts_pkey", "addresses_free", "allocations_live_login"} {
				if !strings.Contains(plan, index) {
					t.Errorf("%s is not used", index)
				}
			}
			if !walked.MatchString(plan) || regexp.MustCompile(`Sort|Seq Scan on (compute_units [ucs]|allocations|hosts|addresses)`).MatchString(plan) || t.Failed() {
				t.Errorf("%s:\n%s", sql, plan)
			}
		}
	}
	if kept != 14 {
		t.Errorf("%d statements of placement are planned once", kept)
	}
	if _, err := db.pool.Exec(t.Context(), `UPDATE compute_units SET state = 'free'`); err != nil {
		t.Fatal(err)
	}
	err = db.InTx(t.Context(), func(tx *Tx) error {
		for range 3 {
			for _, w := range []Wanted{{}, {HostLabels: labels}} { // labels that all hosts have
				w.WorkspaceID = domain.DefaultWorkspace
				if _, ok, err := tx.PickUnit(t.Context(), w); err != nil || !ok {
					return fmt.Errorf("no unit was picked: %w", err)
				}
			}
		}
		var generic, custom int
		var mode string
		err := tx.q.QueryRow(t.Context(),
			`SELECT sum(generic_plans), sum(custom_plans), current_setting('plan_cache_mode') FROM pg_prepared_statements WHERE statement LIKE '%OF u SKIP LOCKED'`).Scan(&generic, &custom, &mode)
		if err == nil && (generic < 6 || custom != 0 || mode != "auto") {
			t.Errorf("%d plans for all values, %d for some, and then %s", generic, custom, mode)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestRoomyHostIsFound, on either database, be it one of 400.
func TestRoomyHostIsFound(t *testing.T) {
	t.Parallel()
	db := crowded(t)
	if _, err := db.pool.Exec(t.Context(), `UPDATE compute_units SET state = 'free' WHERE name LIKE 'h77-%'`); err != nil {
		t.Fatal(err)
	}
	again := errors.New("to be picked again")
	for _, zone := range []string{"", "z1"} { // that of h77
		for cpus := range 13 {
			for _, postgres := range []bool{true, false} {
				if postgres && db.Cockroach() {
					continue
				}
				var picked Picked
				err := db.InTx(t.Context(), func(tx *Tx) error {
					looks := Wanted{WorkspaceID: domain.DefaultWorkspace, MinCPUs: cpus, Zone: zone}.searches(postgres)
					for _, l := range looks[:len(looks)-1] {
						var ok bool
						var err error
						if picked, ok, err = tx.pickFree(t.Context(), l); ok || err != nil {
							return errors.Join(err, again)
						}
					}
					return errors.New("found none")
				})
				if want := fmt.Sprintf("h77-cu%d", max(1, cpus)); picked.Name != want || !errors.Is(err, again) {
					t.Errorf("%d CPUs in zone %q, PostgreSQL's way %v: %q, not %s: %v", cpus, zone, postgres, picked.Name, want, err)
				}
			}
		}
	}
}

// explainKept is the plan of a prepared statement for all values.
func explainKept(t *testing.T, conn *pgx.Conn, name string, args []any) string {
	t.Helper()
	rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE "+pgx.Identifier{name}.Sanitize()+"("+literals(t, args)+")", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func literals(t *testing.T, args []any) string {
	t.Helper()
	var all []string
	for _, a := range args {
		switch v := a.(type) {
		case time.Time:
			a = v.Format(time.RFC3339Nano)
		case map[string]string:
			j, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			a = string(j)
		}
		all = append(all, fmt.Sprintf("'%v'", a))
	}
	return strings.Join(all, ", ")
}
