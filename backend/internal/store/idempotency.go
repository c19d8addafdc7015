package store

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
	"kloigos/backend/internal/kernel/intent"
)

// ErrDuplicateRequest says that a request with this idempotency key was
// committed before.
var ErrDuplicateRequest = intent.ErrDuplicateRequest

// Idempotency is the key that a client gave to a request.
type Idempotency = intent.Key

// Recorded is what the first request with a key made.
type Recorded struct {
	RequestHash []byte     `db:"request_hash"`
	ObjectKind  string     `db:"object_kind"`
	ObjectID    *uuid.UUID `db:"object_id"`
	JobID       *uuid.UUID `db:"job_id"`
}

// ClaimIdempotencyKey takes a key for this transaction; it must be the first
// statement.
func (tx *Tx) ClaimIdempotencyKey(ctx context.Context, i Idempotency) error {
	return intent.Claim(ctx, tx.Tx, i)
}

// RecordIdempotent notes, in the transaction that claimed the key, what the
// request made, so that its answer can be given again.
func (tx *Tx) RecordIdempotent(ctx context.Context, i Idempotency, objectKind string, object, job uuid.UUID) error {
	return intent.Record(ctx, tx.Tx, i, objectKind, object, job)
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
	return tx.removeSome(ctx, sqlDeleteOldKeys)
}
