package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (g Grant) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	return tx.Event(ctx, at.entry(audit.Entry{
		Action: GrantNoun + "." + action, ObjectKind: GrantNoun, ObjectID: g.ID, ObjectName: g.Account + " at " + at.Path(), Before: before, After: after,
	}))
}

// levelOf is the level of a scope.
func levelOf(noun string) Level {
	switch noun {
	case OrganizationNoun:
		return Organizations
	case ProjectNoun:
		return Projects
	}
	return Workspaces
}

// roleNamed finds a role of the product, or one of the organization.
func roleNamed(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, organization uuid.UUID, name string) (rolePermits, error) {
	if role, ok := builtIn.role(name); ok {
		return role, nil
	}
	role, err := ownRole(ctx, tx.Tx, organization, name)
	if isNotFound(err) {
		var bad fault.Invalid
		bad.Add("role", "The organization has no role %q.", name)
		return rolePermits{}, bad.OrNil()
	}
	return role, err
}

// GiveRole gives an account a role at a scope. Nobody gives a role with permissions that they lack there themselves.
func GiveRole(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, ref scope.Ref[Scope], level string, account Account, role string) (Grant, error) {
	at, err := levelOf(level).keep(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Grant{}, err
	}
	if err := at.CanWrite(); err != nil {
		return Grant{}, err
	}
	permits, err := roleNamed(ctx, tx, builtIn, at.OrganizationID, role)
	if err != nil {
		return Grant{}, err
	}
	if err := permits.within(may, at); err != nil {
		return Grant{}, err
	}
	if account.Kind == Service && (account.OrganizationID == nil || *account.OrganizationID != at.OrganizationID) {
		return Grant{}, fault.Conflictf("other_organization", "A service account has roles in its own organization only.")
	}
	grant, err := insertGrant(ctx, tx, at, account, permits, tx.Call().Actor.Name)
	if err != nil {
		return Grant{}, err
	}
	return grant, tx.Made(ctx, GrantNoun, grant.ID, uuid.Nil)
}

// insertGrant gives a role in the name of whoever decided it.
func insertGrant(ctx context.Context, tx *intent.Tx, at Scope, account Account, role rolePermits, by string) (Grant, error) {
	name := role.name
	if role.id != nil {
		name = customRole
	}
	id := uuid.New()
	there := fault.Conflictf("grant_exists", "%s already has the role %s at %s.", account.Name, role.name, at.Path())
	err := tx.One(ctx, there, sqlInsertGrant, id, account.ID, name, role.id, at.Kind, at.ID, Manual, by)
	if err != nil {
		return Grant{}, fmt.Errorf("give a role: %w", err)
	}
	grant, err := grantByID(ctx, tx.Reader, id)
	if err != nil {
		return Grant{}, err
	}
	return grant, grant.told(ctx, tx, at, "create", nil, grant.facts())
}

// TakeRole takes a grant away. An organization keeps an owner who can log in.
func TakeRole(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, ref scope.Ref[Grant], by uuid.UUID) error {
	grant, err := grantByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return err
	}
	at, err := levelOf(grant.Scope).byID(ctx, tx.Reader, grant.ScopeID)
	if err != nil {
		return err
	}
	if grant.Source != Manual {
		return fault.Conflictf("grant_of_provider", "An identity provider gave this role. Remove the account from the group there.")
	}
	if grant.AccountID != by { // everybody may leave
		role, err := roleNamed(ctx, tx, builtIn, at.OrganizationID, grant.Role)
		if err != nil {
			return err
		}
		if err := role.within(may, at); err != nil {
			return err
		}
	}
	if _, err := Organizations.hold(ctx, tx.Tx, at.OrganizationID); err != nil {
		return err
	}
	if _, err := grantByID(ctx, tx.Reader, grant.ID); err != nil { // another request may have taken it away
		return err
	}
	if err := tx.One(ctx, lastOwner(at), sqlDeleteGrant, grant.ID); err != nil {
		return fmt.Errorf("take a role away: %w", err)
	}
	if err := grant.told(ctx, tx, at, "delete", grant.facts(), nil); err != nil {
		return err
	}
	return tx.Made(ctx, GrantNoun, grant.ID, uuid.Nil)
}

func lastOwner(at Scope) error {
	return fault.Conflictf("last_owner", "This is the last owner of %s who can log in. Make somebody else an owner first.", at.OrganizationName)
}
