package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlHostGrant = `
SELECT t.id, t.workspace_id, t.host_id, h.name AS host, t.scope, t.scope_id, t.units, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM allocations a WHERE a.host_grant_id = t.id AND a.ended_at IS NULL) AS in_use
  FROM host_grants t
  JOIN hosts h ON h.id = t.host_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE h.removed_at IS NULL
   AND (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM allocations l WHERE l.host_grant_id = t.id AND l.ended_at IS NULL))`

// FindHostGrant finds a grant of a host of a workspace.
func FindHostGrant(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (HostGrant, scope.Ref[HostGrant], error) {
	return scope.FindByID(ctx, q, sqlHostGrant+" AND t.workspace_id = $1 AND t.id = $2", workspace, text, func(g HostGrant) uuid.UUID { return g.ID })
}

// HostGrantSorting is the orders that grants of hosts can be listed in.
var HostGrantSorting = db.Sorting[HostGrant]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("t.created_at"), db.ByID("t.id")}, At: func(g HostGrant) db.Position {
		return db.Position{Time: g.CreatedAt, ID: g.ID}
	}},
}

// HostGrantFilter narrows a list of grants of hosts.
type HostGrantFilter struct {
	WorkspaceID uuid.UUID
	Host        string // its id or name
	Sort        string // one of HostGrantSorting; "" for the first
	After       *db.Position
	Limit       int
}

// HostGrants lists the grants of the hosts of a workspace.
func HostGrants(ctx context.Context, q db.Reader, f HostGrantFilter) ([]HostGrant, error) {
	l := db.NewList(sqlHostGrant).And("t.workspace_id = ?", f.WorkspaceID)
	if id, err := uuid.Parse(f.Host); err == nil {
		l.And("t.host_id = ?", id)
	} else {
		l.AndIf(f.Host, "h.name = ?")
	}
	return HostGrantSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// RoomOnSharedHosts selects the hosts of other workspaces that the workspace $1 may use, each with the number of allocations
// that its grants still let in.
const RoomOnSharedHosts db.Statement = `SELECT g.host_id,
                   CASE WHEN bool_or(g.units IS NULL) THEN NULL ELSE sum(g.units)::INT8 END AS units,
                   sum(CASE WHEN g.units IS NULL THEN 1000000
                            ELSE greatest(0, g.units - (SELECT count(*) FROM allocations ga WHERE ga.host_grant_id = g.id AND ga.ended_at IS NULL)) END)::INT8 AS room
              FROM host_grants g
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN ` + scope.ChainOf + `
             GROUP BY g.host_id`

const sqlSharedHost = `
SELECT h.id, h.name, h.region, h.zone, (h.state = 'ready' AND h.health <> 'unreachable' AND h.job_health <> 'degraded') AS available, s.units,
       (SELECT count(*) FROM allocations a WHERE a.host_id = h.id AND a.workspace_id = $1 AND a.ended_at IS NULL) AS in_use,
       least(s.room, (SELECT count(*) FROM compute_units u WHERE u.host_id = h.id AND u.state = 'free'))::INT8 AS free
  FROM (` + RoomOnSharedHosts + `) s
  JOIN hosts h ON h.id = s.host_id
 WHERE h.removed_at IS NULL`

// FindSharedHost finds a host of another workspace that a workspace may use. Names are unique in one workspace only: of several
// hosts of a name none is meant.
func FindSharedHost(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (SharedHost, error) {
	l := db.NewList(sqlSharedHost, workspace)
	if id, err := uuid.Parse(text); err == nil {
		l.And("h.id = ?", id)
	} else {
		l.And("h.name = ?", text)
	}
	sql, args := l.Page("h.id", mostNamed)
	found, err := db.Collect[SharedHost](ctx, q, sql, args...)
	switch {
	case err != nil:
		return SharedHost{}, fmt.Errorf("find a shared host: %w", err)
	case len(found) != 1:
		return SharedHost{}, fault.ErrNotFound
	}
	return found[0], nil
}

// SharedCapacity is hosts of other workspaces, with the units that this one can still take there and those that it has.
type SharedCapacity struct {
	Hosts int   `db:"hosts"`
	Free  int64 `db:"free"`
	InUse int64 `db:"in_use"`
}

const sqlSharedCapacity = `
SELECT count(*) AS hosts, COALESCE(sum(CASE WHEN e.available THEN e.free ELSE 0 END), 0)::INT8 AS free, COALESCE(sum(e.in_use), 0)::INT8 AS in_use
  FROM (` + sqlSharedHost + `) e`

// CapacityOfShared counts what hosts of other workspaces have that a workspace may use.
func CapacityOfShared(ctx context.Context, q db.Reader, workspace uuid.UUID) (SharedCapacity, error) {
	c, err := db.First[SharedCapacity](ctx, q, fault.ErrNotFound, sqlSharedCapacity, workspace)
	if err != nil {
		return c, fmt.Errorf("count shared hosts: %w", err)
	}
	return c, nil
}

// SharedHostSorting is the orders that shared hosts can be listed in.
var SharedHostSorting = db.Sorting[SharedHost]{
	{Name: "name", Columns: []db.Column{db.ByText("h.name"), db.ByID("h.id")}, At: func(h SharedHost) db.Position {
		return db.Position{Text: h.Name, ID: h.ID}
	}},
}

// SharedHosts lists the hosts of other workspaces that a workspace may use.
func SharedHosts(ctx context.Context, q db.Reader, workspace uuid.UUID, sort string, after *db.Position, limit int) ([]SharedHost, error) {
	return SharedHostSorting.Read(ctx, q, db.NewList(sqlSharedHost, workspace), sort, after, limit)
}

const (
	sqlHostToGrant = `
SELECT h.id, h.name, h.purpose
  FROM hosts h
 WHERE h.workspace_id = $1 AND h.removed_at IS NULL`

	sqlHostToGrantByID = sqlHostToGrant + ` AND h.id = $2`

	sqlInsertHostGrant = `
INSERT INTO host_grants (id, workspace_id, host_id, scope, scope_id, units, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING`

	sqlHoldHostGrant = `
SELECT g.id
  FROM host_grants g
 WHERE g.id = $1
   FOR UPDATE`

	sqlHostGrantByID = sqlHostGrant + ` AND t.id = $1`

	sqlChangeHostGrant = `
UPDATE host_grants
   SET units = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRevokeHostGrant = `
UPDATE host_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRevokeGrantsOfHost = `
UPDATE host_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE host_id = $1 AND revoked_at IS NULL`

	sqlRevokeHostGrantsTo = `
UPDATE host_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE scope_id = $1 AND revoked_at IS NULL`
)

// grantable is a host that can be granted.
type grantable struct {
	ID      uuid.UUID `db:"id"`
	Name    string    `db:"name"`
	Purpose string    `db:"purpose"`
}

// FindHostToGrant finds a host of a workspace.
func FindHostToGrant(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (scope.Ref[HostGrant], error) {
	found, ref, err := scope.Find(ctx, q, sqlHostToGrantByID, sqlHostToGrant+" AND h.name = $2", workspace, text, func(h grantable) uuid.UUID { return h.ID })
	return scope.Found[HostGrant](found.ID, ref.Workspace()), err
}

const (
	sqlGrantsThatLetIn = `
SELECT g.id, g.units
  FROM host_grants g
 WHERE g.host_id = $2 AND g.revoked_at IS NULL AND g.scope_id IN ` + scope.ChainOf + `
 ORDER BY g.id
   FOR UPDATE`

	sqlLetIn = `
SELECT count(*) AS n
  FROM allocations a
 WHERE a.host_grant_id = $1 AND a.ended_at IS NULL`
)

// ErrNoHostGrant says that no grant lets a workspace onto a host any more.
var ErrNoHostGrant = fault.Conflictf("host_grant_gone", "another request took the last unit of the grant, or it was revoked")

// LetIn is the grant by which a workspace may have one more allocation on a host of another workspace. Its row is held, so that
// nobody takes the same place, and nobody revokes it unseen.
func LetIn(ctx context.Context, tx *db.Tx, workspace, host uuid.UUID) (uuid.UUID, error) {
	type row struct {
		ID    uuid.UUID `db:"id"`
		Units *int64    `db:"units"`
	}
	type live struct {
		N int64 `db:"n"`
	}
	grants, err := db.Collect[row](ctx, tx.Reader, sqlGrantsThatLetIn, workspace, host)
	if err != nil {
		return uuid.Nil, fmt.Errorf("hold the grants of a host: %w", err)
	}
	for _, g := range grants {
		if g.Units == nil {
			return g.ID, nil
		}
		taken, err := db.First[live](ctx, tx.Reader, fault.ErrNotFound, sqlLetIn, g.ID)
		if err != nil {
			return uuid.Nil, fmt.Errorf("count what a grant of a host let in: %w", err)
		}
		if taken.N < *g.Units {
			return g.ID, nil
		}
	}
	return uuid.Nil, ErrNoHostGrant
}

const sqlLeavesBehind = `
SELECT count(*) AS n
  FROM allocations a
  JOIN host_grants g ON g.id = a.host_grant_id
 WHERE a.workspace_id = $1 AND a.ended_at IS NULL AND g.scope = 'project' AND g.scope_id <> $2`

// leavesBehind is how many allocations of a workspace are on hosts by grants to another project than the given one.
func leavesBehind(ctx context.Context, q db.Reader, workspace, project uuid.UUID) (int64, error) {
	type row struct {
		N int64 `db:"n"`
	}
	r, err := db.First[row](ctx, q, fault.ErrNotFound, sqlLeavesBehind, workspace, project)
	return r.N, err
}
