package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlNode = `
SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, c.kube_version AS cluster_version, c.state AS cluster_state,
       (SELECT count(*) FROM kube_nodes o WHERE o.cluster_id = n.cluster_id AND o.role = 'control_plane') AS control_planes, n.host_id, n.name, n.role,
       COALESCE(NULLIF(h.facts->'uplink'->>'address', ''), h.address) AS address, h.state AS host_state, n.pod_range, n.state, n.state_message,
       n.token_id, n.kube_version, n.upgrade_phase, n.upgrade_since, n.certificates_end, n.version, n.created_at, n.updated_at
  FROM kube_nodes n
  JOIN kube_clusters c ON c.id = n.cluster_id
  JOIN hosts h ON h.id = n.host_id
 WHERE true`

// FindNode finds a node of a workspace by its id or its name.
func FindNode(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Node, scope.Ref[Node], error) {
	return scope.Find(ctx, q, sqlNode+" AND n.workspace_id = $1 AND n.id = $2", sqlNode+" AND n.workspace_id = $1 AND n.name = $2", workspace, text,
		func(n Node) uuid.UUID { return n.ID })
}

// NodeByID returns a node.
func NodeByID(ctx context.Context, q db.Reader, id uuid.UUID) (Node, error) {
	return db.First[Node](ctx, q, fault.ErrNotFound, sqlNode+" AND n.id = $1", id)
}

// NodesOf returns the nodes of a cluster: control planes first, then by name.
func NodesOf(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]Node, error) {
	return db.Collect[Node](ctx, q, sqlNode+" AND n.cluster_id = $1 ORDER BY n.role, n.name, n.id", cluster)
}

// NodeSorting is the orders that nodes can be listed in.
var NodeSorting = db.Sorting[Node]{
	{Name: "name", Columns: []db.Column{db.ByText("n.name"), db.ByID("n.id")}, At: func(n Node) db.Position {
		return db.Position{Text: n.Name, ID: n.ID}
	}},
}

// NodeFilter narrows a list of nodes.
type NodeFilter struct {
	WorkspaceID uuid.UUID
	State       string
	Sort        string // one of NodeSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Nodes lists nodes.
func Nodes(ctx context.Context, q db.Reader, f NodeFilter) ([]Node, error) {
	l := db.NewList(sqlNode).And("n.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "n.state = ?")
	return NodeSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertNode = `
INSERT INTO kube_nodes (id, workspace_id, cluster_id, host_id, name, role, pod_range, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (host_id) DO NOTHING`

const sqlMoveNode = `
UPDATE kube_nodes
   SET state = $3, state_message = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlSetToken = `
UPDATE kube_nodes
   SET token_id = $2, updated_at = now()
 WHERE id = $1`

const sqlForgetNode = `
DELETE FROM kube_nodes
 WHERE id = $1 AND state = 'left'`
