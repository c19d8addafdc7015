-- Jobs that have ended, each with two steps, a chunk of log and an event, spread over the hosts and over a year. The four
-- statements are separated by dashes; in each, $1 is how many jobs.
INSERT INTO jobs (id, workspace_id, kind, args, host_id, state, priority, run_after, deadline_at, attempt, max_attempts, worker_id,
                  requested_by, outcome, created_at, started_at, finished_at)
SELECT lpad(to_hex(n), 32, '0')::UUID, h.workspace_id, (ARRAY['host_probe', 'host_initialize', 'host_decommission'])[n % 3 + 1],
       jsonb_build_object('host_id', h.id), h.id, 'succeeded', 0, t.at, t.at, 1, 3, lpad('1', 32, '0')::UUID,
       'bench', 'done', t.at, t.at, t.at + INTERVAL '1 minute'
  FROM generate_series(1, $1::INT8) AS n
  JOIN (SELECT h.id, h.workspace_id, row_number() OVER (ORDER BY h.name) AS number, count(*) OVER () AS hosts FROM hosts h) AS h
    ON h.number = n % h.hosts + 1
 CROSS JOIN LATERAL (SELECT now() - n * (INTERVAL '1 year' / $1::INT8) AS at) AS t
----
INSERT INTO job_steps (job_id, position, name, state, attempt, started_at, finished_at)
SELECT lpad(to_hex(n), 32, '0')::UUID, p, 'step' || p, 'succeeded', 1, now(), now() FROM generate_series(1, $1::INT8) AS n, generate_series(0, 1) AS p
----
INSERT INTO job_log (job_id, first_seq, last_seq, attempt, entries)
SELECT lpad(to_hex(n), 32, '0')::UUID, 1, 20, 1, decode(repeat(md5(n::TEXT), 24), 'hex') FROM generate_series(1, $1::INT8) AS n
----
INSERT INTO events (id, at, workspace_id, actor_kind, actor_name, action, object_kind, object_id, job_id)
SELECT lpad(to_hex(n), 32, '0')::UUID, now() - n * (INTERVAL '1 year' / $1::INT8), h.workspace_id, 'account', 'bench', 'host.probe', 'host', h.id,
       lpad(to_hex(n), 32, '0')::UUID
  FROM generate_series(1, $1::INT8) AS n
  JOIN (SELECT h.id, h.workspace_id, row_number() OVER (ORDER BY h.name) AS number, count(*) OVER () AS hosts FROM hosts h) AS h
    ON h.number = n % h.hosts + 1
