package iam

import (
	"context"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

// Invitations of any age; one that has expired is shown to nobody and can't be accepted.
const sqlInvitations = `
SELECT i.id, i.organization_id, i.scope, i.scope_id, COALESCE(r.name, i.role) AS role, i.role_id, i.account, i.email, i.inviter_id, i.taken_names,
       i.expires_at, i.created_by, i.created_at,
       COALESCE(o.name || '/' || wp.name || '/' || w.name, o.name || '/' || p.name, o.name) AS path
  FROM invitations i
  JOIN organizations o ON o.id = i.organization_id
  LEFT JOIN roles r ON r.id = i.role_id
  LEFT JOIN projects p ON p.id = i.scope_id AND i.scope = 'project'
  LEFT JOIN workspaces w ON w.id = i.scope_id AND i.scope = 'workspace'
  LEFT JOIN projects wp ON wp.id = w.project_id
 WHERE true`

// InvitationSorting is the orders that invitations can be listed in.
var InvitationSorting = db.Sorting[Invitation]{
	{Name: "created_at", Columns: []db.Column{db.ByTime("i.created_at"), db.ByID("i.id")}, At: func(i Invitation) db.Position {
		return db.Position{Time: i.CreatedAt, ID: i.ID}
	}},
}

// Invitations lists the invitations to roles at a scope and below it.
func Invitations(ctx context.Context, q db.Reader, at Scope, sort string, after *db.Position, limit int) ([]Invitation, error) {
	list := db.NewList(sqlOpenInvitations).And("i.organization_id = ?", at.OrganizationID)
	switch at.Kind {
	case ProjectNoun:
		list.And("(i.scope_id = ? OR wp.id = ?)", at.ID, at.ID)
	case WorkspaceNoun:
		list.And("i.scope_id = ?", at.ID)
	}
	return InvitationSorting.Read(ctx, q, list, sort, after, limit)
}

const (
	sqlOpenInvitations = sqlInvitations + `
   AND i.expires_at > now()`

	sqlInvitationByID = sqlOpenInvitations + `
   AND i.id = $1`

	sqlInvitationByHash = sqlOpenInvitations + `
   AND i.hash = $1`

	sqlHoldInvitation = `
SELECT i.id
  FROM invitations i
 WHERE i.hash = $1 AND i.expires_at > now()
   FOR UPDATE`

	// An organization has no more open invitations than somebody can look through.
	sqlInsertInvitation = `
INSERT INTO invitations (id, organization_id, scope, scope_id, role, role_id, account, email, hash, inviter_id, expires_at, created_by)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::UUID, $5::TEXT, $6::UUID, $7::TEXT, $8::TEXT, $9::BYTEA, $10::UUID, now() + $11::INT8 * INTERVAL '1 day', $12::TEXT
 WHERE (SELECT count(*)
          FROM invitations i
         WHERE i.organization_id = $2) < 1000`

	sqlDeleteInvitation = `
DELETE FROM invitations
 WHERE id = $1`

	sqlDeleteInvitationsAt = `
DELETE FROM invitations
 WHERE scope_id = $1`

	sqlCountTakenName = `
UPDATE invitations
   SET taken_names = taken_names + 1
 WHERE id = $1`

	sqlExpiredInvitations = sqlInvitations + `
   AND i.expires_at <= now()
 ORDER BY i.expires_at, i.id
 LIMIT $1`
)

// FindInvitation finds an invitation to a role at a scope that the viewer sees, and the scope.
func FindInvitation(ctx context.Context, q db.Reader, who Viewer, id uuid.UUID) (Invitation, Scope, scope.Ref[Invitation], error) {
	none := scope.Ref[Invitation]{}
	i, err := db.First[Invitation](ctx, q, fault.ErrNotFound, sqlInvitationByID, id)
	if err != nil {
		return Invitation{}, Scope{}, none, err
	}
	at, _, err := FindScope(ctx, q, who, i.ScopeID.String())
	if err != nil {
		return Invitation{}, Scope{}, none, err
	}
	return i, at, scope.Found[Invitation](i.ID, at.ID), nil
}

// InvitationOfLink is what a link invites to; fault.ErrNotFound for one that is used, expired or none.
func InvitationOfLink(ctx context.Context, q db.Reader, secret string) (Invitation, error) {
	hash := hashOf(invitePrefix, secret)
	if hash == nil {
		return Invitation{}, fault.ErrNotFound
	}
	return db.First[Invitation](ctx, q, fault.ErrNotFound, sqlInvitationByHash, hash)
}
