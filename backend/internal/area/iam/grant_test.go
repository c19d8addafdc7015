package iam

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

func (p *place) grants(t *testing.T, f GrantFilter) []Grant {
	t.Helper()
	f.Limit = 100
	rows, err := Grants(t.Context(), p.Reader, f)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A scope lists the grants at it and those that it inherits.
func TestGrantsOfAScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	web, shop := p.project(t, acme, "web"), p.project(t, acme, "shop")
	live := p.workspace(t, web, "live")
	bob, eve := p.account(t, "bob"), p.account(t, "eve")
	p.mustGive(t, web, bob, "admin")
	p.mustGive(t, live, eve, "viewer")
	p.mustGive(t, shop, eve, "viewer")
	var got []string
	for _, g := range p.grants(t, GrantFilter{At: live}) {
		got = append(got, g.Account+" "+g.Role+" "+g.Scope)
	}
	if want := []string{"ada owner organization", "bob admin project", "eve viewer workspace"}; !slices.Equal(got, want) {
		t.Errorf("grants %v, want %v", got, want)
	}
	if got := p.grants(t, GrantFilter{At: live, Account: bob.ID}); len(got) != 1 {
		t.Errorf("bob has %+v", got)
	}
	if got := p.grants(t, GrantFilter{At: acme}); len(got) != 1 {
		t.Errorf("the organization has %+v", got)
	}
}

// Nobody gives or takes away a role with permissions that they lack there themselves.
func TestNobodyGivesMoreThanTheyHave(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	bob := p.account(t, "bob")
	asAdmin := func(permission string, _ Scope) bool { return builtIn["admin"][permission] }
	_, err := p.give(t, asAdmin, acme, bob, RoleOwner)
	wantConflict(t, err, "role_too_wide")
	if _, err := p.give(t, asAdmin, acme, bob, "admin"); err != nil {
		t.Error(err)
	}
	owner := p.mustGive(t, acme, bob, RoleOwner)
	wantConflict(t, p.take(t, asAdmin, owner, p.ada.ID), "role_too_wide")
	if err := p.take(t, asAdmin, owner, bob.ID); err != nil {
		t.Errorf("bob can't leave: %v", err)
	}
	_, err = p.give(t, everything, acme, bob, "no-such-role")
	wantInvalid(t, err, "role")
	_, err = p.give(t, everything, acme, bob, RoleInstallationOperator)
	wantInvalid(t, err, "role")
	_, err = p.give(t, everything, acme, bob, "admin")
	wantConflict(t, err, "grant_exists")
}

// A service account has roles in its own organization only.
func TestServiceAccountsStayAtHome(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme, other := p.organization(t, "acme"), p.organization(t, "other")
	ci := p.account(t, "ci")
	p.sql(t, "UPDATE accounts SET kind = 'service', organization_id = $2 WHERE id = $1", ci.ID, acme.ID)
	ci, err := accountByID(t.Context(), p.Reader, ci.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.give(t, everything, other, ci, "viewer")
	wantConflict(t, err, "other_organization")
	p.mustGive(t, acme, ci, "viewer")
}

func (p *place) owners(t *testing.T, organization Scope) (owners []Grant) {
	t.Helper()
	for _, g := range p.grants(t, GrantFilter{At: organization}) {
		if g.Role == RoleOwner {
			owners = append(owners, g)
		}
	}
	return owners
}

// The last owner who can log in stays, also where two owners are taken away at once.
func TestTheLastOwnerStays(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	wantConflict(t, p.take(t, everything, p.owners(t, acme)[0], p.ada.ID), "last_owner")
	bob := p.account(t, "bob")
	for round := range 10 {
		p.mustGive(t, acme, bob, RoleOwner)
		owners := p.owners(t, acme)
		if len(owners) != 2 {
			t.Fatalf("round %d: owners %+v", round, owners)
		}
		var done sync.WaitGroup
		var errs [2]error
		for i, owner := range owners {
			done.Go(func() { errs[i] = p.take(t, everything, owner, uuid.Nil) })
		}
		done.Wait()
		left := p.owners(t, acme)
		if len(left) != 1 || (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("round %d: owners %+v, %v", round, left, errs)
		}
		wantConflict(t, errors.Join(errs[:]...), "last_owner")
		if left[0].AccountID == bob.ID {
			bob, p.ada = p.ada, bob
		}
	}
	// An owner who is disabled does not count.
	p.sql(t, "UPDATE accounts SET state = 'disabled' WHERE id = $1", bob.ID)
	p.mustGive(t, acme, bob, RoleOwner)
	wantConflict(t, p.take(t, everything, p.owners(t, acme)[slices.IndexFunc(p.owners(t, acme), func(g Grant) bool { return g.AccountID == p.ada.ID })], uuid.Nil), "last_owner")
}

func TestTakeAGrantTwice(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	grant := p.mustGive(t, p.organization(t, "acme"), p.account(t, "bob"), "viewer")
	if err := p.take(t, everything, grant, uuid.Nil); err != nil {
		t.Fatal(err)
	}
	if err := p.take(t, everything, grant, uuid.Nil); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("taken away twice: %v", err)
	}
}

// An account is known in an organization by a grant anywhere in it.
func TestAccountsOfAnOrganization(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme, other := p.organization(t, "acme"), p.organization(t, "other")
	bob := p.account(t, "bob")
	p.mustGive(t, p.workspace(t, p.project(t, acme, "web"), "live"), bob, "viewer")
	for _, c := range []struct {
		in    uuid.UUID
		known bool
	}{{acme.ID, true}, {other.ID, false}, {uuid.Nil, true}} {
		for _, text := range []string{"bob", bob.ID.String()} {
			if found, err := FindAccount(t.Context(), p.Reader, c.in, text); (err == nil) != c.known || c.known && found.ID != bob.ID {
				t.Errorf("in %s: %+v, %v", c.in, found, err)
			}
		}
	}
}
