package store

import (
	"context"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/reconcile"
)

// Each finds objects in a state with a deadline: past it, or without a job for $3 seconds. $1 are states, $2 their deadlines in
// seconds. Nothing is locked here; Stuck locks what it ends.
const (
	late = `
 WHERE l.since < now() - l.seconds * INTERVAL '1 second' OR (j.id IS NULL AND l.since < now() - $3::INT8 * INTERVAL '1 second')
 ORDER BY l.since, l.id
 LIMIT 500`

	lateColumns = `
SELECT l.id, l.state, l.since, l.seconds, j.id AS job_id, j.state AS job_state`

	sqlLateHosts = lateColumns + `
  FROM (SELECT h.id, h.state, h.updated_at AS since, d.seconds,
               (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.unit_id IS NULL AND j.finished_at IS NULL ORDER BY j.created_at DESC LIMIT 1) AS job
          FROM hosts h
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = h.state
         WHERE h.removed_at IS NULL) AS l
  LEFT JOIN jobs j ON j.id = l.job` + late

	sqlLateUnits = lateColumns + `
  FROM (SELECT u.id, u.state, u.updated_at AS since, d.seconds,
               (SELECT j.id FROM jobs j
                 WHERE j.host_id = u.host_id AND (j.unit_id = u.id OR j.unit_id IS NULL) AND j.finished_at IS NULL
                 ORDER BY j.created_at DESC LIMIT 1) AS job
          FROM compute_units u
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = u.state) AS l
  LEFT JOIN jobs j ON j.id = l.job` + late

	sqlLateAllocations = lateColumns + `
  FROM (SELECT a.id, a.state, a.updated_at AS since, d.seconds,
               (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.finished_at IS NULL ORDER BY j.created_at DESC LIMIT 1) AS job
          FROM allocations a
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = a.state
         WHERE a.ended_at IS NULL) AS l
  LEFT JOIN jobs j ON j.id = l.job` + late

	sqlLatePlans = lateColumns + `
  FROM (SELECT p.id, p.state, p.created_at AS since, d.seconds, p.job_id AS job
          FROM plans p
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = p.state) AS l
  LEFT JOIN jobs j ON j.id = l.job AND j.finished_at IS NULL` + late
)

const endedByStuck = "The policy stuck ends it when its deadline is over: it becomes what the failure of its job would have made it. Retry it then."

// InFlight finds the late objects of each noun whose states have deadlines.
func InFlight() []reconcile.Source {
	source := func(noun string, sql db.Statement, deadlines func() ([]string, []int64)) reconcile.Source {
		return reconcile.Source{Noun: noun, Ends: endedByStuck, Find: func(ctx context.Context, q db.Reader) ([]reconcile.Late, error) {
			states, seconds := deadlines()
			return db.Collect[reconcile.Late](ctx, q, sql, states, seconds, int64(reconcile.WithoutAJob))
		}}
	}
	return []reconcile.Source{
		source(domain.HostLifecycle.Noun, sqlLateHosts, domain.HostLifecycle.Deadlines),
		source(domain.UnitLifecycle.Noun, sqlLateUnits, domain.UnitLifecycle.Deadlines),
		source(domain.AllocationLifecycle.Noun, sqlLateAllocations, domain.AllocationLifecycle.Deadlines),
		source(domain.PlanLifecycle.Noun, sqlLatePlans, domain.PlanLifecycle.Deadlines),
	}
}
