package iam

import (
	"context"
	"encoding/hex"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

var grantables = []string{"organization.member:grant", "project.workspace.host:read"}

func (p *place) service(t *testing.T, at Scope, label string) Account {
	t.Helper()
	return must(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) {
		return CreateServiceAccount(ctx, tx, refOf(at), label)
	})
}

// lives tells whether a secret is of a token that is valid, as a request with it is looked up.
func (p *place) lives(t *testing.T, secret string) bool {
	t.Helper()
	return len(p.texts(t, "SELECT id::TEXT FROM tokens WHERE encode(hash, 'hex') = $1 AND expires_at > now()", hex.EncodeToString(hashOf(tokenPrefix, secret)))) == 1
}

// A rotated key keeps its id and has two live secrets for a while; the one before the former ends, and all end with the key.
func TestKeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	ci := p.service(t, acme, "ci")
	if ci.Kind != Service || ci.Label() != "ci" || ci.OrganizationID == nil || *ci.OrganizationID != acme.ID {
		t.Errorf("made %+v", ci)
	}
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) {
		return CreateServiceAccount(ctx, tx, refOf(acme), "ci")
	})
	wantConflict(t, err, "name_taken")
	p.service(t, p.organization(t, "other"), "ci")
	first, second, third := NewKeySecret(), NewKeySecret(), NewKeySecret()
	key := must(t, p, func(ctx context.Context, tx *intent.Tx) (Key, error) {
		return CreateKey(ctx, tx, refOfAccount(ci), NewKey{Name: "pipeline", Permissions: grantables[1:], At: &acme, Valid: time.Hour}, grantables, first)
	})
	if key.Scope == nil || *key.Scope != OrganizationNoun || *key.ScopeID != acme.ID || len(key.Permissions) != 1 {
		t.Errorf("made %+v", key)
	}
	rotate := func(secret string, overlap time.Duration) (Key, error) {
		return do(t, p, func(ctx context.Context, tx *intent.Tx) (Key, error) {
			return RotateKey(ctx, tx, refOfAccount(ci), key.ID, overlap, secret)
		})
	}
	after, err := rotate(second, time.Hour)
	if err != nil || after.ID != key.ID || after.OldUntil == nil || after.OldUntil.After(key.ExpiresAt) {
		t.Fatalf("rotated %+v, %v", after, err)
	}
	if !p.lives(t, first) || !p.lives(t, second) {
		t.Error("a secret does not live after the rotation")
	}
	if limits := p.texts(t, "SELECT count(*)::TEXT FROM tokens WHERE account_id = $1 AND permissions = '{project.workspace.host:read}' AND scope = 'organization' AND scope_id = $2", ci.ID, acme.ID); limits[0][0] != "2" {
		t.Errorf("%s secrets have the key's limits", limits[0][0])
	}
	if after, err = rotate(third, 0); err != nil || after.OldUntil != nil {
		t.Fatalf("rotated %+v, %v", after, err)
	}
	if p.lives(t, first) || p.lives(t, second) || !p.lives(t, third) {
		t.Error("a former secret lives")
	}
	if _, err := rotate(first, time.Hour); err != nil {
		t.Fatal(err)
	}
	if rows, err := Keys(t.Context(), p.Reader, ci.ID); err != nil || len(rows) != 1 {
		t.Errorf("keys %+v, %v", rows, err)
	}
	end := func() error {
		_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
			return none{}, DeleteKey(ctx, tx, refOfAccount(ci), key.ID)
		})
		return err
	}
	if err := end(); err != nil {
		t.Fatal(err)
	}
	if p.lives(t, first) || p.lives(t, third) {
		t.Error("a secret outlives its key")
	}
	if err := end(); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("a key ends twice: %v", err)
	}
	_, err = do(t, p, func(ctx context.Context, tx *intent.Tx) (Key, error) {
		return CreateKey(ctx, tx, refOfAccount(ci), NewKey{Name: "x", Permissions: []string{"installation.account:read"}, Valid: time.Hour}, grantables, first)
	})
	wantInvalid(t, err, "permissions[0]")
}

// A role of an organization has no permission that its maker lacks, and stays while somebody has it.
func TestCustomRoles(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme, other := p.organization(t, "acme"), p.organization(t, "other")
	create := func(may May, name string, permissions ...string) (CustomRole, error) {
		return do(t, p, func(ctx context.Context, tx *intent.Tx) (CustomRole, error) {
			return CreateRole(ctx, tx, may, grantables, refOf(acme), RoleDraft{Name: name, Permissions: permissions})
		})
	}
	reader := func(permission string, _ Scope) bool { return permission == grantables[1] }
	_, err := create(reader, "granter", grantables...)
	wantConflict(t, err, "role_too_wide")
	_, err = create(everything, "owner", grantables[1])
	wantInvalid(t, err, "name")
	_, err = create(everything, "watcher", "installation.account:read")
	wantInvalid(t, err, "permissions[0]")
	watcher, err := create(reader, "watcher", grantables[1], grantables[1])
	if err != nil || len(watcher.Permissions) != 1 {
		t.Fatalf("%+v, %v", watcher, err)
	}
	_, err = create(everything, "watcher", grantables[1])
	wantConflict(t, err, "role_exists")
	bob := p.account(t, "bob")
	_, err = p.give(t, everything, other, bob, "watcher")
	wantInvalid(t, err, "role") // it is another organization's
	grant := p.mustGive(t, acme, bob, "watcher")
	if grant.Role != "watcher" || grant.RoleID == nil {
		t.Errorf("given %+v", grant)
	}
	ref := scope.Found[CustomRole](watcher.ID, acme.ID)
	change := func(may May, permissions ...string) (CustomRole, error) {
		return do(t, p, func(ctx context.Context, tx *intent.Tx) (CustomRole, error) {
			return ChangeRole(ctx, tx, may, grantables, ref, watcher.Version, func(d *RoleDraft) { d.Permissions = permissions })
		})
	}
	_, err = change(reader, grantables...)
	wantConflict(t, err, "role_too_wide")
	after, err := change(everything, grantables...)
	if err != nil || len(after.Permissions) != 2 || after.Version != 2 {
		t.Errorf("%+v, %v", after, err)
	}
	_, err = change(everything, grantables...)
	wantConflict(t, err, "version_mismatch")
	drop := func() error {
		_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) { return none{}, DeleteRole(ctx, tx, ref, 0) })
		return err
	}
	wantConflict(t, drop(), "role_in_use")
	if err := p.take(t, everything, grant, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if err := drop(); err != nil {
		t.Error(err)
	}
}
