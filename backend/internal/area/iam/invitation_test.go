package iam

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/audit"
	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func (p *place) invite(t *testing.T, may May, at Scope, person, role string) (link string, made Invitation, err error) {
	t.Helper()
	link = NewInvitationLink()
	made, err = do(t, p, func(ctx context.Context, tx *intent.Tx) (Invitation, error) {
		return Invite(ctx, tx, builtIn, may, refOf(at), at.Kind, NewInvitation{Person: person, Role: role, Days: 7}, link)
	})
	return link, made, err
}

func (p *place) mustInvite(t *testing.T, at Scope, person, role string) (string, Invitation) {
	t.Helper()
	link, made, err := p.invite(t, everything, at, person, role)
	if err != nil {
		t.Fatal(err)
	}
	return link, made
}

func (p *place) accept(t *testing.T, account Account, within uuid.UUID, link string) (Grant, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (Grant, error) {
		return AcceptInvitation(ctx, tx, builtIn, scope.Found[Account](account.ID, account.ID), within, link)
	})
}

func (p *place) join(t *testing.T, link, name string) (bool, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (bool, error) {
		return JoinByInvitation(ctx, tx, builtIn, link, name, "hash")
	})
}

func wantNotFound(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
}

// An invitation is accepted once, by an account that is there or by a new one, and gives its role and nothing more.
func TestInvitations(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	web := p.project(t, acme, "web")
	bob := p.account(t, "bob")
	link, made := p.mustInvite(t, web, "bob@example.org", "viewer")
	if made.Path != "acme/web" || made.Person() != "bob@example.org" {
		t.Errorf("made %+v", made)
	}
	grant, err := p.accept(t, bob, uuid.Nil, link)
	if err != nil || grant.Role != "viewer" || grant.ScopeID != web.ID || grant.CreatedBy != "ada" {
		t.Errorf("accepted as %+v, %v", grant, err)
	}
	_, err = p.accept(t, p.account(t, "eve"), uuid.Nil, link)
	wantNotFound(t, err)
	link, _ = p.mustInvite(t, acme, "carl@example.org", "admin")
	if ok, err := p.join(t, link, "carl"); !ok || err != nil {
		t.Fatal(ok, err)
	}
	carl, err := FindAccount(t.Context(), p.Reader, acme.ID, "carl")
	if err != nil || carl.Email != "carl@example.org" || carl.Kind != Person {
		t.Errorf("joined as %+v, %v", carl, err)
	}
	_, err = p.join(t, link, "dora")
	wantNotFound(t, err)
	told := p.texts(t, "SELECT action || ' ' || object_name FROM events WHERE object_kind = 'invitation' ORDER BY at, id")
	want := "[[invitation.create bob@example.org at acme/web] [invitation.accept bob@example.org at acme/web] [invitation.create carl@example.org at acme] [invitation.accept carl@example.org at acme]]"
	if got := fmt.Sprint(told); got != want {
		t.Errorf("told %s", got)
	}
}

// An invitation by name is for the account of this name, whether or not there is one when it is made.
func TestInvitationByName(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	link, _ := p.mustInvite(t, acme, "bob", "viewer")
	_, err := p.accept(t, p.account(t, "eve"), uuid.Nil, link)
	wantConflict(t, err, "other_account")
	_, err = p.join(t, link, "mallory")
	wantConflict(t, err, "other_account")
	if _, err := p.accept(t, p.account(t, "bob"), uuid.Nil, link); err != nil {
		t.Error(err)
	}
	for _, bad := range []string{"Bob!", "@", "a b@example.org", "bob <bob@example.org>", ""} {
		_, _, err := p.invite(t, everything, acme, bad, "viewer")
		wantInvalid(t, err, "person")
	}
}

// Nobody invites to more than they have, then or when it is accepted.
func TestInvitationsAreNoWiderThanTheInviter(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	narrow := func(permission string, _ Scope) bool { return permission == "project.workspace.host:read" }
	_, _, err := p.invite(t, narrow, acme, "bob", "admin")
	wantConflict(t, err, "role_too_wide")
	link, _ := p.mustInvite(t, acme, "bob", "admin")
	bob, eve := p.account(t, "bob"), p.account(t, "eve")
	p.mustGive(t, acme, eve, RoleOwner)
	p.sql(t, "DELETE FROM grants WHERE account_id = $1", p.ada.ID)
	_, err = p.accept(t, bob, uuid.Nil, link)
	wantNotFound(t, err)
	p.mustGive(t, acme, p.ada, "viewer")
	_, err = p.accept(t, bob, uuid.Nil, link)
	wantNotFound(t, err)
	p.mustGive(t, acme, p.ada, "admin")
	p.sql(t, "UPDATE accounts SET state = 'disabled' WHERE id = $1", p.ada.ID)
	_, err = p.accept(t, bob, uuid.Nil, link)
	wantNotFound(t, err)
	p.sql(t, "UPDATE accounts SET state = 'active' WHERE id = $1", p.ada.ID)
	_, err = p.accept(t, bob, uuid.New(), link) // a session of another organization's provider
	wantConflict(t, err, "other_login")
	if _, err := p.accept(t, bob, acme.ID, link); err != nil {
		t.Error(err)
	}
}

// A link is no means to find out which accounts there are: it ends after some names that others have.
func TestTakenNamesEndAnInvitation(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	link, _ := p.mustInvite(t, acme, "bob@example.org", "viewer")
	for range maxTakenNames {
		if ok, err := p.join(t, link, "ada"); ok || err != nil {
			t.Fatal(ok, err)
		}
	}
	_, err := p.join(t, link, "bob")
	wantNotFound(t, err)
	if got := fmt.Sprint(p.texts(t, "SELECT action FROM events WHERE object_kind = 'invitation' ORDER BY at DESC, id DESC LIMIT 1")); got != "[[invitation.end]]" {
		t.Errorf("told %s", got)
	}
}

// An invitation gives no role once it was withdrawn, has expired, or its scope is gone. Lists leave out those of others.
func TestInvitationsEnd(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	web := p.project(t, acme, "web")
	bob := p.account(t, "bob")
	list := func(at Scope) (persons []string) {
		t.Helper()
		rows, err := Invitations(t.Context(), p.Reader, at, "", nil, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range rows {
			persons = append(persons, i.Person())
		}
		return persons
	}
	withdrawn, w := p.mustInvite(t, acme, "one", "viewer")
	expired, e := p.mustInvite(t, acme, "two", "viewer")
	gone, _ := p.mustInvite(t, web, "three", "viewer")
	if got := fmt.Sprint(list(acme), list(web)); got != "[one two three] [three]" {
		t.Errorf("lists %s", got)
	}
	must(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
		return none{}, Withdraw(ctx, tx, scope.Found[Invitation](w.ID, acme.ID))
	})
	p.sql(t, "UPDATE invitations SET expires_at = now() WHERE id = $1", e.ID)
	must(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
		return none{}, Projects.Remove(ctx, tx, refOf(web), 0)
	})
	for _, link := range []string{withdrawn, expired, gone, "", "kli_", NewLink()} {
		_, err := p.accept(t, bob, uuid.Nil, link)
		wantNotFound(t, err)
		_, err = InvitationOfLink(t.Context(), p.Reader, link)
		wantNotFound(t, err)
	}
	if got := list(acme); len(got) != 0 {
		t.Errorf("lists %v", got)
	}
	err := p.InTx(t.Context(), func(tx *db.Tx) error {
		_, err := DropExpiredInvitations(t.Context(), tx, audit.Actor{Kind: audit.Policy, Name: "expired_invitations"}, 10)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(p.texts(t, "SELECT action || ' ' || object_name FROM events WHERE action IN ('invitation.expire', 'invitation.delete') ORDER BY at, id"), p.texts(t, "SELECT count(*)::TEXT FROM invitations")); got != "[[invitation.delete one at acme] [invitation.expire two at acme]] [[0]]" {
		t.Errorf("told %s", got)
	}
}
