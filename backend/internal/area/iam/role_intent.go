package iam

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// foreignKeyViolation is the SQLSTATE of a row that others refer to.
const foreignKeyViolation = "23503"

// RoleDraft is a role as somebody asks for it.
type RoleDraft struct {
	Name, Description string
	Permissions       []string
}

// Grantable are the permissions that a role of an organization can have.
func Grantable(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return p == Own || strings.HasPrefix(p, "installation.") })
}

func (d *RoleDraft) check(grantable []string) error {
	var bad fault.Invalid
	bad.Check("name", checkName(d.Name))
	if d.Name == customRole || slices.ContainsFunc(Roles, func(r Role) bool { return r.Name == d.Name }) {
		bad.Add("name", "Use another name: the product has a role %s.", d.Name)
	}
	for i, p := range d.Permissions {
		if !slices.Contains(grantable, p) {
			bad.Add(fmt.Sprintf("permissions[%d]", i), "This is no permission that a role of an organization can have.")
		}
	}
	d.Permissions = slices.Compact(slices.Sorted(slices.Values(d.Permissions)))
	return bad.OrNil()
}

func (r CustomRole) facts() map[string]any {
	return map[string]any{"name": r.Name, "description": r.Description, "permissions": r.Permissions}
}

func (r CustomRole) told(ctx context.Context, tx *intent.Tx, action string, before, after map[string]any) error {
	err := tx.Event(ctx, audit.Entry{
		Organization: r.OrganizationID, Action: RoleNoun + "." + action, ObjectKind: RoleNoun, ObjectID: r.ID, ObjectName: r.Name, Before: before, After: after,
	})
	if err != nil {
		return err
	}
	return tx.Made(ctx, RoleNoun, r.ID, uuid.Nil)
}

// CreateRole makes a role of an organization. Nobody makes one with permissions that they lack in the organization.
func CreateRole(ctx context.Context, tx *intent.Tx, may May, grantable []string, organization scope.Ref[Scope], draft RoleDraft) (CustomRole, error) {
	if err := draft.check(grantable); err != nil {
		return CustomRole{}, err
	}
	at, err := Organizations.keep(ctx, tx.Tx, organization.ID())
	if err != nil {
		return CustomRole{}, err
	}
	if err := at.CanWrite(); err != nil {
		return CustomRole{}, err
	}
	if err := (rolePermits{name: draft.Name, permissions: draft.Permissions}).within(may, at); err != nil {
		return CustomRole{}, err
	}
	id := uuid.New()
	taken := fault.Conflictf("role_exists", "The organization has a role %s already, or 100 roles.", draft.Name)
	if err := tx.One(ctx, taken, sqlInsertRole, id, at.ID, draft.Name, draft.Description, draft.Permissions); err != nil {
		return CustomRole{}, fmt.Errorf("make a role: %w", err)
	}
	made, err := db.First[CustomRole](ctx, tx.Reader, fault.ErrNotFound, sqlRoleByID, id)
	if err != nil {
		return CustomRole{}, err
	}
	return made, made.told(ctx, tx, "create", nil, made.facts())
}

// ChangeRole changes a role and what everybody may do who has it. change is given it as it is.
func ChangeRole(ctx context.Context, tx *intent.Tx, may May, grantable []string, ref scope.Ref[CustomRole], version int64, change func(*RoleDraft)) (CustomRole, error) {
	before, at, err := roleAt(ctx, tx, ref, version)
	if err != nil {
		return CustomRole{}, err
	}
	if err := at.CanWrite(); err != nil {
		return CustomRole{}, err
	}
	draft := RoleDraft{before.Name, before.Description, before.Permissions}
	change(&draft)
	if err := draft.check(grantable); err != nil {
		return CustomRole{}, err
	}
	for _, permissions := range [][]string{before.Permissions, draft.Permissions} {
		if err := (rolePermits{name: before.Name, permissions: permissions}).within(may, at); err != nil {
			return CustomRole{}, err
		}
	}
	err = tx.One(ctx, fault.ErrNotFound, sqlChangeRole, before.ID, draft.Name, draft.Description, draft.Permissions)
	if _, taken := db.UniqueViolation(err); taken {
		return CustomRole{}, fault.Conflictf("role_exists", "The organization has a role %s already.", draft.Name)
	}
	if err != nil {
		return CustomRole{}, fmt.Errorf("change a role: %w", err)
	}
	after, err := db.First[CustomRole](ctx, tx.Reader, fault.ErrNotFound, sqlRoleByID, before.ID)
	if err != nil {
		return CustomRole{}, err
	}
	return after, after.told(ctx, tx, "change", before.facts(), after.facts())
}

// roleAt returns a role for a change of the version that somebody looked at, with its organization.
func roleAt(ctx context.Context, tx *intent.Tx, ref scope.Ref[CustomRole], version int64) (CustomRole, Scope, error) {
	role, err := db.First[CustomRole](ctx, tx.Reader, fault.ErrNotFound, sqlHoldRole, ref.ID())
	if err != nil {
		return CustomRole{}, Scope{}, err
	}
	if err := fault.CheckVersion("role", role.Version, version); err != nil {
		return CustomRole{}, Scope{}, err
	}
	at, err := Organizations.byID(ctx, tx.Reader, role.OrganizationID)
	return role, at, err
}

// DeleteRole deletes a role that nobody has.
func DeleteRole(ctx context.Context, tx *intent.Tx, ref scope.Ref[CustomRole], version int64) error {
	role, _, err := roleAt(ctx, tx, ref, version)
	if err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, sqlDeleteRole, role.ID); db.SQLState(err) == foreignKeyViolation {
		return fault.Conflictf("role_in_use", "Accounts have the role %s, are invited to it, or are given it by a group mapping. Take it away first.", role.Name)
	} else if err != nil {
		return fmt.Errorf("delete a role: %w", err)
	}
	return role.told(ctx, tx, "delete", role.facts(), nil)
}
