-- As queue.sql, with jobs that hold their hosts: the claim takes the lock of each job's host with a new number and begins
-- its step, and the end ends the step and lets the host go. Each client has fifty hosts. Parameter: worker, any UUID.
BEGIN;
WITH job AS (
    INSERT INTO jobs (id, workspace_id, kind, args, host_id, state, priority, deadline_at, max_attempts, playbook_version_id, requested_by)
    SELECT (lpad(to_hex((extract(EPOCH FROM clock_timestamp()) * 1000)::INT8), 12, '0') || '7'
           || substr(replace(gen_random_uuid()::TEXT, '-', ''), 14))::UUID, h.workspace_id, 'host_decommission', jsonb_build_object('host_id', h.id), h.id, 'queued', 0, now() + INTERVAL '7200 seconds',
           50, v.id, 'bench'
      FROM (SELECT h.id, h.workspace_id FROM hosts h ORDER BY h.id LIMIT 50 OFFSET :client_id::INT8 * 50) AS h
      JOIN playbooks p ON p.name = 'host_decommission'
      JOIN playbook_versions v ON v.playbook = p.name AND v.version = p.default_version
    RETURNING id
)
INSERT INTO job_steps (job_id, position, name, state)
SELECT j.id, 0, 'decommission', 'pending' FROM job j;
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
    RETURNING id, attempt, host_id
), held AS (
    UPDATE host_locks
       SET number = number + 1, job_id = c.id, attempt = c.attempt, taken_at = now()
      FROM claimed c
     WHERE host_locks.host_id = c.host_id
       AND host_locks.host_id = ANY (ARRAY(SELECT l.host_id
                                             FROM host_locks l
                                            WHERE l.host_id IN (SELECT h.host_id FROM claimed h) AND l.job_id IS NULL
                                              FOR UPDATE SKIP LOCKED))
    RETURNING host_locks.job_id, host_locks.attempt
), begun AS (
    UPDATE job_steps
       SET state = 'running', attempt = held.attempt, started_at = COALESCE(job_steps.started_at, now()), finished_at = NULL
      FROM held
     WHERE job_steps.job_id = held.job_id AND job_steps.position = 0
    RETURNING job_steps.job_id
)
SELECT COALESCE(array_agg(c.id), '{}')::TEXT AS claimed FROM claimed c \gset
COMMIT;
BEGIN;
WITH ended AS (
    UPDATE jobs
       SET state = 'succeeded', finished_at = now(), lease_expires_at = NULL, error = NULL, outcome = ''
     WHERE id = ANY (:claimed::UUID[]) AND attempt = 1 AND state IN ('running', 'cancelling')
    RETURNING id, attempt, host_id
), done AS (
    UPDATE job_steps
       SET state = 'succeeded', finished_at = now()
      FROM ended
     WHERE job_steps.job_id = ended.id AND job_steps.state = 'running'
    RETURNING job_steps.job_id
)
UPDATE host_locks
   SET job_id = NULL, taken_at = NULL
  FROM ended
 WHERE host_locks.host_id = ended.host_id AND host_locks.job_id = ended.id AND host_locks.attempt <= ended.attempt;
COMMIT;
