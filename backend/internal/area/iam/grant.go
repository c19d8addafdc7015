package iam

import (
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// GrantNoun names grants in events and problems.
const GrantNoun = "grant"

// Manual is the source of a grant that a person gave. What a provider gave, it also takes away.
const Manual = "manual"

// customRole stands in the column role of a grant of an organization's own role.
const customRole = "custom"

// Grant is a role that an account has at a scope and below it.
type Grant struct {
	ID           uuid.UUID  `db:"id"`
	AccountID    uuid.UUID  `db:"account_id"`
	Account      string     `db:"account"`
	AccountKind  string     `db:"account_kind"`
	AccountState string     `db:"account_state"`
	Role         string     `db:"role"` // its name
	RoleID       *uuid.UUID `db:"role_id"`
	Scope        string     `db:"scope"` // noun of the scope
	ScopeID      uuid.UUID  `db:"scope_id"`
	Source       string     `db:"source"`
	CreatedBy    string     `db:"created_by"`
	CreatedAt    time.Time  `db:"created_at"`
}

// facts are what an event tells of a grant.
func (g Grant) facts() map[string]any {
	return map[string]any{"account": g.Account, "role": g.Role, "source": g.Source}
}

// rolePermits is a role with what it permits.
type rolePermits struct {
	name        string
	id          *uuid.UUID // of an organization's own role
	permissions []string
}

// May tells whether the one who asks has a permission at a scope.
type May func(permission string, at Scope) bool

// within tells why somebody may not give or take away a role: it has permissions that they lack there themselves.
func (r rolePermits) within(may May, at Scope) error {
	for _, p := range r.permissions {
		if !may(p, at) {
			return fault.Conflictf("role_too_wide", "The role %s has the permission %s, which you do not have at %s yourself.", r.name, p, at.Path())
		}
	}
	return nil
}

// BuiltIn are the roles of the product that can be granted in an organization, with what each permits.
type BuiltIn map[string]map[string]bool

// role is a role of the product; false if it has none of this name that can be granted in an organization.
func (b BuiltIn) role(name string) (rolePermits, bool) {
	permits, known := b[name]
	own := slices.ContainsFunc(Roles, func(r Role) bool { return r.Name == name && !r.Installation })
	return rolePermits{name: name, permissions: permissionsOf(permits)}, known && own
}

func permissionsOf(permits map[string]bool) []string { return slices.Sorted(maps.Keys(permits)) }
