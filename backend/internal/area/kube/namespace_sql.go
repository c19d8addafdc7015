package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlNamespace = `
SELECT n.id, n.workspace_id, n.cluster_id, c.name AS cluster, n.name, n.labels, n.quota_cpu, n.quota_memory, n.quota_pods, n.quota_storage,
       n.default_cpu, n.default_memory, n.adopt, n.leave, n.deleting_at, n.version, n.created_at, n.updated_at
  FROM kube_namespaces n
  JOIN kube_clusters c ON c.id = n.cluster_id
 WHERE true`

// FindNamespace finds a namespace of a workspace by its id or its name: a workspace has one cluster.
func FindNamespace(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Namespace, scope.Ref[Namespace], error) {
	return scope.Find(ctx, q, sqlNamespace+" AND n.workspace_id = $1 AND n.id = $2", sqlNamespace+" AND n.workspace_id = $1 AND n.name = $2", workspace, text,
		func(n Namespace) uuid.UUID { return n.ID })
}

// NamespaceByID returns a namespace.
func NamespaceByID(ctx context.Context, q db.Reader, id uuid.UUID) (Namespace, error) {
	return db.First[Namespace](ctx, q, fault.ErrNotFound, sqlNamespace+" AND n.id = $1", id)
}

// NamespacesIn returns the namespaces of a cluster.
func NamespacesIn(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]Namespace, error) {
	return db.Collect[Namespace](ctx, q, sqlNamespace+" AND n.cluster_id = $1 ORDER BY n.id", cluster)
}

// NamespaceIDs lists all namespaces.
const NamespaceIDs db.Statement = "SELECT id FROM kube_namespaces" + db.IDsBehind

const sqlHoldNamespace = `
SELECT n.id
  FROM kube_namespaces n
 WHERE n.id = $1
   FOR NO KEY UPDATE`

// holdNamespace returns a namespace that nobody else changes until the transaction ends.
func holdNamespace(ctx context.Context, tx *db.Tx, id uuid.UUID) (Namespace, error) {
	type row struct {
		ID uuid.UUID `db:"id"`
	}
	if _, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlHoldNamespace, id); err != nil {
		return Namespace{}, err
	}
	return NamespaceByID(ctx, tx.Reader, id)
}

// NamespaceSorting is the orders that namespaces can be listed in.
var NamespaceSorting = db.Sorting[Namespace]{
	{Name: "name", Columns: []db.Column{db.ByText("n.name"), db.ByID("n.id")}, At: func(n Namespace) db.Position {
		return db.Position{Text: n.Name, ID: n.ID}
	}},
}

// NamespaceFilter narrows a list of namespaces.
type NamespaceFilter struct {
	WorkspaceID uuid.UUID
	State       string
	Sort        string // one of NamespaceSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Namespaces lists namespaces.
func Namespaces(ctx context.Context, q db.Reader, f NamespaceFilter) ([]Namespace, error) {
	l := db.NewList(sqlNamespace).And("n.workspace_id = ?", f.WorkspaceID)
	switch f.State {
	case "":
	case NamespaceDeleting:
		l = l.And("n.deleting_at IS NOT NULL")
	default:
		l = l.And("n.deleting_at IS NULL")
	}
	return NamespaceSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

const sqlInsertNamespace = `
INSERT INTO kube_namespaces (id, workspace_id, cluster_id, name, labels, quota_cpu, quota_memory, quota_pods, quota_storage, default_cpu, default_memory, adopt)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (cluster_id, name) DO NOTHING`

const sqlChangeNamespace = `
UPDATE kube_namespaces
   SET labels = $3, quota_cpu = $4, quota_memory = $5, quota_pods = $6, quota_storage = $7, default_cpu = $8, default_memory = $9, adopt = $10,
       version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2 AND deleting_at IS NULL`

const sqlNamespaceGoes = `
UPDATE kube_namespaces
   SET deleting_at = now(), leave = $3, version = version + 1, updated_at = now()
 WHERE id = $1 AND version = $2 AND deleting_at IS NULL`

const (
	sqlDeleteNamespaceBindings = `
DELETE FROM kube_namespace_bindings
 WHERE namespace_id = $1`

	sqlForgetNamespace = `
DELETE FROM kube_namespaces
 WHERE id = $1 AND deleting_at IS NOT NULL`

	sqlDeleteNamespacesOf = `
DELETE FROM kube_namespaces
 WHERE cluster_id = $1`

	sqlDeleteNamespaceBindingsOf = `
DELETE FROM kube_namespace_bindings
 WHERE cluster_id = $1`
)
