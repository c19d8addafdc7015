package iam

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	for password, good := range map[string]bool{
		"a long new sentence": true, "short": false, "aaaaaaaaaaaaaaaaaaaa": false, "passwordpassword": false, "Password12345": false, "my ada is great!!": false,
		"line\nbreak in a sentence": false, "\xff\xfe is not a text of UTF-8": false, "Grüße aus Zürich": true,
	} {
		if err := checkPassword("ada", password); (err == nil) != good {
			t.Errorf("%q: %v", password, err)
		}
	}
}

func TestSecretsHaveAForm(t *testing.T) {
	t.Parallel()
	secret := newSecret(linkPrefix)
	if hashOf(linkPrefix, secret) == nil || hashOf(linkPrefix, " "+secret+"\n") == nil {
		t.Error("a good secret has no hash")
	}
	for _, bad := range []string{"", "kll_", secret + "x", secret[:20], newSecret(invitePrefix), newSecret(tokenPrefix)} {
		if hashOf(linkPrefix, bad) != nil {
			t.Errorf("%q has a hash", bad)
		}
	}
}

func refOfAccount(a Account) scope.Ref[Account] { return scope.Found[Account](a.ID, a.ID) }

func (p *place) onAccount(t *testing.T, a Account, f func(context.Context, *intent.Tx, scope.Ref[Account], int64) (Account, error)) (Account, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) { return f(ctx, tx, refOfAccount(a), 0) })
}

func (p *place) useLink(t *testing.T, secret, hash string) error {
	t.Helper()
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) { return UseLink(ctx, tx, secret, hash) })
	return err
}

// A link sets a password once. A new one ends it, and so do time and the end of the account.
func TestLinks(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	first, second := NewLink(), NewLink()
	bob := must(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) {
		return CreateAccount(ctx, tx, NewAccount{"bob", "bob@example.org"}, first)
	})
	if _, name, err := AccountOfLink(t.Context(), p.Reader, first); err != nil || name != "bob" {
		t.Errorf("the link is of %q, %v", name, err)
	}
	reset := func(secret string) error {
		_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) {
			return ResetPassword(ctx, tx, refOfAccount(bob), secret)
		})
		return err
	}
	if err := reset(second); err != nil {
		t.Fatal(err)
	}
	if err := p.useLink(t, first, "hash-1"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("the first link still works: %v", err)
	}
	p.sql(t, "INSERT INTO tokens (id, kind, account_id, name, prefix, hash, expires_at) VALUES ($1, 'session', $2, 's', 'kl_', $3, now() + INTERVAL '1 hour')", uuid.New(), bob.ID, []byte("h"))
	if err := p.useLink(t, second, "hash-2"); err != nil {
		t.Fatal(err)
	}
	if err := p.useLink(t, second, "hash-3"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("a link works twice: %v", err)
	}
	if got := p.texts(t, "SELECT password_hash, (SELECT count(*)::TEXT FROM tokens WHERE account_id = a.id) FROM accounts a WHERE id = $1", bob.ID); !slices.Equal(got[0], []string{"hash-2", "0"}) {
		t.Errorf("password and sessions: %v", got)
	}
	third := NewLink()
	if err := reset(third); err != nil {
		t.Fatal(err)
	}
	p.sql(t, "UPDATE account_links SET expires_at = now() - INTERVAL '1 second'")
	if err := p.useLink(t, third, "hash-4"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("an expired link works: %v", err)
	}
	if err := reset(third); err != nil {
		t.Fatal(err)
	}
	if _, err := p.onAccount(t, bob, DisableAccount); err != nil {
		t.Fatal(err)
	}
	if err := p.useLink(t, third, "hash-5"); !errors.Is(err, fault.ErrNotFound) {
		t.Errorf("the link of a disabled account works: %v", err)
	}
	wantConflict(t, reset(third), "account_state")
	_, err := do(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) {
		return CreateAccount(ctx, tx, NewAccount{"bob", ""}, first)
	})
	wantConflict(t, err, "name_taken")
	_, err = do(t, p, func(ctx context.Context, tx *intent.Tx) (Account, error) {
		return CreateAccount(ctx, tx, NewAccount{"bob@acme", ""}, first)
	})
	wantInvalid(t, err, "name")
}

// Whoever changes a password keeps the session that did it, and API tokens; the other sessions end.
func TestSetPasswordEndsOtherSessions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	mine := uuid.New()
	for i, kind := range []string{"session", "session", "api"} {
		id := uuid.New()
		if i == 0 {
			id = mine
		}
		p.sql(t, "INSERT INTO tokens (id, kind, account_id, name, prefix, hash, expires_at) VALUES ($1, $2, $3, $4, 'kl_', $5, now() + INTERVAL '1 hour')", id, kind, p.ada.ID, kind, []byte{byte(i)})
	}
	must(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
		return none{}, SetPassword(ctx, tx, refOfAccount(p.ada), "h", mine)
	})
	got := p.texts(t, "SELECT id::TEXT, kind FROM tokens ORDER BY kind")
	if len(got) != 2 || got[0][1] != "api" || got[1][0] != mine.String() {
		t.Errorf("left are %v", got)
	}
}

// Disabled, an account has no session and no token. Enabled again, it has none either.
func TestDisableAccount(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bob := p.account(t, "bob")
	p.sql(t, "INSERT INTO tokens (id, kind, account_id, name, prefix, hash, expires_at) VALUES ($1, 'api', $2, 't', 'kl_', 'h', now() + INTERVAL '1 hour')", uuid.New(), bob.ID)
	after, err := p.onAccount(t, bob, DisableAccount)
	if err != nil || after.State != AccountDisabled {
		t.Fatalf("%+v, %v", after, err)
	}
	if got := p.texts(t, "SELECT id::TEXT FROM tokens"); len(got) != 0 {
		t.Errorf("tokens %v", got)
	}
	_, err = p.onAccount(t, bob, DisableAccount)
	wantConflict(t, err, "account_state")
	if after, err = p.onAccount(t, bob, EnableAccount); err != nil || after.State != AccountActive {
		t.Errorf("%+v, %v", after, err)
	}
	_, err = p.onAccount(t, bob, EnableAccount)
	wantConflict(t, err, "account_state")
}

// The last owner can't be disabled, also where two are disabled at once, or one is disabled and the other's role is taken
// away. The same holds for the installation's operators.
func TestTheLastOwnerIsNotDisabled(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	acme := p.organization(t, "acme")
	_, err := p.onAccount(t, p.ada, DisableAccount)
	wantConflict(t, err, "last_owner")
	for round := range 6 {
		bob := p.account(t, "bob"+string(rune('a'+round)))
		grant := p.mustGive(t, acme, bob, RoleOwner)
		var done sync.WaitGroup
		var errs [2]error
		done.Go(func() { _, errs[0] = p.onAccount(t, p.ada, DisableAccount) })
		done.Go(func() {
			if round%2 == 0 {
				errs[1] = p.take(t, everything, grant, uuid.Nil)
			} else {
				_, errs[1] = p.onAccount(t, bob, DisableAccount)
			}
		})
		done.Wait()
		if (errs[0] == nil) == (errs[1] == nil) {
			t.Fatalf("round %d: %v", round, errs)
		}
		wantConflict(t, errors.Join(errs[:]...), "last_owner")
		if errs[0] == nil {
			p.ada = bob
		}
	}
	for name, account := range map[string]Account{"op1": p.account(t, "op1"), "op2": p.account(t, "op2")} {
		p.sql(t, "INSERT INTO grants (id, account_id, role, scope, scope_id, created_by) VALUES ($1, $2, 'installation_operator', 'installation', $3, $4)", uuid.New(), account.ID, uuid.Nil, name)
	}
	var ops []Account
	for _, name := range []string{"op1", "op2"} {
		op, err := FindAccount(t.Context(), p.Reader, uuid.Nil, name)
		if err != nil {
			t.Fatal(err)
		}
		ops = append(ops, op)
	}
	var done sync.WaitGroup
	var errs [2]error
	for i, op := range ops {
		done.Go(func() { _, errs[i] = p.onAccount(t, op, DisableAccount) })
	}
	done.Wait()
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatalf("operators: %v", errs)
	}
}

func TestChangeAccount(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	bob := p.account(t, "bob")
	change := func(name, email *string) (Account, error) {
		return p.onAccount(t, bob, func(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], v int64) (Account, error) {
			return ChangeAccount(ctx, tx, ref, v, name, email)
		})
	}
	text := func(s string) *string { return &s }
	after, err := change(text("bobby"), text("bob@example.org"))
	if err != nil || after.Name != "bobby" || after.Email != "bob@example.org" || after.Version != 2 {
		t.Errorf("%+v, %v", after, err)
	}
	_, err = change(text("ada"), nil)
	wantConflict(t, err, "name_taken")
	_, err = change(nil, text("no address"))
	wantInvalid(t, err, "email")
}
