package iam

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/intent"
	"kloigos/backend/internal/kernel/scope"
	"kloigos/backend/internal/kernel/secret"
)

const (
	challengeLifetime = 5 * time.Minute
	mostPasskeys      = 20 // of an account
	// loginChallenge is what a challenge for a login is sealed for; one for a new passkey is sealed for its account.
	loginChallenge = "passkey_logins"
)

// Passkey is one row of passkeys.
type Passkey struct {
	ID         uuid.UUID       `db:"id"`
	AccountID  uuid.UUID       `db:"account_id"`
	Name       string          `db:"name"`
	Credential json.RawMessage `db:"credential"`
	CreatedAt  time.Time       `db:"created_at"`
	LastUsedAt *time.Time      `db:"last_used_at"`
}

// Passkeys checks what devices answer, for one web site.
type Passkeys struct {
	site *webauthn.WebAuthn
	keys *secret.Keyset
}

// NewPasskeys makes the check for the web app at a URL; nil if there is none, or if it is at something that passkeys know no name for.
func NewPasskeys(web *url.URL, keys *secret.Keyset) *Passkeys {
	if web == nil {
		return nil
	}
	site, err := webauthn.New(&webauthn.Config{RPID: web.Hostname(), RPDisplayName: "Kloigos", RPOrigins: []string{web.Scheme + "://" + web.Host}})
	if err != nil {
		return nil
	}
	return &Passkeys{site, keys}
}

// Challenge is what a device is asked. It is sealed, and the database keeps only those that were answered.
type Challenge struct {
	Sealed  string
	Options json.RawMessage // for navigator.credentials
}

func (p *Passkeys) challenge(session *webauthn.SessionData, options any, sealedFor string) (Challenge, error) {
	session.Expires = time.Now().Add(challengeLifetime)
	plain, err := json.Marshal(session)
	if err != nil {
		return Challenge{}, fmt.Errorf("write a challenge: %w", err)
	}
	sealed, err := p.keys.Seal(plain, sealedFor)
	if err != nil {
		return Challenge{}, fmt.Errorf("seal a challenge: %w", err)
	}
	text, err := json.Marshal(options)
	return Challenge{base64.RawURLEncoding.EncodeToString(sealed), text}, err
}

// opened is what was asked; fault.ErrNotFound for what was not asked here, or too long ago.
func (p *Passkeys) opened(challenge, sealedFor string) (session webauthn.SessionData, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(challenge)
	if err == nil {
		raw, err = p.keys.Open(raw, sealedFor)
	}
	if err == nil {
		err = json.Unmarshal(raw, &session)
	}
	if err != nil || time.Now().After(session.Expires) {
		return session, fault.ErrNotFound
	}
	return session, nil
}

// owner is an account as the library wants it.
type owner struct {
	account  Account
	passkeys []webauthn.Credential
}

func (o owner) WebAuthnID() []byte                         { return o.account.ID[:] }
func (o owner) WebAuthnName() string                       { return o.account.Name }
func (o owner) WebAuthnDisplayName() string                { return o.account.Name }
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.passkeys }

func ownerOf(account Account, rows []Passkey) (owner, error) {
	o := owner{account: account}
	for _, row := range rows {
		var c webauthn.Credential
		if err := json.Unmarshal(row.Credential, &c); err != nil {
			return o, fmt.Errorf("read passkey %s: %w", row.ID, err)
		}
		o.passkeys = append(o.passkeys, c)
	}
	return o, nil
}

// Begin asks a device for a new passkey of an account. The device keeps it, and checks who uses it.
func (p *Passkeys) Begin(ctx context.Context, q db.Reader, account Account) (Challenge, error) {
	rows, err := PasskeysOf(ctx, q, account.ID)
	if err != nil {
		return Challenge{}, err
	}
	o, err := ownerOf(account, rows)
	if err != nil {
		return Challenge{}, err
	}
	var there []protocol.CredentialDescriptor
	for _, c := range o.passkeys {
		there = append(there, c.Descriptor())
	}
	options, session, err := p.site.BeginRegistration(o, webauthn.WithExclusions(there), webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
		ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(), UserVerification: protocol.VerificationRequired,
	}))
	if err != nil {
		return Challenge{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return p.challenge(session, options, registrationOf(account.ID))
}

func registrationOf(account uuid.UUID) string { return "passkey_registrations/" + account.String() }

// BeginLogin asks any device that has a passkey.
func (p *Passkeys) BeginLogin() (Challenge, error) {
	options, session, err := p.site.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return Challenge{}, fmt.Errorf("ask for a passkey: %w", err)
	}
	return p.challenge(session, options, loginChallenge)
}

// useChallenge takes a challenge, once.
func useChallenge(ctx context.Context, tx *intent.Tx, challenge string) error {
	sum := sha256.Sum256([]byte(challenge))
	if err := tx.One(ctx, fault.ErrNotFound, sqlUseChallenge, sum[:], int64(challengeLifetime/time.Second)); err != nil {
		return fmt.Errorf("use a challenge: %w", err)
	}
	return nil
}

// AddPasskey stores a passkey that a device made.
func AddPasskey(ctx context.Context, tx *intent.Tx, p *Passkeys, ref scope.Ref[Account], name, challenge string, answer []byte) (Passkey, error) {
	var bad fault.Invalid
	if strings.TrimSpace(name) == "" || len(name) > 64 || strings.ContainsFunc(name, unicode.IsControl) {
		bad.Add("name", "Say in at most 64 characters which device it is.")
	}
	session, err := p.opened(challenge, registrationOf(ref.ID()))
	if err != nil {
		bad.Add("challenge", "This challenge was used, has expired, or is none. Begin again.")
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		bad.Add("credential", "This is not what a device answers.")
	}
	if err := bad.OrNil(); err != nil {
		return Passkey{}, err
	}
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return Passkey{}, err
	}
	if account.Kind != Person {
		return Passkey{}, fault.Conflictf("no_person", "Only people have passkeys.")
	}
	made, err := p.site.CreateCredential(owner{account: account}, session, parsed)
	if err != nil {
		bad.Add("credential", "The answer of the device does not hold.")
		return Passkey{}, bad.OrNil()
	}
	if err := useChallenge(ctx, tx, challenge); errors.Is(err, fault.ErrNotFound) {
		bad.Add("challenge", "This challenge was used. Begin again.")
		return Passkey{}, bad.OrNil()
	} else if err != nil {
		return Passkey{}, err
	}
	credential, err := json.Marshal(made)
	if err != nil {
		return Passkey{}, fmt.Errorf("write a passkey: %w", err)
	}
	id := uuid.New()
	many := fault.Conflictf("too_many_passkeys", "The account has %d passkeys, or this one is there already.", mostPasskeys)
	if err := tx.One(ctx, many, sqlInsertPasskey, id, account.ID, name, made.ID, credential, mostPasskeys); err != nil {
		return Passkey{}, fmt.Errorf("store a passkey: %w", err)
	}
	row, err := PasskeyOf(ctx, tx.Reader, account.ID, id)
	if err != nil {
		return Passkey{}, err
	}
	return row, account.told(ctx, tx, "add_passkey", nil, map[string]any{"passkey": name})
}

// RemovePasskey ends a passkey.
func RemovePasskey(ctx context.Context, tx *intent.Tx, ref scope.Ref[Account], id uuid.UUID) error {
	account, err := holdAccount(ctx, tx.Tx, ref.ID())
	if err != nil {
		return err
	}
	row, err := PasskeyOf(ctx, tx.Reader, account.ID, id)
	if err != nil {
		return err
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlDropPasskey, account.ID, id); err != nil {
		return fmt.Errorf("remove a passkey: %w", err)
	}
	left, err := PasskeysOf(ctx, tx.Reader, account.ID)
	if err != nil {
		return err
	}
	if len(left) == 0 {
		if err := unprove(ctx, tx, account.ID, withPasskey); err != nil {
			return err
		}
	}
	return account.told(ctx, tx, "remove_passkey", map[string]any{"passkey": row.Name}, nil)
}

// Answer is what a device said to a challenge of a login, and whose it says to be.
type Answer struct {
	parsed    *protocol.ParsedCredentialAssertionData
	session   webauthn.SessionData
	challenge string
	Account   uuid.UUID
}

// Read reads an answer; fault.ErrNotFound for one that can't be any.
func (p *Passkeys) Read(challenge string, answer []byte) (Answer, error) {
	session, err := p.opened(challenge, loginChallenge)
	if err != nil {
		return Answer{}, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil || parsed.Response.UserHandle == nil {
		return Answer{}, fault.ErrNotFound
	}
	account, err := uuid.FromBytes(parsed.Response.UserHandle)
	if err != nil {
		return Answer{}, fault.ErrNotFound
	}
	return Answer{parsed, session, challenge, account}, nil
}

// LoginWithPasskey opens a session for whoever has a passkey, once for each challenge. A passkey whose counter went back may be a
// copy: it opens none, and the account is told.
func LoginWithPasskey(ctx context.Context, tx *intent.Tx, p *Passkeys, a Answer, sessionSecret string) (made Session, ok bool, err error) {
	account, err := holdAccount(ctx, tx.Tx, a.Account)
	if err != nil {
		return Session{}, false, err
	}
	row, err := db.First[Passkey](ctx, tx.Reader, fault.ErrNotFound, sqlHoldPasskey, a.Account, a.parsed.RawID)
	if err != nil {
		return Session{}, false, err
	}
	o, err := ownerOf(account, []Passkey{row})
	if err != nil {
		return Session{}, false, err
	}
	_, used, err := p.site.ValidatePasskeyLogin(func([]byte, []byte) (webauthn.User, error) { return o, nil }, a.session, a.parsed)
	if err != nil || account.State != AccountActive {
		return Session{}, false, fault.ErrNotFound
	}
	if err := useChallenge(ctx, tx, a.challenge); err != nil {
		return Session{}, false, err
	}
	if used.Authenticator.CloneWarning {
		return Session{}, false, account.told(ctx, tx, "refuse_passkey", nil, map[string]any{"passkey": row.Name, "because": "its counter went back: there may be a copy of it"})
	}
	credential, err := json.Marshal(used)
	if err != nil {
		return Session{}, false, fmt.Errorf("write a passkey: %w", err)
	}
	if err := tx.One(ctx, fault.ErrNotFound, sqlUsePasskey, row.ID, credential); err != nil {
		return Session{}, false, fmt.Errorf("note the use of a passkey: %w", err)
	}
	made, err = openSession(ctx, tx, account, sessionSecret, withPasskey)
	return made, err == nil, err
}
