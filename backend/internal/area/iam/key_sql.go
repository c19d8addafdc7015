package iam

import (
	"context"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// KeyNoun names keys of service accounts in events and problems.
const KeyNoun = "service_account_key"

// Key is an API key of a service account, without its secret.
type Key struct {
	ID          uuid.UUID  `db:"id"`
	AccountID   uuid.UUID  `db:"account_id"`
	Name        string     `db:"name"`
	Prefix      string     `db:"prefix"` // first characters of the secret
	Permissions []string   `db:"permissions"`
	Scope       *string    `db:"scope"`    // noun of the scope that it is narrowed to
	ScopeID     *uuid.UUID `db:"scope_id"` // of that scope
	CreatedAt   time.Time  `db:"created_at"`
	ExpiresAt   time.Time  `db:"expires_at"`
	LastUsedAt  *time.Time `db:"last_used_at"`
	OldUntil    *time.Time `db:"old_until"` // until when the former secret works too; nil if there is none
	OldUsedAt   *time.Time `db:"old_used_at"`
}

const sqlKeys = `
SELECT t.id, t.account_id, t.name, t.prefix, t.permissions, t.scope, t.scope_id, t.created_at, t.expires_at, t.last_used_at,
       o.expires_at AS old_until, o.last_used_at AS old_used_at
  FROM tokens t
  LEFT JOIN tokens o ON o.key_id = t.id AND o.expires_at > now()
 WHERE t.kind = 'api' AND t.key_id IS NULL AND t.expires_at > now()`

const (
	sqlKeysOf = sqlKeys + `
   AND t.account_id = $1
 ORDER BY t.created_at, t.id
 LIMIT 200`

	sqlKeyByID = sqlKeys + `
   AND t.account_id = $1 AND t.id = $2`

	sqlHoldKey = `
SELECT t.id
  FROM tokens t
 WHERE t.account_id = $1 AND t.id = $2 AND t.kind = 'api' AND t.key_id IS NULL
   FOR UPDATE`

	// An account has no more keys than a page shows.
	sqlInsertKey = `
INSERT INTO tokens (id, kind, account_id, name, prefix, hash, permissions, scope, scope_id, expires_at, maker_id)
SELECT $1::UUID, 'api', $2::UUID, $3::TEXT, $4::TEXT, $5::BYTEA, $6::TEXT[], $7::TEXT, $8::UUID, now() + $9::INT8 * INTERVAL '1 second', $10::UUID
 WHERE (SELECT count(*)
          FROM tokens t
         WHERE t.account_id = $2 AND t.key_id IS NULL AND t.expires_at > now()) < 100`

	sqlDropOldSecret = `
DELETE FROM tokens
 WHERE key_id = $1`

	sqlDeleteKey = `
DELETE FROM tokens
 WHERE account_id = $1 AND id = $2`

	sqlHashOfKey = `
SELECT t.hash, t.maker_id
  FROM tokens t
 WHERE t.id = $1`

	sqlNewSecret = `
UPDATE tokens
   SET hash = $2, prefix = $3, maker_id = $4
 WHERE id = $1`

	// The former secret stands for the same, until it or the key expires.
	sqlKeepOldSecret = `
INSERT INTO tokens (id, kind, account_id, name, prefix, hash, permissions, scope, scope_id, expires_at, last_used_at, key_id, maker_id)
SELECT $1::UUID, t.kind, t.account_id, t.name, $2::TEXT, $3::BYTEA, t.permissions, t.scope, t.scope_id,
       LEAST(t.expires_at, now() + $4::INT8 * INTERVAL '1 second'), NULL, t.id, $6::UUID
  FROM tokens t
 WHERE t.id = $5`
)

// Keys lists the keys of a service account that have not expired.
func Keys(ctx context.Context, q db.Reader, account uuid.UUID) ([]Key, error) {
	return db.Collect[Key](ctx, q, sqlKeysOf, account)
}

// KeyOf finds a key of an account.
func KeyOf(ctx context.Context, q db.Reader, account, id uuid.UUID) (Key, error) {
	return db.First[Key](ctx, q, fault.ErrNotFound, sqlKeyByID, account, id)
}
