package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlCluster = `
SELECT c.id, c.workspace_id, c.name, c.kube_version, c.target_version, c.endpoint, c.pod_range, c.service_range, c.state, c.state_message,
       c.admin_key_sealed, c.admin_certificate, c.ca,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id) AS nodes,
       (SELECT count(*) FROM kube_nodes n WHERE n.cluster_id = c.id AND n.state = 'ready') AS ready,
       EXISTS (SELECT 1 FROM kube_hosted h WHERE h.cluster_id = c.id) AS hosted,
       c.oidc_issuer, c.oidc_client_id, c.oidc_username_claim, c.oidc_groups_claim,
       c.break_glass_by, c.break_glass_reason, c.break_glass_until,
       c.maintenance_window, c.snapshot_hours, c.snapshot_keep, c.snapshot_days, c.snapshot_asked_at, c.version, c.created_at, c.updated_at
  FROM kube_clusters c
 WHERE true`

// ClusterByID returns a cluster.
func ClusterByID(ctx context.Context, q db.Reader, id uuid.UUID) (Cluster, error) {
	return db.First[Cluster](ctx, q, fault.ErrNotFound, sqlCluster+" AND c.id = $1", id)
}

// FindCluster finds the cluster of a workspace by its id or its name.
func FindCluster(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Cluster, scope.Ref[Cluster], error) {
	return scope.Find(ctx, q, sqlCluster+" AND c.workspace_id = $1 AND c.id = $2", sqlCluster+" AND c.workspace_id = $1 AND c.name = $2", workspace, text,
		func(c Cluster) uuid.UUID { return c.ID })
}

const sqlHoldCluster = `
SELECT c.id
  FROM kube_clusters c
 WHERE c.id = $1
   FOR NO KEY UPDATE`

// holdCluster returns a cluster that nobody else changes until the transaction ends.
func holdCluster(ctx context.Context, tx *db.Tx, id uuid.UUID) (Cluster, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHoldCluster, id); err != nil {
		return Cluster{}, err
	}
	return ClusterByID(ctx, tx.Reader, id)
}

// ClusterSorting is the orders that clusters can be listed in.
var ClusterSorting = db.Sorting[Cluster]{
	{Name: "name", Columns: []db.Column{db.ByText("c.name"), db.ByID("c.id")}, At: func(c Cluster) db.Position {
		return db.Position{Text: c.Name, ID: c.ID}
	}},
}

// ClusterFilter narrows a list of clusters.
type ClusterFilter struct {
	WorkspaceID uuid.UUID
	State       string
	Sort        string // one of ClusterSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Clusters lists clusters.
func Clusters(ctx context.Context, q db.Reader, f ClusterFilter) ([]Cluster, error) {
	l := db.NewList(sqlCluster).And("c.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "c.state = ?")
	return ClusterSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// ClusterIDs lists all clusters.
const ClusterIDs db.Statement = "SELECT id FROM kube_clusters" + db.IDsBehind

// workspace is what a cluster has to know of its workspace.
type workspace struct {
	Type string `db:"type"`
	Name string `db:"name"`
}

// The lock keeps the workspace's row until the cluster is there: a workspace is deleted only while it is empty.
const sqlWorkspace = `
SELECT w.type, w.name
  FROM workspaces w
 WHERE w.id = $1
   FOR SHARE`

func keepWorkspace(ctx context.Context, tx *db.Tx, id uuid.UUID) (workspace, error) {
	return db.First[workspace](ctx, tx.Reader, fault.ErrNotFound, sqlWorkspace, id)
}

// keepVersion returns a version of the catalog that stays there until the transaction ends.
func keepVersion(ctx context.Context, tx *db.Tx, name string) (Version, error) {
	return db.First[Version](ctx, tx.Reader, fault.ErrNotFound, sqlVersion+" AND v.name = $1 FOR SHARE", name)
}

// host is what a cluster has to know of a host.
type host struct {
	ID      uuid.UUID `db:"id"`
	Name    string    `db:"name"`
	Purpose string    `db:"purpose"`
	State   string    `db:"state"`
	Address string    `db:"address"` // of its uplink; "" before a probe
	Cluster string    `db:"cluster"` // that it is a node of; "" for none
}

// The lock keeps the host from being decommissioned, or from getting another purpose, before its node is there.
const sqlHostsByName = `
SELECT h.id, h.name, h.purpose, h.state, COALESCE(h.facts->'uplink'->>'address', '') AS address,
       COALESCE((SELECT c.name FROM kube_nodes n JOIN kube_clusters c ON c.id = n.cluster_id WHERE n.host_id = h.id), '') AS cluster
  FROM hosts h
 WHERE h.workspace_id = $1 AND h.removed_at IS NULL AND (h.name = ANY ($2::TEXT[]) OR h.id::TEXT = ANY ($2::TEXT[]))
 ORDER BY h.id
   FOR SHARE OF h`

func keepHosts(ctx context.Context, tx *db.Tx, workspace uuid.UUID, names []string) ([]host, error) {
	return db.Collect[host](ctx, tx.Reader, sqlHostsByName, workspace, names)
}

const sqlInsertCluster = `
INSERT INTO kube_clusters (id, workspace_id, name, kube_version, endpoint, pod_range, service_range, state, admin_key_sealed,
                           oidc_issuer, oidc_client_id, oidc_username_claim, oidc_groups_claim)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (workspace_id) DO NOTHING`

const sqlMoveCluster = `
UPDATE kube_clusters
   SET state = $3, state_message = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlBreakGlass = `
UPDATE kube_clusters
   SET break_glass_by = $2, break_glass_reason = $3, break_glass_until = $4
 WHERE id = $1`

const sqlSetAccess = `
UPDATE kube_clusters
   SET ca = $2, admin_certificate = $3, version = version + 1, updated_at = now()
 WHERE id = $1 AND (ca <> $2 OR admin_certificate <> $3)`

const (
	sqlDeleteBindingsOf = `
DELETE FROM kube_bindings
 WHERE cluster_id = $1`

	sqlDeleteNodesOf = `
DELETE FROM kube_nodes
 WHERE cluster_id = $1`

	sqlDeleteCluster = `
DELETE FROM kube_clusters
 WHERE id = $1 AND state = 'deleting'`
)
