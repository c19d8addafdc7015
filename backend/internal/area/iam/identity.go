package iam

import (
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/fault"
)

// IdentityNoun names identities in events and problems.
const IdentityNoun = "identity"

const (
	loginLifetime   = 10 * time.Minute // of a login that was begun
	sessionLifetime = 24 * time.Hour
	mostLogins      = 500 // that one address has begun and not ended
)

// Identity is what proves at a provider that somebody is an account.
type Identity struct {
	ID          uuid.UUID `db:"id"`
	AccountID   uuid.UUID `db:"account_id"`
	Account     string    `db:"account"`
	ProviderID  uuid.UUID `db:"provider_id"`
	Provider    string    `db:"provider"`     // its name
	Of          string    `db:"organization"` // name of the provider's organization; "" for the installation's
	Issuer      string    `db:"issuer"`
	Subject     string    `db:"subject"`
	Label       string    `db:"label"`
	CreatedAt   time.Time `db:"created_at"`
	LastLoginAt time.Time `db:"last_login_at"`
}

// facts are what an event tells of an identity.
func (i Identity) facts() map[string]any {
	return map[string]any{"provider": i.Provider, "issuer": i.Issuer, "subject": i.Subject}
}

// Claims are what a provider proved of a person.
type Claims struct {
	Issuer, Subject string
	Name            string // that the person has there; "" if it told none
	Email           string // that the provider verified; "" if it told none
	Groups          []string
	NoGroups        string // why the groups are not known, in a sentence; "" if they are
	SecondFactor    bool   // the provider asked for more than a password
}

// label is what people recognise the identity by: nothing is decided by it.
func (c Claims) label() string {
	text := c.Email
	if text == "" {
		text = c.Name
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, text)
	if runes := []rune(text); len(runes) > 100 {
		text = string(runes[:100])
	}
	return text
}

// accountLabel makes the beginning of an account's name of what the provider calls the person.
func (c Claims) accountLabel() string {
	text := c.Name
	if text == "" {
		text = c.Email
	}
	text, _, _ = strings.Cut(strings.ToLower(text), "@")
	text = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		case r == ' ':
			return '.'
		}
		return -1
	}, text), "._-")
	if len(text) > 40 {
		text = strings.TrimRight(text[:40], "._-")
	}
	if checkAccountName(text) != nil {
		return "person"
	}
	return text
}

// Login is a login that was begun at a provider.
type Login struct {
	ID         uuid.UUID  `db:"id"`
	ProviderID uuid.UUID  `db:"provider_id"`
	AccountID  *uuid.UUID `db:"account_id"` // that the identity is to be linked to
	Sealed     []byte     `db:"sealed"`
	ReturnTo   string     `db:"return_to"`
}

// ErrLoginExpired is the answer to a login that is not known any more, was ended, or belongs to another browser.
var ErrLoginExpired = fault.Conflictf("login_expired", "This login was ended already, has expired, or was begun in another browser. Begin again.")

// Prefixes of the secrets of a login.
const (
	statePrefix   = "kls_" // goes through the provider
	browserPrefix = "klb_" // stays in the browser that began
)

// NewLogin are the secrets of a login that begins.
type NewLogin struct {
	ID             uuid.UUID
	State, Browser string
	Provider       uuid.UUID
	Account        *uuid.UUID // nil for a login; the one to link to otherwise
	ReturnTo       string
	Address        string
}

// Begin makes the secrets of a login.
func Begin(provider uuid.UUID, account *uuid.UUID, returnTo, address string) NewLogin {
	return NewLogin{uuid.New(), newSecret(statePrefix), newSecret(browserPrefix), provider, account, returnTo, address}
}

// SealedLoginFor is what nonce and verifier of a login are bound to.
func SealedLoginFor(login uuid.UUID) string { return "identity_logins/" + login.String() }

// sourceName is the name of a provider with the organization that it is of, for people.
func createdBy(p Provider) string { return "identity provider " + p.Name }
