package store

import (
	"context"
	"fmt"
	"time"
)

// The first FreeLogins tries under a name that fail one after the other cost
// nothing; each further one blocks the name for twice as long, up to 64 s.
const FreeLogins = 10

// A try of the same moment may have begun a little later than this one: what blocks is that many failed, not its time.
const sqlTryLogin = `
INSERT INTO login_failures (name_hash, failures, last_at, blocked_until)
VALUES ($1, 1, now(), now())
ON CONFLICT (name_hash) DO UPDATE
   SET failures = CASE WHEN login_failures.last_at < now() - INTERVAL '1 hour' THEN 1 ELSE login_failures.failures + 1 END,
       last_at = now(),
       blocked_until = CASE WHEN login_failures.last_at < now() - INTERVAL '1 hour' OR login_failures.failures + 1 < $2::INT4 THEN now()
                            ELSE now() + (1::INT8 << LEAST(login_failures.failures + 1 - $2::INT4, 6)) * INTERVAL '1 second' END
 WHERE login_failures.blocked_until <= now() OR login_failures.failures < $2::INT4`

const sqlLoginBlocked = `
SELECT (EXTRACT(EPOCH FROM f.blocked_until - now()) * 1000)::INT8
  FROM login_failures f
 WHERE f.name_hash = $1`

// TryLogin counts a try to log in under a name, before it is known how it ends,
// so that many at once are not one. If the name is blocked it counts nothing
// and returns for how long.
func (tx *Tx) TryLogin(ctx context.Context, nameHash []byte) (blocked time.Duration, err error) {
	n, err := tx.Exec(ctx, sqlTryLogin, nameHash, FreeLogins)
	if err != nil || n == 1 {
		return 0, err
	}
	var left int64
	if err := tx.q.QueryRow(ctx, sqlLoginBlocked, nameHash).Scan(&left); err != nil {
		return 0, fmt.Errorf("read for how long: %w", err)
	}
	return max(time.Duration(left)*time.Millisecond, time.Millisecond), nil
}

const sqlForgetLogins = `
DELETE FROM login_failures
 WHERE name_hash = $1`

// ForgetLogins forgets the tries under a name: one succeeded.
func (tx *Tx) ForgetLogins(ctx context.Context, nameHash []byte) error {
	_, err := tx.Exec(ctx, sqlForgetLogins, nameHash)
	return err
}

const sqlUncountLogin = `
UPDATE login_failures
   SET failures = failures - 1, blocked_until = now()
 WHERE name_hash = $1 AND failures > 0`

// UncountLogin takes a try back whose password nobody looked at.
func (tx *Tx) UncountLogin(ctx context.Context, nameHash []byte) error {
	_, err := tx.Exec(ctx, sqlUncountLogin, nameHash)
	return err
}

const sqlDeleteOldLogins = `
DELETE FROM login_failures
 WHERE name_hash IN (SELECT f.name_hash
                       FROM login_failures f
                      WHERE f.last_at < now() - INTERVAL '1 hour'
                      ORDER BY f.last_at
                      LIMIT $1)`

// DeleteOldLogins takes away names under which nobody tried for an hour.
func (tx *Tx) DeleteOldLogins(ctx context.Context) (n int64, more bool, err error) {
	return tx.removeSome(ctx, sqlDeleteOldLogins)
}
