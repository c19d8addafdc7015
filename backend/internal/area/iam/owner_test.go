package iam

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/egress"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (p *place) provider(t *testing.T, organization uuid.UUID, name string) Provider {
	t.Helper()
	return must(t, p, func(ctx context.Context, tx *intent.Tx) (Provider, error) {
		return CreateProvider(ctx, tx, p.keys, egress.Rule{}, organization, ProviderDraft{
			Name: name, Issuer: "https://login.example.org/" + name, ClientID: "kloigos", Scopes: DefaultScopes(), GroupsClaim: DefaultGroupsClaim, Enabled: true,
		})
	})
}

func (p *place) changeProvider(t *testing.T, of Provider, change func(*ProviderDraft)) error {
	t.Helper()
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Provider, error) {
		return ChangeProvider(ctx, tx, p.keys, egress.Rule{}, builtIn, everything, scope.Found[Provider](of.ID, of.OrganizationID), 0, change)
	})
	return err
}

// lets makes an account without a password whom a provider lets in.
func (p *place) lets(t *testing.T, by Provider, name string) Account {
	t.Helper()
	a := p.account(t, name)
	p.sql(t, "UPDATE accounts SET password_hash = 'none' WHERE id = $1", a.ID)
	p.identity(t, by, a)
	return a
}

func (p *place) identity(t *testing.T, by Provider, a Account) uuid.UUID {
	t.Helper()
	id := uuid.New()
	p.sql(t, "INSERT INTO identities (id, account_id, provider_id, issuer, subject) VALUES ($1, $2, $3, $4, $5)", id, a.ID, by.ID, by.Issuer, a.Name)
	return id
}

func (p *place) operator(t *testing.T, a Account) {
	t.Helper()
	p.sql(t, "INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) VALUES ($1, $2, 'installation_operator', 'installation', $3, 'test')", uuid.New(), a.ID, uuid.Nil)
}

func (p *place) grantOf(t *testing.T, at Scope, a Account) Grant {
	t.Helper()
	found := p.grants(t, GrantFilter{At: at, Account: a.ID})
	if len(found) != 1 {
		t.Fatalf("%s has %+v", a.Name, found)
	}
	return found[0]
}

// An owner counts who can log in: each other owner below cannot, but the last. Removing a grant, leaving and disabling the account of
// the one who can are refused until then.
func TestOnlyOwnersWhoCanLogInCount(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		other  func(p *place, acme Scope) Account
		counts bool
	}{
		"a disabled account": {func(p *place, _ Scope) Account {
			a := p.account(t, "bob")
			p.sql(t, "UPDATE accounts SET state = 'disabled' WHERE id = $1", a.ID)
			return a
		}, false},
		"no password yet": {func(p *place, _ Scope) Account {
			a := p.account(t, "bob")
			p.sql(t, "UPDATE accounts SET password_hash = 'none' WHERE id = $1", a.ID)
			return a
		}, false},
		"a disabled provider": {func(p *place, acme Scope) Account {
			a := p.lets(t, p.provider(t, acme.ID, "login"), "bob")
			p.sql(t, "UPDATE identity_providers SET state = 'disabled'")
			return a
		}, false},
		"a provider of another organization": {func(p *place, _ Scope) Account {
			return p.lets(t, p.provider(t, p.organization(t, "other").ID, "login"), "bob")
		}, false},
		"another issuer since": {func(p *place, acme Scope) Account {
			a := p.lets(t, p.provider(t, acme.ID, "login"), "bob")
			p.sql(t, "UPDATE identity_providers SET issuer = 'https://another.example.org'")
			return a
		}, false},
		"an enabled provider": {func(p *place, acme Scope) Account {
			return p.lets(t, p.provider(t, acme.ID, "login"), "bob")
		}, true},
		"the installation's provider": {func(p *place, _ Scope) Account {
			return p.lets(t, p.provider(t, uuid.Nil, "login"), "bob")
		}, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			acme := p.organization(t, "acme")
			p.mustGive(t, acme, c.other(p, acme), RoleOwner)
			mine := p.grantOf(t, acme, p.ada)
			if c.counts {
				if err := p.take(t, everything, mine, p.ada.ID); err != nil {
					t.Errorf("ada can't leave: %v", err)
				}
				return
			}
			wantConflict(t, p.take(t, everything, mine, uuid.New()), "last_owner")
			wantConflict(t, p.take(t, everything, mine, p.ada.ID), "last_owner")
			_, err := p.onAccount(t, p.ada, DisableAccount)
			wantConflict(t, err, "last_owner")
		})
	}
}

// The only way in of an organization's last owner, or of the last operator, is not closed: neither by the provider's end, nor by
// a change that ends what it proved, nor by the one who has it.
func TestTheLastWayInStays(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	login := p.provider(t, acme.ID, "login")
	bob := p.account(t, "bob")
	p.sql(t, "UPDATE accounts SET password_hash = 'none' WHERE id = $1", bob.ID)
	identity := p.identity(t, login, bob)
	p.mustGive(t, acme, bob, RoleOwner)
	if err := p.take(t, everything, p.grantOf(t, acme, p.ada), p.ada.ID); err != nil {
		t.Fatal(err)
	}
	disable := func(d *ProviderDraft) { d.Enabled = false }
	closing := map[string]func() error{
		"disable": func() error { return p.changeProvider(t, login, disable) },
		"issuer": func() error {
			return p.changeProvider(t, login, func(d *ProviderDraft) { d.Issuer = "https://another.example.org" })
		},
		"delete": func() error {
			_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
				return none{}, DeleteProvider(ctx, tx, builtIn, everything, scope.Found[Provider](login.ID, acme.ID), 0)
			})
			return err
		},
	}
	for what, end := range closing {
		t.Log(what)
		wantConflict(t, end(), "last_owner")
	}
	unlink := func() error {
		_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
			return none{}, UnlinkIdentity(ctx, tx, scope.Found[Identity](identity, bob.ID), bob.ID)
		})
		return err
	}
	wantConflict(t, unlink(), "last_way_in")
	// An identity elsewhere lets bob in, but not into acme.
	elsewhere := p.provider(t, p.organization(t, "other").ID, "login")
	p.identity(t, elsewhere, bob)
	wantConflict(t, unlink(), "last_owner")
	// One at a provider that is disabled lets nobody in.
	p.sql(t, "UPDATE identity_providers SET state = 'disabled' WHERE id = $1", elsewhere.ID)
	wantConflict(t, unlink(), "last_way_in")
	// With a password nothing is in the way.
	p.sql(t, "UPDATE accounts SET password_hash = 'a hash' WHERE id = $1", bob.ID)
	if err := closing["disable"](); err != nil {
		t.Error(err)
	}
	if err := unlink(); err != nil {
		t.Error(err)
	}

	corp := p.provider(t, uuid.Nil, "corp")
	op := p.lets(t, corp, "op")
	p.operator(t, op)
	wantConflict(t, p.changeProvider(t, corp, disable), "last_operator")
	_, err := p.onAccount(t, op, DisableAccount)
	wantConflict(t, err, "last_owner")
	p.operator(t, p.account(t, "op2"))
	if err := p.changeProvider(t, corp, disable); err != nil {
		t.Error(err)
	}
}
