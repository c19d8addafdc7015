package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/reconcile"
	"kloigos/backend/internal/kernel/scope"
)

const sqlHosted = `
SELECT h.id, h.workspace_id, h.cluster_id, c.name AS cluster, c.kube_version, h.management_cluster_id, m.pool, h.slot, h.namespace, h.replicas, h.konnectivity, h.core_dns,
       h.port, h.konnectivity_port, h.target_version, h.state, h.state_message, h.version, h.created_at, h.updated_at
  FROM kube_hosted h
  JOIN kube_clusters c ON c.id = h.cluster_id
  JOIN kube_management_clusters m ON m.id = h.management_cluster_id
 WHERE true`

// FindHosted finds a hosted control plane of a workspace by its id, or by the name of its cluster.
func FindHosted(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Hosted, scope.Ref[Hosted], error) {
	return scope.Find(ctx, q, sqlHosted+" AND h.workspace_id = $1 AND h.id = $2", sqlHosted+" AND h.workspace_id = $1 AND c.name = $2", workspace, text,
		func(h Hosted) uuid.UUID { return h.ID })
}

// HostedByID returns a hosted control plane.
func HostedByID(ctx context.Context, q db.Reader, id uuid.UUID) (Hosted, error) {
	return db.First[Hosted](ctx, q, fault.ErrNotFound, sqlHosted+" AND h.id = $1", id)
}

// HostedOf returns the hosted control plane of a cluster; fault.ErrNotFound if its control plane is on hosts.
func HostedOf(ctx context.Context, q db.Reader, cluster uuid.UUID) (Hosted, error) {
	return db.First[Hosted](ctx, q, fault.ErrNotFound, sqlHosted+" AND h.cluster_id = $1", cluster)
}

const sqlHoldHosted = `
SELECT h.id
  FROM kube_hosted h
 WHERE h.id = $1
   FOR NO KEY UPDATE`

// holdHosted returns a hosted control plane that nobody else changes until the transaction ends.
func holdHosted(ctx context.Context, tx *db.Tx, id uuid.UUID) (Hosted, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHoldHosted, id); err != nil {
		return Hosted{}, err
	}
	return HostedByID(ctx, tx.Reader, id)
}

// HostedSorting is the orders that hosted control planes can be listed in.
var HostedSorting = db.Sorting[Hosted]{
	{Name: "cluster", Columns: []db.Column{db.ByText("c.name"), db.ByID("h.id")}, At: func(h Hosted) db.Position {
		return db.Position{Text: h.Cluster, ID: h.ID}
	}},
}

// HostedFilter narrows a list of hosted control planes.
type HostedFilter struct {
	WorkspaceID uuid.UUID
	State       string
	Sort        string // one of HostedSorting; "" for the first
	After       *db.Position
	Limit       int
}

// HostedPlanes lists hosted control planes.
func HostedPlanes(ctx context.Context, q db.Reader, f HostedFilter) ([]Hosted, error) {
	l := db.NewList(sqlHosted).And("h.workspace_id = ?", f.WorkspaceID).AndIf(f.State, "h.state = ?")
	return HostedSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

// HostedIn are some of the control planes of a management cluster.
func HostedIn(ctx context.Context, q db.Reader, management uuid.UUID, limit int) ([]Hosted, error) {
	return db.Collect[Hosted](ctx, q, sqlHosted+" AND h.management_cluster_id = $1 ORDER BY h.slot LIMIT $2", management, limit)
}

// HostedIDs lists all hosted control planes.
const HostedIDs db.Statement = "SELECT id FROM kube_hosted" + db.IDsBehind

const sqlFreeSlot = `
SELECT s.slot
  FROM generate_series(0::INT8, $2::INT8 - 1) AS s (slot)
 WHERE NOT EXISTS (SELECT 1 FROM kube_hosted h WHERE h.management_cluster_id = $1 AND h.slot = s.slot)
 ORDER BY s.slot
 LIMIT 1`

// freeSlot is the first one of a management cluster, whose row is held.
func freeSlot(ctx context.Context, tx *db.Tx, m Management) (slot int64, err error) {
	type row struct {
		Slot int64 `db:"slot"`
	}
	found, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlFreeSlot, m.ID, m.Capacity)
	return found.Slot, err
}

const sqlInsertHosted = `
INSERT INTO kube_hosted (id, workspace_id, cluster_id, management_cluster_id, slot, namespace, replicas, konnectivity, core_dns, port, konnectivity_port, state)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

const sqlMoveHosted = `
UPDATE kube_hosted
   SET state = $3, state_message = $4, version = version + 1, updated_at = now()
 WHERE id = $1 AND state = $2`

const sqlSetTarget = `
UPDATE kube_hosted
   SET target_version = $2, updated_at = now()
 WHERE id = $1`

const sqlSetKubeVersion = `
UPDATE kube_clusters
   SET kube_version = $2, version = version + 1, updated_at = now()
 WHERE id = $1 AND kube_version <> $2`

const sqlSetHostedAccess = `
UPDATE kube_clusters
   SET endpoint = $2, ca = $3, admin_certificate = $4, admin_key_sealed = $5, version = version + 1, updated_at = now()
 WHERE id = $1`

const sqlDeleteHosted = `
DELETE FROM kube_hosted
 WHERE id = $1 AND state = 'deleting'`

const (
	movingHosted = `
  FROM (SELECT h.id, h.state, h.updated_at AS since, d.seconds,
               (SELECT j.id FROM job_objects o JOIN jobs j ON j.id = o.job_id WHERE o.object_id = h.id AND j.finished_at IS NULL LIMIT 1) AS job
          FROM kube_hosted h
          JOIN unnest($1::TEXT[], $2::INT8[]) AS d (state, seconds) ON d.state = h.state) AS l`
	sqlHostedDue        = reconcile.SQLDue + movingHosted + reconcile.SQLDueOf
	sqlFindMovingHosted = reconcile.SQLFind + movingHosted + reconcile.SQLFindOne
	sqlListMovingHosted = reconcile.SQLList + movingHosted + reconcile.SQLListPage
)

// HostedInFlight are hosted control planes that are made, changed or deleted for too long, or by no job.
func HostedInFlight() reconcile.Deadlines {
	return reconcile.Deadlines{
		Noun: HostedNoun, States: HostedLifecycle.Deadlines, Due: sqlHostedDue, Find: sqlFindMovingHosted, List: sqlListMovingHosted, Lock: sqlHoldHosted,
		Ends: reconcile.EndsSoon, End: endLostHosted,
	}
}

func endLostHosted(ctx context.Context, tx *db.Tx, lost reconcile.Ending) error {
	h, err := holdHosted(ctx, tx, lost.ID)
	if err != nil {
		return err
	}
	on := HostedChangeFailed
	switch h.State {
	case HostedCreating:
		on = CreateFailed
	case HostedDeleting:
		on = DeleteFailed
	}
	if err := moveHosted(ctx, tx, lost.ID, on, lost.Message); err != nil {
		return err
	}
	return audit.Append(ctx, tx, lost.By, h.entry("end_stuck", map[string]any{"state": lost.State}, map[string]any{"message": lost.Message}))
}
