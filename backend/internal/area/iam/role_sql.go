package iam

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// RoleNoun names roles in events and problems.
const RoleNoun = "role"

// CustomRole is a role that an organization made for itself.
type CustomRole struct {
	ID             uuid.UUID `db:"id"`
	OrganizationID uuid.UUID `db:"organization_id"`
	Name           string    `db:"name"`
	Description    string    `db:"description"`
	Permissions    []string  `db:"permissions"`
	Version        int64     `db:"version"`
	CreatedAt      time.Time `db:"created_at"`
	UpdatedAt      time.Time `db:"updated_at"`
}

const sqlRoles = `
SELECT r.id, r.organization_id, r.name, r.description, r.permissions, r.version, r.created_at, r.updated_at
  FROM roles r
 WHERE true`

const (
	sqlRolesOf = sqlRoles + `
   AND r.organization_id = $1
 ORDER BY r.name
 LIMIT 200`

	sqlRoleByID = sqlRoles + `
   AND r.id = $1`

	sqlHoldRole = sqlRoles + `
   AND r.id = $1
   FOR UPDATE`

	// An organization has no more roles than a page shows.
	sqlInsertRole = `
INSERT INTO roles (id, organization_id, name, description, permissions)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::TEXT, $5::TEXT[]
 WHERE (SELECT count(*)
          FROM roles r
         WHERE r.organization_id = $2) < 100
ON CONFLICT (organization_id, name) DO NOTHING`

	sqlChangeRole = `
UPDATE roles
   SET name = $2, description = $3, permissions = $4, version = version + 1, updated_at = now()
 WHERE id = $1`

	sqlDeleteRole = `
DELETE FROM roles
 WHERE id = $1`
)

// CustomRoles lists the roles of an organization.
func CustomRoles(ctx context.Context, q db.Reader, organization uuid.UUID) ([]CustomRole, error) {
	return db.Collect[CustomRole](ctx, q, sqlRolesOf, organization)
}

// FindRole finds a role of an organization that the viewer sees, with the organization.
func FindRole(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (CustomRole, Scope, scope.Ref[CustomRole], error) {
	role, err := db.First[CustomRole](ctx, q, fault.ErrNotFound, sqlRoleByID, id)
	if err != nil {
		return CustomRole{}, Scope{}, scope.Ref[CustomRole]{}, err
	}
	at, _, err := Organizations.Find(ctx, q, who, role.OrganizationID.String())
	if err != nil {
		return CustomRole{}, Scope{}, scope.Ref[CustomRole]{}, err
	}
	return role, at, scope.Found[CustomRole](role.ID, at.ID), nil
}
