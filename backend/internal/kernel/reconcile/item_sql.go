package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"kloigos/backend/internal/kernel/db"
)

// What may be claimed of a policy's items. A pause of the whole policy is looked at
// before, so that its items are not walked over.
const claimable = `i.due_at <= statement_timestamp()
                  AND (i.lease_until IS NULL OR i.lease_until < statement_timestamp())
                  AND NOT EXISTS (SELECT 1
                                    FROM reconcile_pauses s
                                   WHERE s.object_id = i.object_id AND s.policy IN (i.policy, '') AND s.mode = 'pause'
                                     AND (s.until IS NULL OR s.until > statement_timestamp()))`

// Inside EXISTS the order, and with it the index, would be lost. $2: from which due
// time on, since an index of CockroachDB keeps what was removed from its beginning
// for hours.
const sqlDue = `
SELECT p.policy, statement_timestamp() AS now
  FROM unnest($1::TEXT[], $2::TIMESTAMPTZ[]) AS p (policy, since)
 WHERE NOT EXISTS (SELECT 1
                     FROM reconcile_pauses s
                    WHERE s.policy = p.policy AND s.object_id = '00000000-0000-0000-0000-000000000000' AND s.mode = 'pause'
                      AND (s.until IS NULL OR s.until > statement_timestamp()))
   AND (SELECT true
          FROM reconcile_items i
         WHERE i.policy = p.policy AND i.due_at >= p.since
           AND ` + claimable + `
         ORDER BY i.due_at
         LIMIT 1) IS NOT NULL`

// due is a policy of which items can be claimed.
type due struct {
	Policy string    `db:"policy"`
	Now    time.Time `db:"now"`
}

const sqlNow = `SELECT statement_timestamp()`

const sqlClaim = `
WITH found AS MATERIALIZED (
     SELECT i.object_id
       FROM reconcile_items i
      WHERE i.policy = $1 AND i.due_at >= $2
        AND ` + claimable + `
      ORDER BY i.due_at
      LIMIT $3
        FOR UPDATE SKIP LOCKED)
UPDATE reconcile_items
   SET lease_until = statement_timestamp() + $4::INT8 * INTERVAL '1 millisecond', holder = $5, run = reconcile_items.run + 1,
       last_started = statement_timestamp()
  FROM unnest(ARRAY(SELECT f.object_id FROM found f)) AS c (object_id)
 WHERE reconcile_items.policy = $1 AND reconcile_items.object_id = c.object_id
RETURNING reconcile_items.object_id, reconcile_items.run, reconcile_items.token, reconcile_items.failures, reconcile_items.due_at,
          statement_timestamp() AS now,
          EXISTS (SELECT 1
                    FROM reconcile_pauses s
                   WHERE s.policy IN ($1, '') AND s.object_id IN (c.object_id, '00000000-0000-0000-0000-000000000000') AND s.mode = 'observe'
                     AND (s.until IS NULL OR s.until > statement_timestamp())) AS observe`

// claimed is an item whose lease this reconciler got.
type claimed struct {
	ObjectID uuid.UUID `db:"object_id"`
	Run      int64     `db:"run"`
	Token    int64     `db:"token"`
	Failures int       `db:"failures"`
	DueAt    time.Time `db:"due_at"`
	Now      time.Time `db:"now"`
	Observe  bool      `db:"observe"`
}

// On CockroachDB at SERIALIZABLE, FOR UPDATE would lock what NOT EXISTS reads, too.
const sqlLockReturned = `SET LOCAL optimizer_use_lock_op_for_serializable = on`

func claim(ctx context.Context, d *db.DB, policy string, since time.Time, limit int, lease time.Duration, holder uuid.UUID) (got []claimed, err error) {
	err = d.InTx(ctx, func(tx *db.Tx) error {
		if tx.Cockroach() {
			if _, err := tx.Exec(ctx, sqlLockReturned); err != nil {
				return err
			}
		}
		got, err = db.Collect[claimed](ctx, tx.Reader, sqlClaim, policy, since, limit, lease.Milliseconds(), holder)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim items of %s: %w", policy, err)
	}
	return got, nil
}

// Several items are locked in the order that the program gives, which no collation changes.
const sqlLock = `
SELECT i.run
  FROM unnest($1::TEXT[], $2::UUID[]) WITH ORDINALITY AS e (policy, object_id, n)
  JOIN reconcile_items i ON i.policy = e.policy AND i.object_id = e.object_id
 ORDER BY e.n
   FOR UPDATE OF i`

const sqlRenew = `
UPDATE reconcile_items
   SET lease_until = statement_timestamp() + $5::INT8 * INTERVAL '1 millisecond'
  FROM unnest($1::TEXT[], $2::UUID[], $3::INT8[]) AS e (policy, object_id, run)
 WHERE reconcile_items.policy = e.policy AND reconcile_items.object_id = e.object_id AND reconcile_items.run = e.run AND reconcile_items.holder = $4
RETURNING reconcile_items.policy, reconcile_items.object_id`

// key is an item's.
type key struct {
	Policy   string    `db:"policy"`
	ObjectID uuid.UUID `db:"object_id"`
}

// What ended. An item that was woken during its run is due again at once.
const sqlEnd = `
UPDATE reconcile_items
   SET lease_until = NULL, holder = NULL, token_done = e.token, failures = e.failures, last_ended = statement_timestamp(), last_outcome = e.outcome,
       last_changed = e.changed, last_error = e.error,
       due_at = CASE WHEN reconcile_items.token <> e.token THEN statement_timestamp()
                     ELSE statement_timestamp() + e.wait * INTERVAL '1 millisecond' END
  FROM unnest($1::TEXT[], $2::UUID[], $3::INT8[], $4::INT8[], $5::INT8[], $6::TEXT[], $7::INT8[], $8::TEXT[], $9::INT8[])
       AS e (policy, object_id, run, token, failures, outcome, changed, error, wait)
 WHERE reconcile_items.policy = e.policy AND reconcile_items.object_id = e.object_id AND reconcile_items.run = e.run
RETURNING reconcile_items.policy, reconcile_items.object_id, statement_timestamp() AS now`

// Whoever stops gives back what it has not done.
const sqlGiveBack = `
UPDATE reconcile_items
   SET lease_until = NULL, holder = NULL
  FROM unnest($1::TEXT[], $2::UUID[], $3::INT8[]) AS e (policy, object_id, run)
 WHERE reconcile_items.policy = e.policy AND reconcile_items.object_id = e.object_id AND reconcile_items.run = e.run`

// An item of an object that is gone, unless somebody woke it meanwhile.
const sqlForget = `
DELETE FROM reconcile_items
 WHERE policy = $1 AND object_id = $2 AND run = $3 AND token = $4`

// A wake never moves an item that is overdue further back.
const sqlWake = `
INSERT INTO reconcile_items (policy, object_id, due_at, token)
SELECT w.policy, w.object_id, statement_timestamp(), 1
  FROM unnest($1::TEXT[], $2::UUID[]) AS w (policy, object_id)
ON CONFLICT (policy, object_id) DO UPDATE
   SET due_at = LEAST(reconcile_items.due_at, statement_timestamp()), token = reconcile_items.token + 1`

const sqlWakeOne = sqlWake + `
RETURNING token`

// Items that are there stay as they are.
const sqlAddItems = `
INSERT INTO reconcile_items (policy, object_id, due_at)
SELECT $1, w.object_id, statement_timestamp() + w.wait * INTERVAL '1 millisecond'
  FROM unnest($2::UUID[], $3::INT8[]) AS w (object_id, wait)
ON CONFLICT (policy, object_id) DO NOTHING`

const sqlAddPolicies = `
INSERT INTO reconcile_items (policy, object_id, due_at)
SELECT w.policy, '00000000-0000-0000-0000-000000000000', statement_timestamp() + w.wait * INTERVAL '1 millisecond'
  FROM unnest($1::TEXT[], $2::INT8[]) AS w (policy, wait)
ON CONFLICT (policy, object_id) DO NOTHING`

// Items of objects that a page of the list does not hold. An object may be younger
// than the page: its item is left for the next look.
const sqlForgetOthers = `
DELETE FROM reconcile_items
 WHERE policy = $1 AND object_id > $2 AND object_id <= $3 AND object_id <> ALL($4::UUID[]) AND lease_until IS NULL
   AND created_at < statement_timestamp() - INTERVAL '10 minutes'
RETURNING policy, object_id`

// What lies further ahead than anything that is ever written was written before
// the database's clock went back, or by a release with a longer interval. A lease is
// cut to a time within which its holder, if alive, renews it. Items that somebody
// else has locked are set right a minute later.
const (
	sqlDueAhead = `
WITH found AS MATERIALIZED (
     SELECT i.policy, i.object_id
       FROM reconcile_items i
       JOIN unnest($1::TEXT[], $2::INT8[]) AS p (policy, longest) ON i.policy = p.policy
      WHERE i.due_at > statement_timestamp() + p.longest * INTERVAL '1 millisecond'
        AND (i.failures = 0 OR i.due_at > statement_timestamp() + $3::INT8 * INTERVAL '1 millisecond')
        FOR UPDATE OF i SKIP LOCKED)
UPDATE reconcile_items
   SET due_at = statement_timestamp()
  FROM found f
 WHERE reconcile_items.policy = f.policy AND reconcile_items.object_id = f.object_id`

	sqlLeasesAhead = `
WITH found AS MATERIALIZED (
     SELECT i.policy, i.object_id
       FROM reconcile_items i
      WHERE i.lease_until > statement_timestamp() + INTERVAL '10 minutes'
        FOR UPDATE SKIP LOCKED)
UPDATE reconcile_items
   SET lease_until = statement_timestamp() + $1::INT8 * INTERVAL '1 millisecond'
  FROM found f
 WHERE reconcile_items.policy = f.policy AND reconcile_items.object_id = f.object_id`
)
