package kube

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlManagement = `
SELECT m.id, m.name, m.pool, m.active, m.server, m.credentials_sealed, m.data_store, m.newest_version, m.service_type, m.address, m.first_port, m.capacity,
       (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) AS hosted,
       s.healthy, COALESCE(s.message, '') AS message, COALESCE(s.kubernetes_version, '') AS kubernetes_version, s.seen_at,
       m.version, m.created_at, m.updated_at
  FROM kube_management_clusters m
  LEFT JOIN kube_management_seen s ON s.management_cluster_id = m.id
 WHERE true`

// FindManagement finds a management cluster by its id or its name. It is in no workspace.
func FindManagement(ctx context.Context, q db.Reader, text string) (Management, scope.Ref[Management], error) {
	find := func() (Management, error) {
		if id, err := uuid.Parse(text); err == nil {
			return ManagementByID(ctx, q, id)
		}
		return db.First[Management](ctx, q, fault.ErrNotFound, sqlManagement+" AND m.name = $1", text)
	}
	m, err := find()
	if err != nil {
		return Management{}, scope.Ref[Management]{}, err
	}
	return m, scope.Found[Management](m.ID, uuid.Nil), nil
}

// ManagementByID returns a management cluster.
func ManagementByID(ctx context.Context, q db.Reader, id uuid.UUID) (Management, error) {
	return db.First[Management](ctx, q, fault.ErrNotFound, sqlManagement+" AND m.id = $1", id)
}

const sqlHoldManagement = `
SELECT m.id
  FROM kube_management_clusters m
 WHERE m.id = $1
   FOR UPDATE`

// holdManagement returns a management cluster that nobody else changes, or puts a control plane into, until the transaction ends.
func holdManagement(ctx context.Context, tx *db.Tx, id uuid.UUID) (Management, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHoldManagement, id); err != nil {
		return Management{}, err
	}
	return ManagementByID(ctx, tx.Reader, id)
}

// managementsOf are the management clusters of a pool, those with the most room first.
func managementsOf(ctx context.Context, q db.Reader, pool string) ([]Management, error) {
	return db.Collect[Management](ctx, q, sqlManagement+`
   AND m.pool = $1
 ORDER BY m.capacity - (SELECT count(*) FROM kube_hosted h WHERE h.management_cluster_id = m.id) DESC, m.name`, pool)
}

// ManagementSorting is the orders that management clusters can be listed in.
var ManagementSorting = db.Sorting[Management]{
	{Name: "name", Columns: []db.Column{db.ByText("m.name"), db.ByID("m.id")}, At: func(m Management) db.Position {
		return db.Position{Text: m.Name, ID: m.ID}
	}},
}

// ManagementFilter narrows a list of management clusters.
type ManagementFilter struct {
	Pool  string
	Sort  string // one of ManagementSorting; "" for the first
	After *db.Position
	Limit int
}

// Managements lists management clusters.
func Managements(ctx context.Context, q db.Reader, f ManagementFilter) ([]Management, error) {
	return ManagementSorting.Read(ctx, q, db.NewList(sqlManagement).AndIf(f.Pool, "m.pool = ?"), f.Sort, f.After, f.Limit)
}

// ManagementIDs lists all management clusters.
const ManagementIDs db.Statement = "SELECT id FROM kube_management_clusters" + db.IDsBehind

const sqlInsertManagement = `
INSERT INTO kube_management_clusters (id, name, pool, active, server, credentials_sealed, data_store, newest_version, service_type, address, first_port, capacity)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (name) DO NOTHING`

const sqlChangeManagement = `
UPDATE kube_management_clusters
   SET pool = $3, active = $4, server = $5, credentials_sealed = $6, data_store = $7, newest_version = $8, service_type = $9, address = $10,
       first_port = $11, capacity = $12, version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2`

const sqlDeleteManagement = `
DELETE FROM kube_management_clusters
 WHERE id = $1 AND version = $2`

const sqlSeeManagement = `
INSERT INTO kube_management_seen (management_cluster_id, healthy, message, kubernetes_version, seen_at)
SELECT m.id, $2, $3, $4, $5
  FROM kube_management_clusters m
 WHERE m.id = $1
ON CONFLICT (management_cluster_id) DO UPDATE
   SET healthy = excluded.healthy, message = excluded.message, kubernetes_version = excluded.kubernetes_version, seen_at = excluded.seen_at`

// SeeManagement notes what the policy of a management cluster found. It wakes no policy.
func SeeManagement(ctx context.Context, tx *db.Tx, id uuid.UUID, healthy bool, message, kubeVersion string, at time.Time) error {
	_, err := tx.Exec(ctx, sqlSeeManagement, id, healthy, message, kubeVersion, at)
	return err
}
