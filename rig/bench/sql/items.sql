-- Two hundred due items claimed and ended, each as one set in one transaction, with the rows, conditions and indexes of the
-- scheduler: what it comes to without the scheduler. Parameter: holder, any UUID.
BEGIN;
WITH found AS MATERIALIZED (
    SELECT i.object_id
      FROM reconcile_items i
     WHERE i.policy = 'bench' AND i.due_at <= statement_timestamp() AND (i.lease_until IS NULL OR i.lease_until < statement_timestamp())
       AND NOT EXISTS (SELECT 1 FROM reconcile_pauses s WHERE s.object_id = i.object_id AND s.policy IN (i.policy, '') AND s.mode = 'pause')
     ORDER BY i.due_at
     LIMIT 200
       FOR UPDATE SKIP LOCKED
), claimed AS (
    UPDATE reconcile_items
       SET lease_until = statement_timestamp() + INTERVAL '30 seconds', holder = :holder::UUID, run = run + 1, last_started = statement_timestamp()
     WHERE policy = 'bench' AND object_id = ANY (ARRAY(SELECT f.object_id FROM found f))
    RETURNING object_id
)
SELECT COALESCE(array_agg(c.object_id), '{}')::TEXT AS claimed FROM claimed c \gset
COMMIT;
BEGIN;
UPDATE reconcile_items
   SET lease_until = NULL, holder = NULL, token_done = token, failures = 0, last_ended = statement_timestamp(), last_outcome = 'ok', last_changed = 0,
       last_error = '', due_at = statement_timestamp() + INTERVAL '1 day'
 WHERE policy = 'bench' AND object_id = ANY (:claimed::UUID[]) AND run = 1;
COMMIT;
