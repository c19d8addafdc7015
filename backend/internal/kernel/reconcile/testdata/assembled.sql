-- Statements that the scheduler puts together at run time; written by go test ./backend/internal/kernel/reconcile -run Assembled -update

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND (i.due_at, i.object_id) < ($2, $3)
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND (i.due_at, i.object_id) > ($2, $3)
ORDER BY i.due_at, i.object_id
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND (i.object_id) < ($2)
ORDER BY i.object_id DESC
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND (i.object_id) > ($2)
ORDER BY i.object_id
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
  AND (i.due_at, i.object_id) < ($2, $3)
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
  AND (i.due_at, i.object_id) > ($2, $3)
ORDER BY i.due_at, i.object_id
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
  AND (i.object_id) < ($2)
ORDER BY i.object_id DESC
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
  AND (i.object_id) > ($2)
ORDER BY i.object_id
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
ORDER BY i.due_at, i.object_id
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
ORDER BY i.object_id
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.failures > 0
ORDER BY i.object_id DESC
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND (i.due_at, i.object_id) < ($3, $4)
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $5;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND (i.due_at, i.object_id) > ($3, $4)
ORDER BY i.due_at, i.object_id
LIMIT $5;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND (i.object_id) < ($3)
ORDER BY i.object_id DESC
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND (i.object_id) > ($3)
ORDER BY i.object_id
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
  AND (i.due_at, i.object_id) < ($3, $4)
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $5;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
  AND (i.due_at, i.object_id) > ($3, $4)
ORDER BY i.due_at, i.object_id
LIMIT $5;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
  AND (i.object_id) < ($3)
ORDER BY i.object_id DESC
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
  AND (i.object_id) > ($3)
ORDER BY i.object_id
LIMIT $4;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
ORDER BY i.due_at, i.object_id
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
ORDER BY i.object_id
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
  AND i.failures > 0
ORDER BY i.object_id DESC
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
ORDER BY i.due_at, i.object_id
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
ORDER BY i.object_id
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
  AND i.object_id = $2
ORDER BY i.object_id DESC
LIMIT $3;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
ORDER BY i.due_at DESC, i.object_id DESC
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
ORDER BY i.due_at, i.object_id
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
ORDER BY i.object_id
LIMIT $2;

SELECT i.policy, i.object_id, i.due_at, COALESCE(i.lease_until > statement_timestamp(), false) AS running, i.token, i.token_done, i.failures,
       i.last_started, i.last_ended, i.last_outcome, i.last_changed, i.last_error
  FROM reconcile_items i
 WHERE true
  AND i.policy = $1
ORDER BY i.object_id DESC
LIMIT $2;
