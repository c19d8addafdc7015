package drift

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// settleSeconds is how long after the end of a job what an agent saw may be from before: it looks every 30 s, and tells every 10 s.
const settleSeconds = 45

const sqlHost = `
SELECT h.id, h.workspace_id, h.organization_id, h.name, h.state, h.incarnation,
       (h.removed_at IS NOT NULL OR h.state NOT IN ('ready', 'draining', 'initializing', 'init_failed')) AS gone,
       h.layout->>'system_cpus' AS system_cpus, h.layout->>'volume_group' AS volume_group,
       h.facts->'uplink'->>'interface' AS uplink, h.facts->'uplink'->>'gateway' AS gateway,
       (h.state IN ('initializing', 'init_failed')
        OR EXISTS (SELECT 1 FROM jobs j
                    WHERE j.host_id = h.id AND j.kind NOT IN ('host_probe', 'host_measure', 'plan')
                      AND (j.state IN ('running', 'cancelling') OR j.finished_at > now() - $2::INT8 * INTERVAL '1 second'))) AS busy
  FROM hosts h
 WHERE h.id = $1`

// HostByID reads what a host was promised.
func HostByID(ctx context.Context, q db.Reader, id uuid.UUID) (Host, error) {
	return db.First[Host](ctx, q, fault.ErrNotFound, sqlHost, id, int64(settleSeconds))
}

const sqlHostIDs = `
SELECT h.id
  FROM hosts h
 WHERE h.id > $1 AND h.removed_at IS NULL AND h.state IN ('ready', 'draining', 'initializing', 'init_failed')
 ORDER BY h.id
 LIMIT $2`

// HostIDs lists the ids of prepared hosts behind one of them, ascending.
func HostIDs(ctx context.Context, q db.Reader, after uuid.UUID, limit int) ([]uuid.UUID, error) {
	return db.IDs(ctx, q, "list hosts", sqlHostIDs, after, limit)
}

const sqlUnits = `
SELECT u.id, u.name, u.ordinal::INT8 AS ordinal, u.cpus, u.memory_nodes, u.memory_max_bytes, u.memory_high_bytes, u.tasks_max::INT8 AS tasks_max,
       a.id AS allocation_id, a.login_user, a.uid, a.address, a.unit_network, a.ssh_keys,
       (u.state = 'allocated' AND a.state = 'allocated' AND a.keys_version = a.keys_applied) AS settled
  FROM compute_units u
  JOIN allocations a ON a.unit_id = u.id AND a.ended_at IS NULL
 WHERE u.host_id = $1 AND u.state <> 'removed'
 ORDER BY u.ordinal`

// Units reads what the units of a host with tenants were promised.
func Units(ctx context.Context, q db.Reader, host uuid.UUID) ([]Unit, error) {
	units, err := db.Collect[Unit](ctx, q, sqlUnits, host)
	if err != nil {
		return nil, fmt.Errorf("read the units of host %s: %w", host, err)
	}
	return units, nil
}

const sqlDrift = `
SELECT d.id, d.workspace_id, d.host_id, h.name AS host_name, d.unit_id, d.allocation_id, d.name, d.promise, d.promised, d.found, d.state,
       d.state_message, d.job_id, d.repaired_at, d.repairs, d.accepted_by, d.accept_until, d.since, d.ended_at, d.version
  FROM drifts d
  JOIN hosts h ON h.id = d.host_id
 WHERE true`

// ByID returns a drift.
func ByID(ctx context.Context, q db.Reader, id uuid.UUID) (Drift, error) {
	return db.First[Drift](ctx, q, fault.ErrNotFound, sqlDrift+" AND d.id = $1", id)
}

// Find finds a drift of a workspace.
func Find(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Drift, scope.Ref[Drift], error) {
	return scope.FindByID(ctx, q, sqlDrift+" AND d.workspace_id = $1 AND d.id = $2", workspace, text,
		func(d Drift) uuid.UUID { return d.ID })
}

// Unended are the drifts of a host that have not ended.
func Unended(ctx context.Context, q db.Reader, host uuid.UUID) ([]Drift, error) {
	return db.Collect[Drift](ctx, q, sqlDrift+" AND d.host_id = $1 AND d.ended_at IS NULL ORDER BY d.unit_id, d.promise", host)
}

const sqlHold = `
SELECT d.id
  FROM drifts d
 WHERE d.id = $1
   FOR NO KEY UPDATE`

func hold(ctx context.Context, tx *db.Tx, id uuid.UUID) (Drift, error) {
	if _, err := db.IDs(ctx, tx.Reader, "hold a drift", sqlHold, id); err != nil {
		return Drift{}, err
	}
	return ByID(ctx, tx.Reader, id)
}

// Sorting is the orders that drifts can be listed in.
var Sorting = db.Sorting[Drift]{
	{Name: "-since", Columns: []db.Column{db.ByTime("d.since"), db.ByID("d.id")}, At: func(d Drift) db.Position {
		return db.Position{Time: d.Since, ID: d.ID}
	}},
}

// Filter narrows a list of drifts.
type Filter struct {
	WorkspaceID, HostID, UnitID uuid.UUID // uuid.Nil for all
	State, Promise              string    // State "": all but ended ones
	Sort                        string
	After                       *db.Position
	Limit                       int
}

// Drifts lists drifts.
func Drifts(ctx context.Context, q db.Reader, f Filter) ([]Drift, error) {
	l := db.NewList(sqlDrift).And("d.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "d.state = ?").AndIf(f.Promise, "d.promise = ?")
	if f.State == "" {
		l.And("d.ended_at IS NULL")
	}
	if f.HostID != uuid.Nil {
		l.And("d.host_id = ?", f.HostID)
	}
	if f.UnitID != uuid.Nil {
		l.And("d.unit_id = ?", f.UnitID)
	}
	return Sorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlInsert = `
INSERT INTO drifts (id, workspace_id, host_id, unit_id, allocation_id, name, promise, promised, found, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'open')
ON CONFLICT (host_id, unit_id, promise) WHERE ended_at IS NULL DO NOTHING`

const sqlSee = `
UPDATE drifts
   SET promised = $2, found = $3, allocation_id = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND ended_at IS NULL`

const sqlMove = `
UPDATE drifts
   SET state = $3::TEXT, state_message = $4, ended_at = CASE WHEN $3::TEXT = 'ended' THEN now() END, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlRepair = `
UPDATE drifts
   SET job_id = $2, repaired_at = now(), repairs = repairs + 1
 WHERE id = $1`

const sqlAccept = `
UPDATE drifts
   SET accepted_by = $2, accept_until = $3
 WHERE id = $1`

const sqlJobRuns = `
SELECT j.id
  FROM jobs j
 WHERE j.id = $1 AND j.finished_at IS NULL`

func jobRuns(ctx context.Context, q db.Reader, job *uuid.UUID) (bool, error) {
	if job == nil {
		return false, nil
	}
	found, err := db.IDs(ctx, q, "look for the job of a repair", sqlJobRuns, *job)
	return len(found) > 0, err
}

const sqlRepairsLately = `
SELECT COALESCE(sum(d.repairs), 0)::INT8 AS n
  FROM drifts d
 WHERE d.host_id = $1 AND d.unit_id = $2 AND d.promise = $3 AND d.repaired_at > now() - INTERVAL '1 hour'`

const sqlUnderRepair = `
SELECT count(*) AS n
  FROM drifts d
 WHERE d.state = 'repairing'`

type count struct {
	N int64 `db:"n"`
}

func counted(ctx context.Context, q db.Reader, sql db.Statement, args ...any) (int64, error) {
	c, err := db.First[count](ctx, q, fault.ErrNotFound, sql, args...)
	return c.N, err
}

const sqlSettings = `
SELECT m.scope, m.scope_id, m.mode, m.window_day, m.window_from, m.window_hours, m.updated_by, m.updated_at
  FROM drift_modes m
 WHERE m.scope_id = ANY($1::UUID[])
 ORDER BY m.scope, m.scope_id`

// Settings reads the modes of scopes.
func Settings(ctx context.Context, q db.Reader, scopes ...uuid.UUID) ([]Setting, error) {
	return db.Collect[Setting](ctx, q, sqlSettings, scopes)
}

const sqlNamed = `
SELECT m.scope, m.scope_id, m.mode, m.window_day, m.window_from, m.window_hours, m.updated_by, m.updated_at, COALESCE(h.name, u.name, w.name, '') AS name
  FROM drift_modes m
  LEFT JOIN hosts h ON m.scope = 'host' AND h.id = m.scope_id
  LEFT JOIN compute_units u ON m.scope = 'unit' AND u.id = m.scope_id
  LEFT JOIN workspaces w ON m.scope = 'workspace' AND w.id = m.scope_id
 WHERE COALESCE(h.workspace_id, u.workspace_id, w.id) = $1 AND ($2 = '' OR m.scope = $2) AND ($3 = m.scope_id OR $3 = '00000000-0000-0000-0000-000000000000'::UUID)
   AND h.removed_at IS NULL AND (u.state IS NULL OR u.state <> 'removed')
 ORDER BY m.scope, name, m.scope_id
 LIMIT 1000`

// Named is a setting with the name of its scope.
type Named struct {
	Setting
	Name string `db:"name"`
}

// SettingsOf lists the modes of a workspace, and of its hosts and units.
func SettingsOf(ctx context.Context, q db.Reader, workspace uuid.UUID, kind string) ([]Named, error) {
	return db.Collect[Named](ctx, q, sqlNamed, workspace, kind, uuid.Nil)
}

// SettingOf is the mode that was set for a scope.
func SettingOf(ctx context.Context, q db.Reader, ref scope.Ref[Scope]) (Named, error) {
	return db.First[Named](ctx, q, fault.ErrNotFound, sqlNamed, ref.Workspace(), "", ref.ID())
}

const sqlPutSetting = `
INSERT INTO drift_modes (scope, scope_id, mode, window_day, window_from, window_hours, updated_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (scope_id) DO UPDATE
   SET mode = excluded.mode, window_day = excluded.window_day, window_from = excluded.window_from, window_hours = excluded.window_hours,
       updated_by = excluded.updated_by, updated_at = now()`

const sqlScope = `
SELECT x.scope, x.id, x.name, x.host_id
  FROM (SELECT 'host' AS scope, h.id, h.name, h.id AS host_id, h.workspace_id FROM hosts h WHERE h.removed_at IS NULL
        UNION ALL
        SELECT 'unit', u.id, u.name, u.host_id, u.workspace_id FROM compute_units u WHERE u.state <> 'removed'
        UNION ALL
        SELECT 'workspace', w.id, w.name, w.id, w.id FROM workspaces w) AS x
 WHERE x.workspace_id = $1 AND x.scope = $2 AND (x.name = $3 OR x.id = $4)`

// Scope is what a mode can be set for.
type Scope struct {
	Scope  string    `db:"scope"`
	ID     uuid.UUID `db:"id"`
	Name   string    `db:"name"`
	HostID uuid.UUID `db:"host_id"`
}

// FindScope finds a host or a unit of a workspace by its id or its name, or the workspace itself.
func FindScope(ctx context.Context, q db.Reader, workspace uuid.UUID, kind, text string) (Scope, scope.Ref[Scope], error) {
	id, err := uuid.Parse(text)
	if err != nil {
		id = uuid.Nil
	}
	if kind == "workspace" {
		id = workspace
	}
	s, err := db.First[Scope](ctx, q, fault.ErrNotFound, sqlScope, workspace, kind, text, id)
	if err != nil {
		return Scope{}, scope.Ref[Scope]{}, err
	}
	return s, scope.Found[Scope](s.ID, workspace), nil
}

const sqlExpire = `
DELETE FROM drifts
 WHERE id IN (SELECT d.id FROM drifts d WHERE d.ended_at < now() - $1::INT8 * INTERVAL '1 second' ORDER BY d.ended_at LIMIT $2)`

// Expire forgets drifts that ended long ago.
func Expire(ctx context.Context, tx *db.Tx, age time.Duration, limit int64) (int64, error) {
	return tx.Exec(ctx, sqlExpire, int64(age.Seconds()), limit)
}
