package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlNetworkGrant = `
SELECT t.id, t.workspace_id, t.network_id, n.name AS network, t.scope, t.scope_id, t.addresses, t.version, t.created_by, t.created_at, t.updated_at, t.revoked_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path,
       (SELECT count(*) FROM addresses a WHERE a.network_grant_id = t.id) AS in_use
  FROM network_grants t
  JOIN networks n ON n.id = t.network_id
  LEFT JOIN workspaces w ON w.id = t.scope_id AND t.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
  LEFT JOIN projects p ON p.id = t.scope_id AND t.scope = 'project'
  JOIN organizations o ON o.id = COALESCE(wp.organization_id, p.organization_id, t.scope_id)
 WHERE (t.revoked_at IS NULL OR EXISTS (SELECT 1 FROM addresses l WHERE l.network_grant_id = t.id))`

// FindNetworkGrant finds a grant of a network of a workspace.
func FindNetworkGrant(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (NetworkGrant, scope.Ref[NetworkGrant], error) {
	return scope.FindByID(ctx, q, sqlNetworkGrant+" AND t.workspace_id = $1 AND t.id = $2", workspace, text, func(g NetworkGrant) uuid.UUID { return g.ID })
}

// NetworkGrantSorting is the orders that grants of networks can be listed in.
var NetworkGrantSorting = db.Sorting[NetworkGrant]{
	{Name: "-created_at", Columns: []db.Column{db.ByTime("t.created_at"), db.ByID("t.id")}, At: func(g NetworkGrant) db.Position {
		return db.Position{Time: g.CreatedAt, ID: g.ID}
	}},
}

// NetworkGrantFilter narrows a list of grants of networks.
type NetworkGrantFilter struct {
	WorkspaceID uuid.UUID
	Network     string // its id or name
	Sort        string // one of NetworkGrantSorting; "" for the first
	After       *db.Position
	Limit       int
}

// NetworkGrants lists the grants of the networks of a workspace.
func NetworkGrants(ctx context.Context, q db.Reader, f NetworkGrantFilter) ([]NetworkGrant, error) {
	l := db.NewList(sqlNetworkGrant).And("t.workspace_id = ?", f.WorkspaceID)
	if id, err := uuid.Parse(f.Network); err == nil {
		l.And("t.network_id = ?", id)
	} else {
		l.AndIf(f.Network, "n.name = ?")
	}
	return NetworkGrantSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// RoomInSharedNetworks selects the networks of other workspaces that hosts of the workspace $1 may carry, each with its pool and
// the number of addresses that its grants still give.
const RoomInSharedNetworks db.Statement = `SELECT g.network_id, gn.workspace_id, gn.name, gn.cidr,
                   CASE WHEN bool_or(g.addresses IS NULL) THEN NULL ELSE sum(g.addresses)::INT8 END AS addresses,
                   sum(CASE WHEN g.addresses IS NULL THEN 100000000
                            ELSE greatest(0, g.addresses - (SELECT count(*) FROM addresses ga WHERE ga.network_grant_id = g.id)) END)::INT8 AS room
              FROM network_grants g
              JOIN networks gn ON gn.id = g.network_id
             WHERE g.revoked_at IS NULL AND g.workspace_id <> $1 AND g.scope_id IN ` + scope.ChainOf + `
             GROUP BY g.network_id, gn.workspace_id, gn.name, gn.cidr`

const sqlSharedNetwork = `
SELECT s.network_id AS id, s.name, s.cidr, o.name AS organization, s.addresses,
       (SELECT count(*)
          FROM addresses p
          JOIN network_grants g ON g.id = p.network_grant_id
          JOIN allocations a ON a.id = p.allocation_id
         WHERE g.network_id = s.network_id AND a.workspace_id = $1) AS in_use,
       least(s.room, (SELECT count(*) FROM addresses f WHERE f.workspace_id = s.workspace_id AND f.network = s.name AND f.state = 'free'))::INT8 AS free,
       (SELECT count(*) FROM hosts h WHERE h.workspace_id = $1 AND h.removed_at IS NULL AND s.network_id::TEXT = ANY(h.networks)) AS hosts
  FROM (` + RoomInSharedNetworks + `) s
  JOIN workspaces w ON w.id = s.workspace_id
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE true`

// SharedNetworkSorting is the orders that shared networks can be listed in.
var SharedNetworkSorting = db.Sorting[SharedNetwork]{
	{Name: "name", Columns: []db.Column{db.ByText("s.name"), db.ByID("s.network_id")}, At: func(n SharedNetwork) db.Position {
		return db.Position{Text: n.Name, ID: n.ID}
	}},
}

// SharedNetworks lists the networks of other workspaces that hosts of a workspace may carry.
func SharedNetworks(ctx context.Context, q db.Reader, workspace uuid.UUID, sort string, after *db.Position, limit int) ([]SharedNetwork, error) {
	return SharedNetworkSorting.Read(ctx, q, db.NewList(sqlSharedNetwork, workspace), sort, after, limit)
}

const (
	sqlNetworkToGrant = `
SELECT n.id, n.name
  FROM networks n
 WHERE n.workspace_id = $1`

	sqlNetworkToGrantByID = sqlNetworkToGrant + ` AND n.id = $2`

	sqlKeepNetworkToGrant = sqlNetworkToGrantByID + `
   FOR SHARE`

	sqlInsertNetworkGrant = `
INSERT INTO network_grants (id, workspace_id, network_id, scope, scope_id, addresses, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING`

	sqlHoldNetworkGrant = `
SELECT g.id
  FROM network_grants g
 WHERE g.id = $1
   FOR UPDATE`

	sqlNetworkGrantByID = sqlNetworkGrant + ` AND t.id = $1`

	sqlChangeNetworkGrant = `
UPDATE network_grants
   SET addresses = $2, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRevokeNetworkGrant = `
UPDATE network_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlRevokeNetworkGrantsTo = `
UPDATE network_grants
   SET revoked_at = now(), version = version + 1, updated_at = now()
 WHERE scope_id = $1 AND revoked_at IS NULL`
)

// grantableNetwork is a network that can be granted.
type grantableNetwork struct {
	ID   uuid.UUID `db:"id"`
	Name string    `db:"name"`
}

// FindNetworkToGrant finds a network of a workspace.
func FindNetworkToGrant(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (scope.Ref[NetworkGrant], error) {
	found, ref, err := scope.Find(ctx, q, sqlNetworkToGrantByID, sqlNetworkToGrant+" AND n.name = $2", workspace, text, func(n grantableNetwork) uuid.UUID { return n.ID })
	return scope.Found[NetworkGrant](found.ID, ref.Workspace()), err
}

const (
	sqlGrantsOfNetworkTo = `
SELECT g.id, g.addresses, n.workspace_id, n.name
  FROM network_grants g
  JOIN networks n ON n.id = g.network_id
 WHERE g.network_id = $2 AND g.workspace_id <> $1 AND g.revoked_at IS NULL AND g.scope_id IN ` + scope.ChainOf + `
 ORDER BY g.id`

	sqlHoldGrantsOfNetworkTo = sqlGrantsOfNetworkTo + `
   FOR UPDATE OF g`

	sqlLent = `
SELECT count(*) AS n
  FROM addresses p
 WHERE p.network_grant_id = $1`
)

// ErrNoNetworkGrant says that no grant gives a workspace addresses of a network any more.
var ErrNoNetworkGrant = fault.Conflictf("network_grant_gone", "another request took the last address of the grant, or it was revoked")

// Lender is a grant that gives a workspace one more address, and the pool that it comes out of.
type Lender struct {
	ID          uuid.UUID `db:"id"`
	Addresses   *int64    `db:"addresses"`
	WorkspaceID uuid.UUID `db:"workspace_id"` // of the pool
	Name        string    `db:"name"`         // of the network
}

// Lend is the grant by which a workspace may have one more address of a network of another workspace. Its row is held, so that
// nobody takes the same place, and nobody revokes it unseen.
func Lend(ctx context.Context, tx *db.Tx, workspace, network uuid.UUID) (Lender, error) {
	type lent struct {
		N int64 `db:"n"`
	}
	grants, err := db.Collect[Lender](ctx, tx.Reader, sqlHoldGrantsOfNetworkTo, workspace, network)
	if err != nil {
		return Lender{}, fmt.Errorf("hold the grants of a network: %w", err)
	}
	for _, g := range grants {
		if g.Addresses == nil {
			return g, nil
		}
		taken, err := db.First[lent](ctx, tx.Reader, fault.ErrNotFound, sqlLent, g.ID)
		if err != nil {
			return Lender{}, fmt.Errorf("count what a grant of a network gave: %w", err)
		}
		if taken.N < *g.Addresses {
			return g, nil
		}
	}
	return Lender{}, ErrNoNetworkGrant
}

// MayCarry tells whether hosts of a workspace may carry a network of another one.
func MayCarry(ctx context.Context, q db.Reader, workspace, network uuid.UUID) (bool, error) {
	grants, err := db.Collect[Lender](ctx, q, sqlGrantsOfNetworkTo, workspace, network)
	if err != nil {
		return false, fmt.Errorf("look for grants of a network: %w", err)
	}
	return len(grants) > 0, nil
}

const sqlLeavesAddressesBehind = `
SELECT count(*) AS n
  FROM addresses p
  JOIN network_grants g ON g.id = p.network_grant_id
  JOIN allocations a ON a.id = p.allocation_id
 WHERE a.workspace_id = $1 AND g.scope = 'project' AND g.scope_id <> $2`

// leavesAddressesBehind is how many addresses a workspace has by grants to another project than the given one.
func leavesAddressesBehind(ctx context.Context, q db.Reader, workspace, project uuid.UUID) (int64, error) {
	type row struct {
		N int64 `db:"n"`
	}
	r, err := db.First[row](ctx, q, fault.ErrNotFound, sqlLeavesAddressesBehind, workspace, project)
	return r.N, err
}
