-- A fleet as it would be after its hosts were initialized: hosts that are ready, units that are free, an address for each
-- and some to spare. Sizes and zones are spread evenly, so that a sixteenth of the units is of each kind.
-- Parameters: $1 units, $2 units a host, $3 SSH port of the hosts, $4 their address, $5 their key.
WITH settings AS (
    SELECT w.id AS workspace, p.organization_id AS organization, $1::INT8 AS units, $2::INT8 AS each
      FROM workspaces w
      JOIN projects p ON p.id = w.project_id
), new_hosts AS (
    INSERT INTO hosts (id, workspace_id, organization_id, name, address, port, admin_user, region, zone, networks, labels, profile,
                       trust_on_first_use, host_key, state, health, machine_id, facts, facts_at, layout, next_ordinal, incarnation, fenced)
    SELECT gen_random_uuid(), s.workspace, s.organization, 'bench-' || lpad(n::TEXT, 5, '0'), $4::TEXT, $3::INT4, 'root', 'bench',
           'zone-' || (n % 4), '{default}', '{"rack": "r1"}', 'minimal', false, $5::TEXT, 'ready', 'healthy', md5('machine' || n),
           jsonb_build_object('machine_id', md5('machine' || n), 'hostname', 'bench', 'kernel', '6.1.0', 'architecture', 'x86_64',
                              'memory_bytes', 1099511627776,
                              'uplink', jsonb_build_object('interface', 'bench0', 'address', '10.0.0.2', 'prefix', 8, 'gateway', '10.0.0.1')),
           now(), '{"system_cpus": "0", "volume_group": "kloigos-vg", "devices": [], "system_memory_bytes": 1073741824, "units": []}',
           s.each + 1, gen_random_uuid(), true
      FROM settings s, generate_series(1, (s.units + s.each - 1) / s.each) AS n
    RETURNING id, workspace_id, name, zone
), new_locks AS (
    INSERT INTO host_locks (host_id) SELECT h.id FROM new_hosts h
)
INSERT INTO compute_units (id, workspace_id, host_id, ordinal, name, state, cpus, cpu_count, memory_nodes, memory_max_bytes,
                           memory_high_bytes, volume_bytes, tasks_max, shuffle, zone)
SELECT gen_random_uuid(), h.workspace_id, h.id, n, h.name || '-cu' || lpad(n::TEXT, 2, '0'), 'free', (n * 8)::TEXT || '-' || (n * 8 + size - 1),
       size, '0', size * 4294967296, size * 4080218931, 10737418240, 2048, floor(random() * 2147483647)::INT4, h.zone
  FROM new_hosts h, settings s, generate_series(1, s.each) AS n, LATERAL (SELECT (1 << (n % 4)::INT4) AS size) AS sizes
 WHERE (right(h.name, 5)::INT8 - 1) * s.each + n <= s.units
