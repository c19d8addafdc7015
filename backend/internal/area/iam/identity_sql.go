package iam

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
	"kloigos/backend/internal/kernel/scope"
)

const sqlIdentities = `
SELECT i.id, i.account_id, a.name AS account, i.provider_id, p.name AS provider, COALESCE(o.name, '') AS organization, i.issuer, i.subject,
       i.label, i.created_at, i.last_login_at
  FROM identities i
  JOIN accounts a ON a.id = i.account_id
  JOIN identity_providers p ON p.id = i.provider_id
  LEFT JOIN organizations o ON o.id = p.organization_id
 WHERE true`

const (
	sqlIdentitiesOf = sqlIdentities + `
   AND i.account_id = $1
 ORDER BY i.created_at, i.id
 LIMIT 200`

	sqlIdentityByID = sqlIdentities + `
   AND i.account_id = $1 AND i.id = $2`

	sqlIdentityProven = sqlIdentities + `
   AND i.provider_id = $1 AND i.issuer = $2 AND i.subject = $3`

	sqlInsertIdentity = `
INSERT INTO identities (id, account_id, provider_id, issuer, subject, label)
SELECT $1::UUID, $2::UUID, $3::UUID, $4::TEXT, $5::TEXT, $6::TEXT
 WHERE (SELECT count(*)
          FROM identities i
         WHERE i.account_id = $2) < 50
ON CONFLICT (provider_id, issuer, subject) DO NOTHING`

	sqlUseIdentity = `
UPDATE identities
   SET last_login_at = now(), label = $2
 WHERE id = $1`

	sqlDeleteIdentity = `
DELETE FROM identities
 WHERE account_id = $1 AND id = $2`

	// Somebody who can log in by a password, or by another identity whose provider lets people in.
	sqlOtherWayIn = `
SELECT a.id
  FROM accounts a
 WHERE a.id = $1
   AND (a.password_hash <> 'none'
        OR EXISTS (SELECT 1
                     FROM identities i
                     JOIN identity_providers p ON p.id = i.provider_id
                    WHERE i.account_id = a.id AND i.id <> $2 AND i.issuer = p.issuer AND p.state = 'enabled'))
   FOR UPDATE`

	sqlEndSessionsByProvider = `
DELETE FROM tokens
 WHERE account_id = $1 AND identity_provider_id = $2`

	// What an address has begun is bounded, so that nobody fills the table.
	sqlInsertLogin = `
INSERT INTO identity_logins (id, provider_id, account_id, state_hash, browser_hash, sealed, return_to, address, expires_at)
SELECT $1::UUID, $2::UUID, $3::UUID, $4::BYTEA, $5::BYTEA, $6::BYTEA, $7::TEXT, $8::TEXT, now() + $9::INT8 * INTERVAL '1 second'
 WHERE (SELECT count(*)
          FROM identity_logins l
         WHERE l.address = $8 AND l.expires_at > now()) < $10::INT8
RETURNING expires_at`

	sqlTakeLogin = `
DELETE FROM identity_logins
 WHERE state_hash = $1 AND browser_hash = $2 AND provider_id = $3 AND expires_at > now()
RETURNING id, provider_id, account_id, sealed, return_to`

	sqlDropExpiredLogins = `
DELETE FROM identity_logins
 WHERE id IN (SELECT l.id
                FROM identity_logins l
               WHERE l.expires_at < now()
               ORDER BY l.expires_at
               LIMIT 20)`

	// The session reaches no further than the provider's word does.
	sqlInsertProvenSession = `
INSERT INTO tokens (id, kind, account_id, name, prefix, hash, scope, scope_id, identity_provider_id, expires_at, second_factor)
VALUES ($1, 'session', $2, $3, $4, $5, $6, $7, $8, now() + $9::INT8 * INTERVAL '1 second', $10)
RETURNING expires_at`

	sqlGrantsBySource = sqlGrants + `
   AND g.account_id = $1 AND g.source = $2
 ORDER BY g.scope_id, g.id`

	sqlHoldOrganizations = `
SELECT o.id
  FROM organizations o
 WHERE o.id = ANY($1)
 ORDER BY o.id
   FOR UPDATE`

	// The last operator stays: whoever takes one away holds the rows of all.
	sqlDeleteOperator = `
DELETE FROM grants
 WHERE id = $1
   AND (role <> 'installation_operator'
        OR EXISTS (SELECT 1
                     FROM grants other
                     JOIN accounts a ON a.id = other.account_id
                    WHERE other.scope = 'installation' AND other.role = 'installation_operator' AND other.id <> $1
                      AND ` + logsIn + `))`
)

// Identities lists what proves that somebody is an account.
func Identities(ctx context.Context, q db.Reader, account uuid.UUID) ([]Identity, error) {
	return db.Collect[Identity](ctx, q, sqlIdentitiesOf, account)
}

// FindIdentity finds an identity of an account.
func FindIdentity(ctx context.Context, q db.Reader, account, id uuid.UUID) (Identity, scope.Ref[Identity], error) {
	found, err := db.First[Identity](ctx, q, fault.ErrNotFound, sqlIdentityByID, account, id)
	if err != nil {
		return Identity{}, scope.Ref[Identity]{}, err
	}
	return found, scope.Found[Identity](found.ID, account), nil
}

// Proven finds the identity that claims of a provider prove.
func Proven(ctx context.Context, q db.Reader, provider uuid.UUID, c Claims) (Identity, error) {
	return db.First[Identity](ctx, q, fault.ErrNotFound, sqlIdentityProven, provider, c.Issuer, c.Subject)
}

// PutLogin keeps a login that begins, and drops some that have expired.
func PutLogin(ctx context.Context, tx *db.Tx, l NewLogin, sealed []byte) (time.Time, error) {
	type row struct {
		ExpiresAt time.Time `db:"expires_at"`
	}
	if _, err := tx.Exec(ctx, sqlDropExpiredLogins); err != nil {
		return time.Time{}, fmt.Errorf("drop expired logins: %w", err)
	}
	many := fault.Conflictf("too_many_logins", "Too many logins were begun from this address. Try again in %d minutes.", loginLifetime/time.Minute)
	made, err := db.First[row](ctx, tx.Reader, many, sqlInsertLogin, l.ID, l.Provider, l.Account, hashOf(statePrefix, l.State), hashOf(browserPrefix, l.Browser),
		sealed, l.ReturnTo, l.Address, int64(loginLifetime/time.Second), mostLogins)
	return made.ExpiresAt, err
}

// TakeLogin ends a login, once, for the browser that began it.
func TakeLogin(ctx context.Context, tx *db.Tx, provider uuid.UUID, state, browser string) (Login, error) {
	of, by := hashOf(statePrefix, state), hashOf(browserPrefix, browser)
	if of == nil || by == nil {
		return Login{}, ErrLoginExpired
	}
	return db.First[Login](ctx, tx.Reader, ErrLoginExpired, sqlTakeLogin, of, by, provider)
}

// grantedScope reads the scope of a grant; the zero Scope is the installation.
func (g Grant) grantedScope(ctx context.Context, q db.Reader) (Scope, error) {
	if g.Scope == string(scope.Installation) {
		return Scope{}, nil
	}
	return levelOf(g.Scope).byID(ctx, q, g.ScopeID)
}
