package scope

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

const sqlGrants = `
SELECT g.scope, g.scope_id, g.role, g.source, COALESCE(r.name, '') AS custom, COALESCE(r.permissions, '{}') AS permissions,
       COALESCE(o.second_factor_required, false) AS second_factor
  FROM grants g
  LEFT JOIN roles r ON r.id = g.role_id
  LEFT JOIN workspaces w ON w.id = g.scope_id
  LEFT JOIN projects p ON p.id = COALESCE(w.project_id, g.scope_id)
  LEFT JOIN organizations o ON o.id = COALESCE(p.organization_id, g.scope_id)
 WHERE g.account_id = $1
 ORDER BY g.scope, g.scope_id, g.id`

type grantRow struct {
	Scope       Level     `db:"scope"`
	ScopeID     uuid.UUID `db:"scope_id"`
	Role        string    `db:"role"`
	Source      string    `db:"source"`
	Custom      string    `db:"custom"`
	Permissions []string  `db:"permissions"`
	// Whether the organization that it is in asks for a second factor.
	SecondFactor bool `db:"second_factor"`
}

// AccessOf reads what an account may do. roles gives the permissions of the roles
// that the product brings.
func AccessOf(ctx context.Context, q db.Reader, account uuid.UUID, roles map[string]map[string]bool) (Access, error) {
	rows, err := db.Collect[grantRow](ctx, q, sqlGrants, account)
	if err != nil {
		return Access{}, fmt.Errorf("read the grants: %w", err)
	}
	grants := make([]Grant, len(rows))
	for i, r := range rows {
		grants[i] = Grant{Level: r.Scope, ID: r.ScopeID, Role: r.Role, Source: r.Source, Permissions: roles[r.Role], SecondFactor: r.SecondFactor}
		if r.Custom != "" {
			grants[i].Role, grants[i].Permissions = r.Custom, Set(r.Permissions)
		}
	}
	return NewAccess(grants, Limit{}), nil
}

// Set is a list of permissions as a set.
func Set(permissions []string) map[string]bool {
	set := make(map[string]bool, len(permissions))
	for _, p := range permissions {
		set[p] = true
	}
	return set
}

// Located is a workspace with where it stands.
type Located struct {
	Workspace    uuid.UUID `db:"workspace_id"`
	Project      uuid.UUID `db:"project_id"`
	Organization uuid.UUID `db:"organization_id"`
	Name         string    `db:"workspace_name"`
	ProjectName  string    `db:"project_name"`
	OrgName      string    `db:"organization_name"`
	Type         string    `db:"type"`
	Suspended    bool      `db:"suspended"` // it, its project or its organization
	Deleting     bool      `db:"deleting"`  // it goes with all that is in it
}

// Place is where the workspace stands.
func (l Located) Place() Place { return Place{l.Organization, l.Project, l.Workspace} }

// Path is the workspace's name with those above it: 'organization/project/workspace'.
func (l Located) Path() string { return l.OrgName + "/" + l.ProjectName + "/" + l.Name }

const sqlLocated = `
SELECT w.id AS workspace_id, p.id AS project_id, o.id AS organization_id, w.name AS workspace_name, p.name AS project_name,
       o.name AS organization_name, w.type,
       (w.state = 'suspended' OR p.state = 'suspended' OR o.state = 'suspended') AS suspended,
       w.state = 'deleting' AS deleting
  FROM workspaces w
  JOIN projects p ON p.id = w.project_id
  JOIN organizations o ON o.id = p.organization_id
 WHERE w.state <> 'removed'`

// WorkspaceByID reads a workspace and where it stands; the error is ifNone if it is
// not there.
func WorkspaceByID(ctx context.Context, q db.Reader, ifNone error, id uuid.UUID) (Located, error) {
	return db.First[Located](ctx, q, ifNone, sqlLocated+" AND w.id = $1", id)
}

// WorkspaceByPath reads the workspace of these names.
func WorkspaceByPath(ctx context.Context, q db.Reader, ifNone error, organization, project, workspace string) (Located, error) {
	return db.First[Located](ctx, q, ifNone, sqlLocated+" AND o.name = $1 AND p.name = $2 AND w.name = $3", organization, project, workspace)
}

const sqlWorkspacesOf = sqlLocated + `
   AND EXISTS (SELECT 1
                 FROM grants g
                WHERE g.account_id = $1 AND g.scope_id IN (w.id, p.id, o.id))
 ORDER BY (w.id = $2) DESC, o.name, p.name, w.name
 LIMIT $3`

// WorkspacesOf lists workspaces that an account sees, the given one first.
func WorkspacesOf(ctx context.Context, q db.Reader, account, first uuid.UUID, limit int) ([]Located, error) {
	return db.Collect[Located](ctx, q, sqlWorkspacesOf, account, first, limit)
}

const sqlGive = `
INSERT INTO grants (id, account_id, role, scope, scope_id, source, created_by)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING`

// Give gives an account a role of the product at a scope; one that it has stays.
func Give(ctx context.Context, tx *db.Tx, account uuid.UUID, role string, level Level, id uuid.UUID, by string) error {
	if _, err := tx.Exec(ctx, sqlGive, uuid.New(), account, role, level, id, "manual", by); err != nil {
		return fmt.Errorf("give the role %s: %w", role, err)
	}
	return nil
}

// Whoever begins a deletion holds the row for update, so one of the two waits for the other.
const sqlKeepWorkspace = `
SELECT w.id
  FROM workspaces w
 WHERE w.id = $1 AND w.state NOT IN ('deleting', 'removed')
   FOR KEY SHARE`

// ErrDeleting is of what would be added to a workspace that is being deleted.
var ErrDeleting = fault.Conflictf("scope_deleting", "The workspace is being deleted: nothing is added to it. Cancel the job that deletes it to keep what is left.")

// KeepWorkspace makes sure that a workspace takes something new until the transaction ends; ErrDeleting if it does not.
func KeepWorkspace(ctx context.Context, tx *db.Tx, id uuid.UUID) error {
	return tx.One(ctx, ErrDeleting, sqlKeepWorkspace, id)
}

// ChainOf selects the scopes that the workspace $1 is in, itself as well.
const ChainOf = `(SELECT gw.id
                      FROM workspaces gw
                     WHERE gw.id = $1
                     UNION ALL
                    SELECT gp.project_id
                      FROM workspaces gp
                     WHERE gp.id = $1
                     UNION ALL
                    SELECT gq.organization_id
                      FROM workspaces gv
                      JOIN projects gq ON gq.id = gv.project_id
                     WHERE gv.id = $1)`
