-- Zones and the names in them, a hundredth of the names in each zone. Parameter: $1 how many names.
WITH made AS (
    INSERT INTO dns_zones (id, workspace_id, name, provider, server, allow_private, key_name, key_algorithm, key_sealed, patterns, mode, state)
    SELECT gen_random_uuid(), w.id, 'z' || n || '.example.', 'rfc2136', '192.0.2.53:53', false, 'key.', 'hmac-sha256', '', '{}', 'observe', 'live'
      FROM (SELECT id FROM workspaces ORDER BY id LIMIT 1) AS w, generate_series(1, 100) AS n
    RETURNING id, name
)
INSERT INTO dns_names (zone_id, name, alone)
SELECT m.id, 'r' || n || '.' || m.name, false
  FROM made m, generate_series(1, $1::INT8 / 100) AS n
