-- An enrolled agent on each host. Its credential is its id and the SHA-256 of 'bench ' and its id, so that the bench knows it.
-- All was enrolled an hour ago: nothing of it is news to the backends.
WITH new_agents AS (
    INSERT INTO agents (id, workspace_id, host_id, incarnation, public_key, machine_id, state, created_at, updated_at)
    SELECT gen_random_uuid(), h.workspace_id, h.id, h.incarnation, sha256(convert_to(h.id::TEXT, 'UTF8')), h.machine_id, 'enrolled',
           now() - INTERVAL '1 hour', now() - INTERVAL '1 hour'
      FROM hosts h
    RETURNING id, host_id
), new_liveness AS (
    INSERT INTO agent_liveness (agent_id, host_id)
    SELECT a.id, a.host_id
      FROM new_agents a
)
INSERT INTO agent_credentials (agent_id, hash, expires_at, challenged_at, boot_id)
SELECT a.id, sha256(uuid_send(a.id) || sha256(convert_to('bench ' || a.id::TEXT, 'UTF8'))), now() + INTERVAL '1 day', now() - INTERVAL '1 hour',
       '11111111-1111-1111-1111-111111111111'
  FROM new_agents a
