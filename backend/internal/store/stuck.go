package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/domain"
	"kloigos/backend/internal/kernel/db"
)

// Stuck is an object that is in flight, was touched by nobody for as long as it
// may be so, and has no job that would bring it to an end.
type Stuck struct {
	Noun         string     `db:"noun"` // of its lifecycle
	ID           uuid.UUID  `db:"id"`
	Workspace    uuid.UUID  `db:"workspace_id"`
	Name         string     `db:"name"`
	State        string     `db:"state"`
	HostID       uuid.UUID  `db:"host_id"`
	UnitID       *uuid.UUID `db:"unit_id"`       // of a unit and an allocation, else nil
	AllocationID *uuid.UUID `db:"allocation_id"` // of an allocation, else nil
	Since        time.Time  `db:"since"`
}

// Each locks what it finds: a job for it can't be asked for meanwhile, and once
// one was, the row is no longer old. $1 and $2: states, and the seconds that an
// object may be in each; $3: ids to leave alone.
const (
	sqlStuckHost = `
SELECT 'host' AS noun, h.id, h.workspace_id, h.name, h.state, h.id AS host_id, NULL::UUID AS unit_id, NULL::UUID AS allocation_id, h.updated_at AS since
  FROM hosts h
  JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = h.state
 WHERE h.removed_at IS NULL AND h.updated_at < now() - d.seconds * INTERVAL '1 second'
   AND h.id <> ALL($3::UUID[])
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.host_id = h.id AND j.unit_id IS NULL AND j.state = 'queued')
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.host_id = h.id AND j.unit_id IS NULL AND j.lease_expires_at IS NOT NULL)
 ORDER BY h.id
 LIMIT 1
   FOR UPDATE OF h SKIP LOCKED`

	sqlStuckAllocation = `
SELECT 'allocation' AS noun, a.id, a.workspace_id, a.login_user AS name, a.state, a.host_id, a.unit_id, a.id AS allocation_id, a.updated_at AS since
  FROM allocations a
  JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = a.state
 WHERE a.ended_at IS NULL AND a.updated_at < now() - d.seconds * INTERVAL '1 second'
   AND a.id <> ALL($3::UUID[])
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.allocation_id = a.id AND j.finished_at IS NULL)
 ORDER BY a.id
 LIMIT 1
   FOR UPDATE OF a SKIP LOCKED`

	sqlStuckUnit = `
SELECT 'unit' AS noun, u.id, u.workspace_id, u.name, u.state, u.host_id, u.id AS unit_id, NULL::UUID AS allocation_id, u.updated_at AS since
  FROM compute_units u
  JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = u.state
 WHERE u.updated_at < now() - d.seconds * INTERVAL '1 second'
   AND u.id <> ALL($3::UUID[])
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.host_id = u.host_id AND (j.unit_id = u.id OR j.unit_id IS NULL) AND j.state = 'queued')
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.host_id = u.host_id AND (j.unit_id = u.id OR j.unit_id IS NULL) AND j.lease_expires_at IS NOT NULL)
 ORDER BY u.id
 LIMIT 1
   FOR UPDATE OF u SKIP LOCKED`

	sqlStuckPlan = `
SELECT 'plan' AS noun, p.id, p.workspace_id, p.action AS name, p.state, p.host_id, NULL::UUID AS unit_id, NULL::UUID AS allocation_id, p.created_at AS since
  FROM plans p
  JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = p.state
 WHERE p.created_at < now() - d.seconds * INTERVAL '1 second'
   AND p.id <> ALL($3::UUID[])
   AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.id = p.job_id AND j.finished_at IS NULL)
 ORDER BY p.id
 LIMIT 1
   FOR UPDATE OF p SKIP LOCKED`
)

// Stuck finds one object that is stuck and is none of those to go past, and
// holds it until the transaction ends: hosts first, since their failure is that
// of their units too, and allocations before units for the same reason.
// domain.ErrNotFound if there is none.
func (tx *Tx) Stuck(ctx context.Context, past []uuid.UUID) (Stuck, error) {
	if tx.Cockroach() {
		if _, err := tx.Exec(ctx, sqlLockReturned); err != nil {
			return Stuck{}, fmt.Errorf("look for what is stuck: %w", err)
		}
	}
	past = append([]uuid.UUID{}, past...) // nil would be NULL, and nothing is unlike that
	for _, noun := range []struct {
		sql       db.Statement
		deadlines func() ([]string, []int64)
	}{
		{sqlStuckHost, domain.HostLifecycle.Deadlines},
		{sqlStuckAllocation, domain.AllocationLifecycle.Deadlines},
		{sqlStuckUnit, domain.UnitLifecycle.Deadlines},
		{sqlStuckPlan, domain.PlanLifecycle.Deadlines},
	} {
		states, seconds := noun.deadlines()
		s, err := db.First[Stuck](ctx, tx.q, domain.ErrNotFound, noun.sql, states, seconds, past)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, domain.ErrNotFound) {
			return s, fmt.Errorf("look for what is stuck: %w", err)
		}
	}
	return Stuck{}, domain.ErrNotFound
}
