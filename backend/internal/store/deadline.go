package store

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/reconcile"
)

// Each gives the objects in a state of $1, with the seconds of $2 that they may be in it, and the job that is at work on them:
// see reconcile.Deadlines.
const (
	movingHosts = `
  FROM (SELECT h.id, h.state, h.updated_at AS since, d.seconds,
               (SELECT j.id FROM jobs j WHERE j.host_id = h.id AND j.unit_id IS NULL AND j.finished_at IS NULL ORDER BY j.created_at DESC LIMIT 1) AS job
          FROM hosts h
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = h.state
         WHERE h.removed_at IS NULL) AS l`
	sqlHostsDue  = reconcile.SQLDue + movingHosts + reconcile.SQLDueOf
	sqlFindHost  = reconcile.SQLFind + movingHosts + reconcile.SQLFindOne
	sqlListHosts = reconcile.SQLList + movingHosts + reconcile.SQLListPage

	movingUnits = `
  FROM (SELECT u.id, u.state, u.updated_at AS since, d.seconds,
               (SELECT j.id FROM jobs j
                 WHERE j.host_id = u.host_id AND (j.unit_id = u.id OR j.unit_id IS NULL) AND j.finished_at IS NULL
                 ORDER BY j.created_at DESC LIMIT 1) AS job
          FROM compute_units u
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = u.state) AS l`
	sqlUnitsDue  = reconcile.SQLDue + movingUnits + reconcile.SQLDueOf
	sqlFindUnit  = reconcile.SQLFind + movingUnits + reconcile.SQLFindOne
	sqlListUnits = reconcile.SQLList + movingUnits + reconcile.SQLListPage

	movingAllocations = `
  FROM (SELECT a.id, a.state, a.updated_at AS since, d.seconds,
               (SELECT j.id FROM jobs j WHERE j.allocation_id = a.id AND j.finished_at IS NULL ORDER BY j.created_at DESC LIMIT 1) AS job
          FROM allocations a
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = a.state
         WHERE a.ended_at IS NULL) AS l`
	sqlAllocationsDue  = reconcile.SQLDue + movingAllocations + reconcile.SQLDueOf
	sqlFindAllocation  = reconcile.SQLFind + movingAllocations + reconcile.SQLFindOne
	sqlListAllocations = reconcile.SQLList + movingAllocations + reconcile.SQLListPage

	movingPlans = `
  FROM (SELECT p.id, p.state, p.created_at AS since, d.seconds, p.job_id AS job
          FROM plans p
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = p.state) AS l`
	sqlPlansDue  = reconcile.SQLDue + movingPlans + reconcile.SQLDueOf
	sqlFindPlan  = reconcile.SQLFind + movingPlans + reconcile.SQLFindOne
	sqlListPlans = reconcile.SQLList + movingPlans + reconcile.SQLListPage

	endsAtDeadline = "This policy ends it when its deadline is over: it becomes what the failure of its job would have made it. Retry it then."
)

// InFlight is what the nouns here hand in whose states have deadlines. How one of them ends is the intents' business.
func InFlight() []reconcile.Deadlines {
	all := []reconcile.Deadlines{
		{Noun: nounHost, States: domain.HostLifecycle.Deadlines, Due: sqlHostsDue, Find: sqlFindHost, List: sqlListHosts, Lock: sqlHoldHost},
		{Noun: nounUnit, States: domain.UnitLifecycle.Deadlines, Due: sqlUnitsDue, Find: sqlFindUnit, List: sqlListUnits, Lock: sqlHoldUnit},
		{Noun: nounAllocation, States: domain.AllocationLifecycle.Deadlines, Due: sqlAllocationsDue, Find: sqlFindAllocation, List: sqlListAllocations, Lock: sqlHoldAllocation},
		{Noun: nounPlan, States: domain.PlanLifecycle.Deadlines, Due: sqlPlansDue, Find: sqlFindPlan, List: sqlListPlans, Lock: sqlHoldPlan},
	}
	for i := range all {
		all[i].AtDeadline, all[i].Ends = true, endsAtDeadline
	}
	return all
}

// $2: states of hosts, $3: of allocations.
const sqlUnitMovesWith = `
SELECT EXISTS (SELECT 1 FROM hosts h WHERE h.id = u.host_id AND h.state = ANY($2::TEXT[]))
       OR EXISTS (SELECT 1 FROM allocations a WHERE a.unit_id = u.id AND a.ended_at IS NULL AND a.state = ANY($3::TEXT[]))
  FROM compute_units u
 WHERE u.id = $1`

// UnitMovesWith tells whether a unit's host, or its allocation, is on its way: the end of that is the unit's end too.
func (r Reads) UnitMovesWith(ctx context.Context, unit uuid.UUID) (with bool, err error) {
	hosts, _ := domain.HostLifecycle.Deadlines()
	allocations, _ := domain.AllocationLifecycle.Deadlines()
	if err := r.q.QueryRow(ctx, sqlUnitMovesWith, unit, hosts, allocations).Scan(&with); err != nil {
		return false, fmt.Errorf("look what unit %s moves with: %w", unit, err)
	}
	return with, nil
}
