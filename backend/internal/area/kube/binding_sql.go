package kube

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// Bindings of one namespace have a table of their own: a backend from before there were any would take them for bindings of all.
const sqlBinding = `
SELECT b.id, b.workspace_id, b.cluster_id, c.name AS cluster, b.account_id, b.account, b.role, b.namespace, b.version, b.created_at, b.updated_at
  FROM (SELECT k.id, k.workspace_id, k.cluster_id, k.account_id, k.account, k.role, '' AS namespace, k.version, k.created_at, k.updated_at
          FROM kube_bindings k
         UNION ALL
        SELECT s.id, s.workspace_id, s.cluster_id, s.account_id, s.account, s.role, s.namespace, s.version, s.created_at, s.updated_at
          FROM kube_namespace_bindings s) b
  JOIN kube_clusters c ON c.id = b.cluster_id
 WHERE true`

// hasAccess holds for an account that is enabled and has a grant at the workspace of a binding, or above it.
const hasAccess = `EXISTS (SELECT 1
                 FROM accounts a
                 JOIN grants g ON g.account_id = a.id
                 JOIN workspaces w ON w.id = b.workspace_id
                 JOIN projects p ON p.id = w.project_id
                WHERE a.id = b.account_id AND a.state = 'active' AND g.scope_id IN (w.id, p.id, p.organization_id))`

// FindBinding finds a binding of a workspace by its id.
func FindBinding(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (Binding, scope.Ref[Binding], error) {
	return scope.FindByID(ctx, q, sqlBinding+" AND b.workspace_id = $1 AND b.id = $2", workspace, text,
		func(b Binding) uuid.UUID { return b.ID })
}

func bindingByID(ctx context.Context, q db.Reader, id uuid.UUID) (Binding, error) {
	return db.First[Binding](ctx, q, fault.ErrNotFound, sqlBinding+" AND b.id = $1", id)
}

// BindingOf returns a binding of an account, if it still has access to the workspace: the one of all namespaces first.
func BindingOf(ctx context.Context, q db.Reader, cluster, account uuid.UUID) (Binding, error) {
	return db.First[Binding](ctx, q, fault.ErrNotFound, sqlBinding+" AND b.cluster_id = $1 AND b.account_id = $2 AND "+hasAccess+" ORDER BY b.namespace, b.id", cluster, account)
}

// BindingsIn returns the bindings that a cluster is to have: those of accounts that still have access to the workspace.
func BindingsIn(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]Binding, error) {
	return db.Collect[Binding](ctx, q, sqlBinding+" AND b.cluster_id = $1 AND "+hasAccess+" ORDER BY b.id", cluster)
}

func bindingsOf(ctx context.Context, q db.Reader, cluster uuid.UUID) ([]Binding, error) {
	return db.Collect[Binding](ctx, q, sqlBinding+" AND b.cluster_id = $1", cluster)
}

// BindingSorting is the orders that bindings can be listed in.
var BindingSorting = db.Sorting[Binding]{
	{Name: "account", Columns: []db.Column{db.ByText("b.account"), db.ByID("b.id")}, At: func(b Binding) db.Position {
		return db.Position{Text: b.Account, ID: b.ID}
	}},
}

// BindingFilter narrows a list of bindings.
type BindingFilter struct {
	WorkspaceID uuid.UUID
	Role        string
	Sort        string // one of BindingSorting; "" for the first
	After       *db.Position
	Limit       int
}

// Bindings lists bindings.
func Bindings(ctx context.Context, q db.Reader, f BindingFilter) ([]Binding, error) {
	l := db.NewList(sqlBinding).And("b.workspace_id = ?", f.WorkspaceID).AndIf(f.Role, "b.role = ?")
	return BindingSorting.Read(ctx, q, l, f.Sort, f.After, f.Limit)
}

type member struct {
	ID   uuid.UUID `db:"id"`
	Name string    `db:"name"`
}

// Only who has a grant at the workspace, or above it, is found: no error tells of other accounts.
const sqlMember = `
SELECT a.id, a.name
  FROM accounts a
 WHERE (a.name = $2 OR a.id::TEXT = $2) AND a.state = 'active'
   AND EXISTS (SELECT 1
                 FROM grants g
                 JOIN workspaces w ON w.id = $1
                 JOIN projects p ON p.id = w.project_id
                WHERE g.account_id = a.id AND g.scope_id IN (w.id, p.id, p.organization_id))`

func memberOf(ctx context.Context, q db.Reader, workspace uuid.UUID, text string) (member, error) {
	return db.First[member](ctx, q, fault.ErrNotFound, sqlMember, workspace, text)
}

const sqlInsertBinding = `
INSERT INTO kube_bindings (id, workspace_id, cluster_id, account_id, account, role)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (cluster_id, account_id) DO NOTHING`

const sqlInsertNamespaceBinding = `
INSERT INTO kube_namespace_bindings (id, workspace_id, cluster_id, namespace_id, namespace, account_id, account, role)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (namespace_id, account_id) DO NOTHING`

const sqlDeleteBinding = `
DELETE FROM kube_bindings
 WHERE id = $1 AND version = $2`

const sqlDeleteNamespaceBinding = `
DELETE FROM kube_namespace_bindings
 WHERE id = $1 AND version = $2`
