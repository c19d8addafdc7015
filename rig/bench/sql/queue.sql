-- Fifty jobs enqueued, claimed and ended, each as one set in one transaction, with Kloigos' own rows, conditions and
-- indexes: what its queue comes to without the queue. The ids begin with the time, as those of Kloigos do (UUID version
-- 7). Parameter: worker, any UUID.
BEGIN;
WITH job AS (
    INSERT INTO jobs (id, workspace_id, kind, args, host_id, state, priority, deadline_at, max_attempts, playbook_version_id, requested_by)
    SELECT (lpad(to_hex((extract(EPOCH FROM clock_timestamp()) * 1000)::INT8), 12, '0') || '7'
           || substr(replace(gen_random_uuid()::TEXT, '-', ''), 14))::UUID, h.workspace_id, 'host_probe', jsonb_build_object('host_id', h.id), h.id, 'queued', 20, now() + INTERVAL '600 seconds',
           3, v.id, 'bench'
      FROM (SELECT h.id, h.workspace_id FROM hosts h ORDER BY h.id LIMIT 50) AS h
      JOIN playbooks p ON p.name = 'host_probe'
      JOIN playbook_versions v ON v.playbook = p.name AND v.version = p.default_version
    RETURNING id
)
INSERT INTO job_steps (job_id, position, name, state)
SELECT j.id, s.position, s.name, 'pending' FROM job j, (VALUES (0, 'host_key'), (1, 'probe')) AS s(position, name);
COMMIT;
BEGIN;
WITH claimed AS (
    UPDATE jobs
       SET state = 'running', attempt = attempt + 1, worker_id = :worker::UUID, lease_expires_at = now() + 30000::INT8 * INTERVAL '1 millisecond',
           started_at = COALESCE(started_at, now())
     WHERE id = ANY (ARRAY(SELECT j.id
                             FROM jobs j
                            WHERE j.state = 'queued' AND j.run_after <= now()
                              AND NOT EXISTS (SELECT 1 FROM host_locks l WHERE l.host_id = j.host_id AND l.job_id <> j.id AND j.kind <> ALL('{host_probe}'))
                              AND NOT EXISTS (SELECT 1 FROM queue_pauses p WHERE p.queue = 'jobs')
                            ORDER BY j.priority DESC, j.run_after, j.id
                            LIMIT 50
                              FOR UPDATE SKIP LOCKED))
    RETURNING id
)
SELECT COALESCE(array_agg(c.id), '{}')::TEXT AS claimed FROM claimed c \gset
COMMIT;
BEGIN;
UPDATE jobs
   SET state = 'succeeded', finished_at = now(), lease_expires_at = NULL, error = NULL, outcome = ''
 WHERE id = ANY (:claimed::UUID[]) AND attempt = 1 AND state IN ('running', 'cancelling');
COMMIT;
