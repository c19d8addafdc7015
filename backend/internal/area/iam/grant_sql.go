package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlGrants = `
SELECT g.id, g.account_id, a.name AS account, a.kind AS account_kind, a.state AS account_state, COALESCE(r.name, g.role) AS role, g.role_id,
       g.scope, g.scope_id, g.source, g.created_by, g.created_at
  FROM grants g
  JOIN accounts a ON a.id = g.account_id
  LEFT JOIN roles r ON r.id = g.role_id
 WHERE true`

// GrantSorting is the orders that grants can be listed in.
var GrantSorting = db.Sorting[Grant]{
	{Name: "account", Columns: []db.Column{db.ByText("a.name"), db.ByID("g.id")}, At: func(g Grant) db.Position {
		return db.Position{Text: g.Account, ID: g.ID}
	}},
	{Name: "created_at", Columns: []db.Column{db.ByTime("g.created_at"), db.ByID("g.id")}, At: func(g Grant) db.Position {
		return db.Position{Time: g.CreatedAt, ID: g.ID}
	}},
}

// GrantFilter narrows a list of grants.
type GrantFilter struct {
	At      Scope     // grants at it and above it, which it inherits
	Account uuid.UUID // uuid.Nil for all
	Sort    string    // one of GrantSorting; "" for the first
	After   *db.Position
	Limit   int
}

// Grants lists grants that reach a scope.
func Grants(ctx context.Context, q db.Reader, f GrantFilter) ([]Grant, error) {
	list := db.NewList(sqlGrants).And("g.scope_id = ANY(?)", f.At.above())
	if f.Account != uuid.Nil {
		list.And("g.account_id = ?", f.Account)
	}
	return GrantSorting.Read(ctx, q, list, f.Sort, f.After, f.Limit)
}

// above are the ids of the scope and those above it, in its organization.
func (s Scope) above() []uuid.UUID {
	ids := []uuid.UUID{s.OrganizationID}
	if s.ProjectID != nil {
		ids = append(ids, *s.ProjectID)
	}
	if s.Kind == WorkspaceNoun {
		ids = append(ids, s.ID)
	}
	return ids
}

// FindGrant finds a grant at a scope that the viewer sees, and the scope. A grant of the viewer's own is always seen.
func FindGrant(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (Grant, Scope, scope.Ref[Grant], error) {
	grant, err := grantByID(ctx, q, id)
	if err != nil {
		return Grant{}, Scope{}, scope.Ref[Grant]{}, err
	}
	at, _, err := FindScope(ctx, q, who, grant.ScopeID.String())
	if err != nil {
		return Grant{}, Scope{}, scope.Ref[Grant]{}, err
	}
	return grant, at, scope.Found[Grant](grant.ID, at.ID), nil
}

func grantByID(ctx context.Context, q db.Reader, id uuid.UUID) (Grant, error) {
	return db.First[Grant](ctx, q, fault.ErrNotFound, sqlGrants+" AND g.id = $1", id)
}

const (
	sqlInsertGrant = `
INSERT INTO grants (id, account_id, role, role_id, scope, scope_id, source, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT DO NOTHING`

	// The last owner stays: whoever takes an owner away holds the organization's row, so that of two at once the second
	// sees what the first did.
	sqlDeleteGrant = `
DELETE FROM grants
 WHERE id = $1
   AND (role <> 'owner' OR scope <> 'organization'
        OR EXISTS (SELECT 1
                     FROM grants other
                     JOIN accounts a ON a.id = other.account_id
                    WHERE other.scope_id = grants.scope_id AND other.scope = 'organization' AND other.role = 'owner' AND other.id <> $1
                      AND ` + logsIn + `))`

	sqlRole = `
SELECT r.id, r.name, r.permissions
  FROM roles r
 WHERE r.organization_id = $1 AND r.name = $2
   FOR KEY SHARE`
)

// ownRole reads a role that an organization made for itself. It is not deleted before the transaction ends.
func ownRole(ctx context.Context, tx *db.Tx, organization uuid.UUID, name string) (rolePermits, error) {
	type row struct {
		ID          uuid.UUID `db:"id"`
		Name        string    `db:"name"`
		Permissions []string  `db:"permissions"`
	}
	found, err := db.First[row](ctx, tx.Reader, fault.ErrNotFound, sqlRole, organization, name)
	if err != nil {
		return rolePermits{}, fmt.Errorf("find a role: %w", err)
	}
	return rolePermits{name: found.Name, id: &found.ID, permissions: found.Permissions}, nil
}
