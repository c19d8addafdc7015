package iam

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

const (
	sqlSecondFactor = `
SELECT f.account_id, f.secret_sealed, f.confirmed_at, f.last_step, f.created_at,
       (SELECT count(*)
          FROM recovery_codes c
         WHERE c.account_id = f.account_id) AS recovery
  FROM second_factors f
 WHERE f.account_id = $1`

	sqlHoldSecondFactor = `
SELECT f.account_id
  FROM second_factors f
 WHERE f.account_id = $1
   FOR UPDATE`

	sqlEnrol = `
INSERT INTO second_factors (account_id, secret_sealed)
VALUES ($1, $2)
ON CONFLICT (account_id) DO UPDATE
   SET secret_sealed = EXCLUDED.secret_sealed, last_step = 0, created_at = now()
 WHERE second_factors.confirmed_at IS NULL`

	sqlConfirm = `
UPDATE second_factors
   SET confirmed_at = now()
 WHERE account_id = $1 AND confirmed_at IS NULL`

	// A code is good once, on whichever backend: its step is taken here or not at all.
	sqlTakeStep = `
UPDATE second_factors
   SET last_step = $2
 WHERE account_id = $1 AND last_step < $2`

	sqlTakeRecovery = `
DELETE FROM recovery_codes
 WHERE account_id = $1 AND hash = $2`

	sqlInsertRecovery = `
INSERT INTO recovery_codes (account_id, hash)
VALUES ($1, $2)`

	sqlDropRecovery = `
DELETE FROM recovery_codes
 WHERE account_id = $1`

	sqlDropSecondFactor = `
DELETE FROM second_factors
 WHERE account_id = $1`

	sqlDropPending = `
DELETE FROM pending_logins
 WHERE account_id = $1`

	sqlInsertPending = `
INSERT INTO pending_logins (id, account_id, hash, expires_at)
SELECT $1::UUID, f.account_id, $3::BYTEA, now() + $4::INT8 * INTERVAL '1 second'
  FROM second_factors f
 WHERE f.account_id = $2 AND f.confirmed_at IS NOT NULL
RETURNING id, account_id, '' AS account, 0::INT8 AS tries, expires_at`

	sqlPending = `
SELECT p.id, p.account_id, a.name AS account, p.tries, p.expires_at
  FROM pending_logins p
  JOIN accounts a ON a.id = p.account_id
 WHERE p.hash = $1 AND p.expires_at > now() AND p.tries < $2 AND a.state = 'active'`

	sqlTakePending = `
DELETE FROM pending_logins
 WHERE id = $1`

	sqlWrongCode = `
UPDATE pending_logins
   SET tries = tries + 1
 WHERE id = $1 AND tries < $2`

	sqlInsertSession = `
INSERT INTO tokens (id, kind, account_id, name, prefix, hash, expires_at, second_factor)
VALUES ($1, 'session', $2, $3, $4, $5, now() + $6::INT8 * INTERVAL '1 second', $7)
RETURNING id, expires_at`

	sqlProveSession = `
UPDATE tokens
   SET second_factor = 'code'
 WHERE account_id = $1 AND id = $2 AND kind = 'session'`

	// What was proved with a factor that is gone counts no longer.
	sqlUnprove = `
UPDATE tokens
   SET second_factor = NULL
 WHERE account_id = $1 AND second_factor = ANY($2)`

	sqlForgetFailures = `
DELETE FROM login_failures
 WHERE name_hash = $1`

	sqlDropExpiredPending = `
DELETE FROM pending_logins
 WHERE id IN (SELECT p.id
                FROM pending_logins p
               WHERE p.expires_at < now() - INTERVAL '1 hour'
               ORDER BY p.expires_at
               LIMIT $1)`

	sqlAccountEvents = `
SELECT e.id, e.at, e.actor_name, e.client, e.action, e.object_name, e.state_after
  FROM events e
 WHERE e.object_id = $1 AND e.object_kind = 'account'
 ORDER BY e.at DESC, e.id DESC
 LIMIT 50`
)

// SecondFactorOf is the second factor of an account, confirmed or not; fault.ErrNotFound if there is none.
func SecondFactorOf(ctx context.Context, q db.Reader, account uuid.UUID) (SecondFactor, error) {
	return db.First[SecondFactor](ctx, q, fault.ErrNotFound, sqlSecondFactor, account)
}

// BeginLogin makes a pending login of whoever has shown the password of an account; fault.ErrNotFound if the account has no second
// factor, so that a session can be opened at once.
func BeginLogin(ctx context.Context, tx *db.Tx, account uuid.UUID, secret string) (PendingLogin, error) {
	pending, err := db.First[PendingLogin](ctx, tx.Reader, fault.ErrNotFound, sqlInsertPending, uuid.New(), account, hashOf(pendingPrefix, secret), int64(pendingLifetime/time.Second))
	pending.Secret = secret
	return pending, err
}

// NewPendingSecret makes the secret of a pending login.
func NewPendingSecret() string { return newSecret(pendingPrefix) }

// PendingLoginOf finds a pending login by its secret; fault.ErrNotFound for one that was used, has expired or is none.
func PendingLoginOf(ctx context.Context, q db.Reader, secret string) (PendingLogin, error) {
	hash := hashOf(pendingPrefix, secret)
	if hash == nil {
		return PendingLogin{}, fault.ErrNotFound
	}
	return db.First[PendingLogin](ctx, q, fault.ErrNotFound, sqlPending, hash, pendingTries)
}

// DropExpiredLogins takes away at most so many pending logins that expired an hour ago.
func DropExpiredLogins(ctx context.Context, tx *db.Tx, limit int64) (int64, error) {
	n, err := tx.Exec(ctx, sqlDropExpiredPending, limit)
	if err != nil {
		return 0, fmt.Errorf("take away expired logins: %w", err)
	}
	return n, nil
}

// AccountEvent is what happened to an account, as its owner sees it.
type AccountEvent struct {
	ID     uuid.UUID       `db:"id"`
	At     time.Time       `db:"at"`
	Actor  string          `db:"actor_name"`
	Client string          `db:"client"`
	Action string          `db:"action"`
	Object string          `db:"object_name"`
	After  json.RawMessage `db:"state_after"`
}

// AccountEvents lists what happened to an account last.
func AccountEvents(ctx context.Context, q db.Reader, account uuid.UUID) ([]AccountEvent, error) {
	return db.Collect[AccountEvent](ctx, q, sqlAccountEvents, account)
}
