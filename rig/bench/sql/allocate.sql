-- The rows of one accepted allocation, in one statement: the unit and the address taken, the UID, the allocation, its job
-- with its step, the audit event, and the request's idempotency key. Kloigos' own filters choose the unit.
\set size 1 << random(0, 3)
\set zone random(0, 3)
-- As spread as by chance, but no two alike, and none of a tenant that is there; n counts the client's transactions.
\set n :n + 1
\set uid 300000 + permute(:n * 1000 + :client_id, 1999700000)
WITH request AS MATERIALIZED (
    SELECT gen_random_uuid() AS allocation, gen_random_uuid() AS job, floor(random() * 1900000000)::INT4 AS shuffle, w.id AS workspace,
           :uid::INT8 AS uid, 'user-' || :uid::INT8 AS login, :size::INT8 AS size, 'zone-' || :zone::INT8 AS zone
      FROM workspaces w
     LIMIT 1
), unit AS (
    UPDATE compute_units
       SET state = 'allocating', state_message = '', version = version + 1, updated_at = now()
     WHERE state = 'free'
       AND id = (SELECT u.id
                   FROM compute_units u
                   JOIN hosts h ON h.id = u.host_id
                  WHERE u.workspace_id = (SELECT r.workspace FROM request r) AND u.state = 'free' AND h.state = 'ready' AND h.health <> 'unreachable'
                    AND u.cpu_count >= :size::INT8 AND u.zone = 'zone-' || :zone::INT8 AND h.zone = 'zone-' || :zone::INT8 AND h.admin_user <> 'user-' || :uid::INT8
                    AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = u.host_id AND a.login_user = 'user-' || :uid::INT8 AND a.ended_at IS NULL)
                    AND EXISTS (SELECT 1 FROM addresses p WHERE p.workspace_id = u.workspace_id AND p.network = ANY (h.networks) AND p.state = 'free')
                  ORDER BY u.cpu_count, u.shuffle
                  LIMIT 1
                    FOR UPDATE OF u SKIP LOCKED)
    RETURNING id, host_id, name
), address AS (
    UPDATE addresses
       SET state = 'reserved', allocation_id = (SELECT r.allocation FROM request r), version = version + 1, updated_at = now()
     WHERE state = 'free'
       AND id = (SELECT p.id
                   FROM addresses p
                  WHERE p.workspace_id = (SELECT r.workspace FROM request r) AND p.network = 'default' AND p.state = 'free'
                    AND p.shuffle >= (SELECT r.shuffle FROM request r)
                  ORDER BY p.workspace_id, p.network, p.shuffle
                  LIMIT 1
                    FOR UPDATE SKIP LOCKED)
    RETURNING address
), uid AS (
    INSERT INTO uids (uid, allocation_id)
    SELECT r.uid, r.allocation FROM request r
    RETURNING uid
), allocation AS (
    INSERT INTO allocations (id, workspace_id, unit_id, host_id, login_user, uid, address, network, ssh_keys, labels, state, created_by)
    SELECT r.allocation, r.workspace, u.id, u.host_id, r.login, i.uid, a.address, 'default',
           '{ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBenchBenchBenchBenchBenchBenchBenchBenchBen bench}', '{}', 'allocating', 'admin'
      FROM request r, unit u, address a, uid i
    RETURNING id
), job AS (
    INSERT INTO jobs (id, workspace_id, kind, args, host_id, unit_id, allocation_id, state, priority, deadline_at, max_attempts,
                      playbook_version_id, requested_by)
    SELECT r.job, r.workspace, 'unit_allocate', jsonb_build_object('host_id', u.host_id, 'unit_id', u.id, 'allocation_id', r.allocation),
           u.host_id, u.id, r.allocation, 'queued', 10, now() + INTERVAL '1 hour', 10, v.id, 'admin'
      FROM request r, unit u, playbooks p
      JOIN playbook_versions v ON v.playbook = p.name AND v.version = p.default_version
     WHERE p.name = 'unit_allocate'
    RETURNING id
), step AS (
    INSERT INTO job_steps (job_id, position, name, state)
    SELECT j.id, 0, 'allocate', 'pending' FROM job j
), event AS (
    INSERT INTO events (id, workspace_id, actor_kind, actor_id, actor_name, client, request_id, action, object_kind, object_id, object_name,
                        job_id, state_after)
    SELECT gen_random_uuid(), r.workspace, 'account', r.workspace, 'admin', '127.0.0.1', r.job::TEXT, 'allocation.create', 'allocation',
           r.allocation, r.login, r.job, jsonb_build_object('unit', u.name, 'address', a.address, 'uid', r.uid, 'cpus', r.size)
      FROM request r, unit u, address a
), key AS (
    INSERT INTO idempotency_keys (account_id, key, request_hash, object_kind, object_id, job_id)
    SELECT r.workspace, r.job::TEXT, sha256(r.job::TEXT::BYTEA), 'allocation', r.allocation, r.job FROM request r
)
SELECT id FROM allocation;
