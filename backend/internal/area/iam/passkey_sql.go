package iam

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/fault"
)

// A passkey with the name that its owner gave to the device.
const sqlPasskeys = `
SELECT k.id, k.account_id, k.name, k.credential, k.created_at, k.last_used_at
  FROM passkeys k
 WHERE k.account_id = $1`

const (
	sqlPasskeysOf = sqlPasskeys + `
 ORDER BY k.created_at, k.id
 LIMIT 100`

	sqlPasskeyByID = sqlPasskeys + ` AND k.id = $2`

	sqlHoldPasskey = sqlPasskeys + ` AND k.credential_id = $2
   FOR UPDATE`

	sqlInsertPasskey = `
INSERT INTO passkeys (id, account_id, name, credential_id, credential)
SELECT $1::UUID, $2::UUID, $3::TEXT, $4::BYTEA, $5::JSONB
 WHERE (SELECT count(*)
          FROM passkeys k
         WHERE k.account_id = $2) < $6::INT8
ON CONFLICT (credential_id) DO NOTHING`

	sqlUsePasskey = `
UPDATE passkeys
   SET credential = $2, last_used_at = now()
 WHERE id = $1`

	sqlDropPasskey = `
DELETE FROM passkeys
 WHERE account_id = $1 AND id = $2`

	sqlDropPasskeys = `
DELETE FROM passkeys
 WHERE account_id = $1`

	sqlUseChallenge = `
INSERT INTO used_challenges (hash, expires_at)
VALUES ($1, now() + $2::INT8 * INTERVAL '1 second')
ON CONFLICT (hash) DO NOTHING`

	sqlDropExpiredChallenges = `
DELETE FROM used_challenges
 WHERE hash IN (SELECT u.hash
                  FROM used_challenges u
                 WHERE u.expires_at < now() - INTERVAL '1 hour'
                 ORDER BY u.expires_at
                 LIMIT $1)`
)

// PasskeysOf lists the passkeys of an account.
func PasskeysOf(ctx context.Context, q db.Reader, account uuid.UUID) ([]Passkey, error) {
	return db.Collect[Passkey](ctx, q, sqlPasskeysOf, account)
}

// PasskeyOf finds a passkey of an account.
func PasskeyOf(ctx context.Context, q db.Reader, account, id uuid.UUID) (Passkey, error) {
	return db.First[Passkey](ctx, q, fault.ErrNotFound, sqlPasskeyByID, account, id)
}

// DropExpiredChallenges takes away at most so many challenges that nobody can use any more.
func DropExpiredChallenges(ctx context.Context, tx *db.Tx, limit int64) (int64, error) {
	n, err := tx.Exec(ctx, sqlDropExpiredChallenges, limit)
	if err != nil {
		return 0, fmt.Errorf("take away used challenges: %w", err)
	}
	return n, nil
}
