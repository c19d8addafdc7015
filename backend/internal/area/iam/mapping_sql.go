package iam

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlMappings = `
SELECT m.id, m.provider_id, p.name AS provider, p.organization_id AS provider_of, m.group_name, COALESCE(r.name, m.role) AS role, m.role_id,
       m.scope, m.scope_id, m.created_by, m.created_at,
       COALESCE(so.name,
                po.name || '/' || sp.name,
                wo.name || '/' || wp.name || '/' || sw.name,
                '') AS path
  FROM group_mappings m
  JOIN identity_providers p ON p.id = m.provider_id
  LEFT JOIN roles r ON r.id = m.role_id
  LEFT JOIN organizations so ON so.id = m.scope_id AND m.scope = 'organization'
  LEFT JOIN projects sp ON sp.id = m.scope_id AND m.scope = 'project'
  LEFT JOIN organizations po ON po.id = sp.organization_id
  LEFT JOIN workspaces sw ON sw.id = m.scope_id AND m.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = sw.project_id
  LEFT JOIN organizations wo ON wo.id = wp.organization_id
 WHERE true`

const (
	sqlMappingByID = sqlMappings + `
   AND m.id = $1`

	sqlMappingsOf = sqlMappings + `
   AND m.provider_id = $1
 ORDER BY m.group_name, m.id
 LIMIT 200`

	// Of whatever provider: the organization sees who gives roles in it.
	sqlMappingsIn = sqlMappings + `
   AND (so.id = $1 OR po.id = $1 OR wo.id = $1)
 ORDER BY m.group_name, m.id
 LIMIT 1000`

	// What the groups of somebody give, where the scope is neither suspended nor removed.
	sqlMappedTo = sqlMappings + `
   AND m.provider_id = $1 AND m.group_name = ANY($2)
 ORDER BY m.scope, m.scope_id, m.id`

	// A provider has no more mappings than a page shows.
	sqlInsertMapping = `
INSERT INTO group_mappings (id, provider_id, group_name, role, role_id, scope, scope_id, created_by)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::TEXT, $5::UUID, $6::TEXT, $7::UUID, $8::TEXT
 WHERE (SELECT count(*)
          FROM group_mappings m
         WHERE m.provider_id = $2) < 200
ON CONFLICT DO NOTHING`

	sqlDeleteMapping = `
DELETE FROM group_mappings
 WHERE id = $1`

	sqlDeleteMappingsAt = `
DELETE FROM group_mappings
 WHERE scope_id = $1`

	sqlGrantsOfSource = sqlGrants + `
   AND g.source = $1
 ORDER BY g.scope_id, g.id`

	// Grants of a provider at a scope that no mapping of it gives any more.
	sqlGrantsNotMapped = sqlGrants + `
   AND g.source = $1 AND g.scope_id = $3
   AND NOT EXISTS (SELECT 1
                     FROM group_mappings m
                    WHERE m.provider_id = $2 AND m.scope_id = g.scope_id AND m.role = g.role
                      AND (m.role_id = g.role_id OR m.role_id IS NULL AND g.role_id IS NULL))
 ORDER BY g.scope_id, g.id`
)

// MappingsOf lists the mappings of a provider.
func MappingsOf(ctx context.Context, q db.Reader, provider uuid.UUID) ([]Mapping, error) {
	return db.Collect[Mapping](ctx, q, sqlMappingsOf, provider)
}

// MappingsIn lists the mappings to roles in an organization, of its own providers and of the installation's.
func MappingsIn(ctx context.Context, q db.Reader, organization uuid.UUID) ([]Mapping, error) {
	return db.Collect[Mapping](ctx, q, sqlMappingsIn, organization)
}

// FindMapping finds a mapping to a role at a scope that the viewer sees, and the scope.
func FindMapping(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (Mapping, Scope, scope.Ref[Mapping], error) {
	none := scope.Ref[Mapping]{}
	m, err := MappingByID(ctx, q, id)
	if err != nil || m.Scope == string(scope.Installation) {
		return Mapping{}, Scope{}, none, orNotFound(err)
	}
	at, _, err := FindScope(ctx, q, who, m.ScopeID.String())
	if err != nil {
		return Mapping{}, Scope{}, none, err
	}
	return m, at, scope.Found[Mapping](m.ID, at.ID), nil
}

// FindInstallationMapping finds a mapping of a provider of the installation.
func FindInstallationMapping(ctx context.Context, q db.Reader, id uuid.UUID) (Mapping, scope.Ref[Mapping], error) {
	m, err := MappingByID(ctx, q, id)
	if err != nil || m.ProviderOf != uuid.Nil {
		return Mapping{}, scope.Ref[Mapping]{}, orNotFound(err)
	}
	return m, scope.Found[Mapping](m.ID, m.ID), nil
}

// MappingByID reads a mapping without a look at who asks, for who has just made it.
func MappingByID(ctx context.Context, q db.Reader, id uuid.UUID) (Mapping, error) {
	return db.First[Mapping](ctx, q, fault.ErrNotFound, sqlMappingByID, id)
}
