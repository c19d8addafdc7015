package iam

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// MappingNoun names group mappings in events and problems.
const MappingNoun = "group_mapping"

// Mapping gives a role at a scope to everybody in a group of a provider.
type Mapping struct {
	ID         uuid.UUID  `db:"id"`
	ProviderID uuid.UUID  `db:"provider_id"`
	Provider   string     `db:"provider"` // its name
	ProviderOf uuid.UUID  `db:"provider_of"`
	Group      string     `db:"group_name"`
	Role       string     `db:"role"` // its name
	RoleID     *uuid.UUID `db:"role_id"`
	Scope      string     `db:"scope"` // noun of the scope
	ScopeID    uuid.UUID  `db:"scope_id"`
	Path       string     `db:"path"` // of the scope; "" for the installation
	CreatedBy  string     `db:"created_by"`
	CreatedAt  time.Time  `db:"created_at"`
}

// facts are what an event tells of a mapping.
func (m Mapping) facts() map[string]any {
	return map[string]any{"provider": m.Provider, "group": m.Group, "role": m.Role, "scope": m.Scope}
}

func (m Mapping) told(ctx context.Context, tx *intent.Tx, at Scope, action string, before, after map[string]any) error {
	err := tx.Event(ctx, at.entry(audit.Entry{
		Action: MappingNoun + "." + action, ObjectKind: MappingNoun, ObjectID: m.ID, ObjectName: m.Group + " at " + at.Path(), Before: before, After: after,
	}))
	if err != nil {
		return err
	}
	return tx.Made(ctx, MappingNoun, m.ID, uuid.Nil)
}

// role is a role of the product that is granted for the installation alone.
func (b BuiltIn) installationRole(name string) (rolePermits, error) {
	permits, known := b[name]
	if !known || !slices.ContainsFunc(Roles, func(r Role) bool { return r.Name == name && r.Installation }) {
		var bad fault.Invalid
		bad.Add("role", "The installation has no role %q.", name)
		return rolePermits{}, bad.OrNil()
	}
	return rolePermits{name: name, permissions: permissionsOf(permits)}, nil
}

// roleAtScope finds the role of a mapping with what it permits.
func roleAtScope(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, at Scope, name string) (rolePermits, error) {
	if at.Kind == "" {
		return builtIn.installationRole(name)
	}
	return roleNamed(ctx, tx, builtIn, at.OrganizationID, name)
}

// mappedScope reads the scope of a mapping; the zero Scope is the installation.
func (m Mapping) mappedScope(ctx context.Context, q db.Reader) (Scope, error) {
	if m.Scope == string(scope.Installation) {
		return Scope{}, nil
	}
	return levelOf(m.Scope).byID(ctx, q, m.ScopeID)
}

// mappingsWithin refuses who lacks a permission that a group of the provider is mapped to.
func mappingsWithin(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, p Provider) error {
	all, err := MappingsOf(ctx, tx.Reader, p.ID)
	if err != nil {
		return err
	}
	for _, m := range all {
		at, err := m.mappedScope(ctx, tx.Reader)
		if err != nil {
			return err
		}
		role, err := roleAtScope(ctx, tx, builtIn, at, m.Role)
		if err != nil {
			return err
		}
		if err := role.within(may, at); err != nil {
			return err
		}
	}
	return nil
}

// CreateMapping maps a group of a provider to a role at a scope; the zero Scope is the installation. Nobody maps to a role with
// permissions that they lack there themselves. An organization's provider gives roles in that organization only.
func CreateMapping(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, p Provider, at Scope, group, role string) (Mapping, error) {
	var bad fault.Invalid
	if group == "" || len(group) > 256 || slices.ContainsFunc([]rune(group), unicode.IsControl) {
		bad.Add("group", "Use the name of the group as the provider tells it: at most 256 bytes.")
	}
	if err := bad.OrNil(); err != nil {
		return Mapping{}, err
	}
	held, err := db.First[Provider](ctx, tx.Reader, fault.ErrNotFound, sqlHoldProvider, p.ID)
	if err != nil {
		return Mapping{}, err
	}
	if !held.OfInstallation() && held.OrganizationID != at.OrganizationID {
		return Mapping{}, fault.Conflictf("other_organization", "An organization's identity provider gives roles in that organization only.")
	}
	if at.Kind != "" {
		kept, err := levelOf(at.Kind).keep(ctx, tx.Tx, at.ID)
		if err != nil {
			return Mapping{}, err
		}
		if err := kept.CanWrite(); err != nil {
			return Mapping{}, err
		}
	}
	permits, err := roleAtScope(ctx, tx, builtIn, at, role)
	if err != nil {
		return Mapping{}, err
	}
	if err := permits.within(may, at); err != nil {
		return Mapping{}, err
	}
	level, name, id := string(scope.Installation), permits.name, uuid.New()
	if at.Kind != "" {
		level = at.Kind
	}
	if permits.id != nil {
		name = customRole
	}
	there := fault.Conflictf("mapping_exists", "The group %s has the role %s at %s already, or the provider has 200 mappings.", group, permits.name, at.Path())
	if err := tx.One(ctx, there, sqlInsertMapping, id, held.ID, group, name, permits.id, level, at.ID, tx.Call().Actor.Name); err != nil {
		return Mapping{}, fmt.Errorf("make a group mapping: %w", err)
	}
	made, err := MappingByID(ctx, tx.Reader, id)
	if err != nil {
		return Mapping{}, err
	}
	return made, made.told(ctx, tx, at, "create", nil, made.facts())
}

// DeleteMapping deletes a mapping. What it gave ends at once, unless another group of the provider is mapped to the same: then
// it ends with the next login of those who are not in that one.
func DeleteMapping(ctx context.Context, tx *intent.Tx, builtIn BuiltIn, may May, ref scope.Ref[Mapping]) error {
	m, err := MappingByID(ctx, tx.Reader, ref.ID())
	if err != nil {
		return err
	}
	if _, err := db.First[Provider](ctx, tx.Reader, fault.ErrNotFound, sqlHoldProvider, m.ProviderID); err != nil {
		return err
	}
	at, err := m.mappedScope(ctx, tx.Reader)
	if err != nil {
		return err
	}
	role, err := roleAtScope(ctx, tx, builtIn, at, m.Role)
	if err != nil {
		return err
	}
	if err := role.within(may, at); err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDeleteMapping, m.ID); err != nil {
		return err
	}
	if err := takeAll(ctx, tx, sqlGrantsNotMapped, Provider{ID: m.ProviderID}.source(), m.ProviderID, m.ScopeID); err != nil {
		return err
	}
	return m.told(ctx, tx, at, "delete", m.facts(), nil)
}
