package iam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"testing"

	"github.com/descope/virtualwebauthn"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
)

// device is a software authenticator of one person.
type device struct {
	site virtualwebauthn.RelyingParty
	auth virtualwebauthn.Authenticator
	key  virtualwebauthn.Credential
}

var site = virtualwebauthn.RelyingParty{Name: "Kloigos", ID: "kloigos.example", Origin: "https://kloigos.example"}

func newDevice(a Account) *device {
	return &device{
		site: site, key: newKey(),
		auth: virtualwebauthn.NewAuthenticatorWithOptions(virtualwebauthn.AuthenticatorOptions{UserHandle: a.ID[:]}),
	}
}

// newKey makes the key of a device. virtualwebauthn leaves out the leading zeros of a point's coordinates, which one key in 128 has:
// such an answer is refused, rightly (RFC 9053, section 7.1.1). Real devices send 32 bytes each.
func newKey() virtualwebauthn.Credential {
	const whole = len("\xa5\x01\x02\x03\x26\x20\x01\x21\x58\x20\x22\x58\x20") + 2*32
	for {
		if made := virtualwebauthn.NewCredential(virtualwebauthn.KeyTypeEC2); len(made.Key.AttestationData()) == whole {
			return made
		}
	}
}

func (p *place) passkeys(t *testing.T) *Passkeys {
	t.Helper()
	made := NewPasskeys(&url.URL{Scheme: "https", Host: "kloigos.example"}, p.keys)
	if made == nil {
		t.Fatal("no passkeys")
	}
	return made
}

func (d *device) created(t *testing.T, options json.RawMessage) string {
	t.Helper()
	parsed, err := virtualwebauthn.ParseAttestationOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	return virtualwebauthn.CreateAttestationResponse(d.site, d.auth, d.key, *parsed)
}

func (d *device) asserted(t *testing.T, options json.RawMessage) string {
	t.Helper()
	parsed, err := virtualwebauthn.ParseAssertionOptions(string(options))
	if err != nil {
		t.Fatal(err)
	}
	return virtualwebauthn.CreateAssertionResponse(d.site, d.auth, d.key, *parsed)
}

// add registers the device for an account, for the challenge that was given to another.
func (d *device) add(t *testing.T, p *place, keys *Passkeys, asked, account Account) (Passkey, Challenge, error) {
	t.Helper()
	c, err := keys.Begin(t.Context(), p.Reader, asked)
	if err != nil {
		t.Fatal(err)
	}
	made, err := addPasskey(t, p, keys, account, c.Sealed, d.created(t, c.Options))
	return made, c, err
}

func addPasskey(t *testing.T, p *place, keys *Passkeys, account Account, challenge, answer string) (Passkey, error) {
	t.Helper()
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (Passkey, error) {
		return AddPasskey(ctx, tx, keys, scope.Found[Account](account.ID, account.ID), "laptop", challenge, []byte(answer))
	})
}

func loginWith(t *testing.T, p *place, keys *Passkeys, challenge, answer string) (bool, error) {
	t.Helper()
	read, err := keys.Read(challenge, []byte(answer))
	if err != nil {
		return false, err
	}
	return do(t, p, func(ctx context.Context, tx *intent.Tx) (bool, error) {
		_, ok, err := LoginWithPasskey(ctx, tx, keys, read, NewSessionSecret())
		return ok, err
	})
}

// A device registers once for each challenge, and logs its own account in, once for each challenge.
func TestPasskeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	keys, laptop := p.passkeys(t), newDevice(p.ada)
	made, c, err := laptop.add(t, p, keys, p.ada, p.ada)
	if err != nil || made.Name != "laptop" {
		t.Fatal(made, err)
	}
	laptop.auth.AddCredential(laptop.key)
	_, err = addPasskey(t, p, keys, p.ada, c.Sealed, newDevice(p.ada).created(t, c.Options))
	wantInvalid(t, err, "challenge")
	_, _, err = laptop.add(t, p, keys, p.ada, p.ada)
	wantConflict(t, err, "too_many_passkeys") // it is there already
	asked, err := keys.BeginLogin()
	if err != nil {
		t.Fatal(err)
	}
	laptop.key.Counter = 7
	answer := laptop.asserted(t, asked.Options)
	if ok, err := loginWith(t, p, keys, asked.Sealed, answer); !ok || err != nil {
		t.Fatal(ok, err)
	}
	_, err = loginWith(t, p, keys, asked.Sealed, answer)
	wantNotFound(t, err)
	rows, err := PasskeysOf(t.Context(), p.Reader, p.ada.ID)
	if err != nil || len(rows) != 1 || rows[0].LastUsedAt == nil {
		t.Errorf("%+v %v", rows, err)
	}
	// A counter that went back is of a copy.
	asked, _ = keys.BeginLogin()
	laptop.key.Counter = 3
	if ok, err := loginWith(t, p, keys, asked.Sealed, laptop.asserted(t, asked.Options)); ok || err != nil {
		t.Errorf("a copy logs in: %t %v", ok, err)
	}
	must(t, p, func(ctx context.Context, tx *intent.Tx) (none, error) {
		return none{}, RemovePasskey(ctx, tx, scope.Found[Account](p.ada.ID, p.ada.ID), made.ID)
	})
	asked, _ = keys.BeginLogin()
	laptop.key.Counter = 9
	_, err = loginWith(t, p, keys, asked.Sealed, laptop.asserted(t, asked.Options))
	wantNotFound(t, err)
	told := fmt.Sprint(p.texts(t, "SELECT action FROM events WHERE action LIKE '%passkey' OR action = 'session.create' ORDER BY at, id"))
	if told != "[[account.add_passkey] [session.create] [account.refuse_passkey] [account.remove_passkey]]" {
		t.Errorf("told %s", told)
	}
}

// A passkey is refused for another site, person or device, where its answer was altered, too late, or for another purpose.
func TestPasskeysThatProveNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	keys, laptop, eve := p.passkeys(t), newDevice(p.ada), p.account(t, "eve")
	_, _, err := laptop.add(t, p, keys, eve, p.ada) // a challenge of somebody else
	wantInvalid(t, err, "challenge")
	phishing := newDevice(p.ada)
	phishing.site.Origin = "https://kloigos.example.evil.example"
	_, _, err = phishing.add(t, p, keys, p.ada, p.ada)
	wantInvalid(t, err, "credential")
	lazy := newDevice(p.ada)
	lazy.auth.Options.UserNotVerified = true
	_, _, err = lazy.add(t, p, keys, p.ada, p.ada)
	wantInvalid(t, err, "credential")
	if _, _, err := laptop.add(t, p, keys, p.ada, p.ada); err != nil {
		t.Fatal(err)
	}
	laptop.auth.AddCredential(laptop.key)
	login := func(change func(*device)) {
		t.Helper()
		other := *laptop
		change(&other)
		asked, err := keys.BeginLogin()
		if err != nil {
			t.Fatal(err)
		}
		ok, err := loginWith(t, p, keys, asked.Sealed, other.asserted(t, asked.Options))
		if ok || !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("logs in: %t %v", ok, err)
		}
	}
	login(func(d *device) { d.site.Origin = "https://evil.example" })
	login(func(d *device) { d.site.ID = "evil.example" })
	login(func(d *device) { d.auth.Options.UserNotVerified = true })
	login(func(d *device) { d.auth.Options.UserHandle = eve.ID[:] })
	login(func(d *device) { // another key under the same id
		id := d.key.ID
		d.key = newKey()
		d.key.ID = id
	})
	for _, bad := range []string{"", "{}", "null", "[1]", `{"id":"x"}`, "\x00"} {
		asked, _ := keys.BeginLogin()
		if _, err := keys.Read(asked.Sealed, []byte(bad)); !errors.Is(err, fault.ErrNotFound) {
			t.Errorf("%q is read: %v", bad, err)
		}
	}
	register, _ := keys.Begin(t.Context(), p.Reader, p.ada)
	asked, _ := keys.BeginLogin()
	answer := laptop.asserted(t, asked.Options)
	for _, challenge := range []string{"", "x", asked.Sealed[1:], register.Sealed} {
		_, err := loginWith(t, p, keys, challenge, answer)
		wantNotFound(t, err)
	}
	p.sql(t, "UPDATE accounts SET state = 'disabled' WHERE id = $1", p.ada.ID)
	_, err = loginWith(t, p, keys, asked.Sealed, answer)
	wantNotFound(t, err)
}

// Who lost a device loses its passkey with the second factor, whether there is a code or not.
func TestAResetRemovesPasskeys(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	keys, phone := p.passkeys(t), newDevice(p.ada)
	if _, _, err := phone.add(t, p, keys, p.ada, p.ada); err != nil {
		t.Fatal(err)
	}
	phone.auth.AddCredential(phone.key)
	reset := func(ctx context.Context, tx *intent.Tx) (Account, error) {
		return ResetSecondFactor(ctx, tx, scope.Found[Account](p.ada.ID, p.ada.ID), 0)
	}
	must(t, p, reset)
	asked, err := keys.BeginLogin()
	if err != nil {
		t.Fatal(err)
	}
	_, err = loginWith(t, p, keys, asked.Sealed, phone.asserted(t, asked.Options))
	wantNotFound(t, err)
	_, err = do(t, p, reset)
	wantConflict(t, err, "no_second_factor")
}

// Challenges that were answered are forgotten once nobody can use them any more.
func TestUsedChallengesExpire(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if _, _, err := newDevice(p.ada).add(t, p, p.passkeys(t), p.ada, p.ada); err != nil {
		t.Fatal(err)
	}
	drop := func() (n int64) {
		t.Helper()
		if err := p.InTx(t.Context(), func(tx *db.Tx) (err error) {
			n, err = DropExpiredChallenges(t.Context(), tx, 10)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := drop(); n != 0 {
		t.Errorf("%d are forgotten too early", n)
	}
	p.sql(t, "UPDATE used_challenges SET expires_at = now() - INTERVAL '2 hours'")
	drop()
	if got := fmt.Sprint(p.texts(t, "SELECT count(*)::TEXT FROM used_challenges")); got != "[[0]]" {
		t.Errorf("left: %s", got)
	}
}
