package intent

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// ErrDuplicateRequest says that a request with this idempotency key was
// committed before. Nothing of the present transaction may be kept.
var ErrDuplicateRequest = errors.New("a request with this idempotency key was committed before")

// Key is the idempotency key that a client gave to a request.
type Key struct {
	AccountID   uuid.UUID
	Key         string
	RequestHash []byte // SHA-256 of route, path, query and body
}

const sqlClaimKey = `
INSERT INTO idempotency_keys (account_id, key, request_hash)
VALUES ($1, $2, $3)
ON CONFLICT (account_id, key) DO NOTHING`

// Claim takes a key for this transaction; it must be the first statement. Whoever
// else has the key is waited for: once they committed it is ErrDuplicateRequest,
// once they rolled back the key is ours.
func Claim(ctx context.Context, tx *db.Tx, k Key) error {
	err := tx.One(ctx, ErrDuplicateRequest, sqlClaimKey, k.AccountID, k.Key, k.RequestHash)
	if err != nil && !errors.Is(err, ErrDuplicateRequest) {
		return fmt.Errorf("claim idempotency key: %w", err)
	}
	return err
}

const sqlRecordKey = `
UPDATE idempotency_keys
   SET object_kind = $3, object_id = $4, job_id = $5
 WHERE account_id = $1 AND key = $2`

// Record notes, in the transaction that claimed the key, what the request made, so
// that its answer can be given again.
func Record(ctx context.Context, tx *db.Tx, k Key, objectKind string, object, job uuid.UUID) error {
	_, err := tx.Exec(ctx, sqlRecordKey, k.AccountID, k.Key, objectKind, db.OrNull(object), db.OrNull(job))
	if err != nil {
		return fmt.Errorf("record what the request made: %w", err)
	}
	return nil
}
