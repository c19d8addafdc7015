package store

import (
	"context"
	"errors"
	"fmt"

	"kloigos/backend/internal/kernel/db"

	"github.com/google/uuid"
)

// ErrDuplicateRequest says that a request with this idempotency key was
// committed before. Nothing of the present transaction may be kept.
var ErrDuplicateRequest = errors.New("a request with this idempotency key was committed before")

// Idempotency is the key that a client gave to a request.
type Idempotency struct {
	AccountID   uuid.UUID
	Key         string
	RequestHash []byte // SHA-256 of method, path and body
}

// Recorded is what the first request with a key made.
type Recorded struct {
	RequestHash []byte     `db:"request_hash"`
	ObjectKind  string     `db:"object_kind"`
	ObjectID    *uuid.UUID `db:"object_id"`
	JobID       *uuid.UUID `db:"job_id"`
}

const sqlClaimKey = `
INSERT INTO idempotency_keys (account_id, key, request_hash)
VALUES ($1, $2, $3)
ON CONFLICT (account_id, key) DO NOTHING`

// ClaimIdempotencyKey takes a key for this transaction; it must be the first
// statement. Whoever else has the key is waited for: once they committed it is
// ErrDuplicateRequest, once they rolled back the key is ours.
func (tx *Tx) ClaimIdempotencyKey(ctx context.Context, i Idempotency) error {
	err := tx.One(ctx, ErrDuplicateRequest, sqlClaimKey, i.AccountID, i.Key, i.RequestHash)
	if err != nil && !errors.Is(err, ErrDuplicateRequest) {
		return fmt.Errorf("claim idempotency key: %w", err)
	}
	return err
}

const sqlRecordKey = `
UPDATE idempotency_keys
   SET object_kind = $3, object_id = $4, job_id = $5
 WHERE account_id = $1 AND key = $2`

// RecordIdempotent notes, in the transaction that claimed the key, what the
// request made, so that its answer can be given again.
func (tx *Tx) RecordIdempotent(ctx context.Context, i Idempotency, objectKind string, object, job uuid.UUID) error {
	_, err := tx.Exec(ctx, sqlRecordKey, i.AccountID, i.Key, objectKind, orNull(object), orNull(job))
	if err != nil {
		return fmt.Errorf("record what the request made: %w", err)
	}
	return nil
}

const sqlRecorded = `
SELECT k.request_hash, k.object_kind, k.object_id, k.job_id
  FROM idempotency_keys k
 WHERE k.account_id = $1 AND k.key = $2`

// Recorded returns what the request with this key made; false if there was
// none.
func (r Reads) Recorded(ctx context.Context, account uuid.UUID, key string) (Recorded, bool, error) {
	none := errors.New("no such key")
	rec, err := db.First[Recorded](ctx, r.q, none, sqlRecorded, account, key)
	if errors.Is(err, none) {
		return Recorded{}, false, nil
	}
	return rec, err == nil, err
}

const sqlDeleteOldKeys = `
DELETE FROM idempotency_keys
 WHERE (account_id, key) IN (SELECT k.account_id, k.key
                               FROM idempotency_keys k
                              WHERE k.created_at < now() - INTERVAL '24 hours'
                              ORDER BY k.created_at
                              LIMIT $1)`

// DeleteOldIdempotencyKeys forgets requests of more than a day ago.
func (tx *Tx) DeleteOldIdempotencyKeys(ctx context.Context) (n int64, more bool, err error) {
	return tx.some(ctx, sqlDeleteOldKeys)
}
