-- A record set for each name.
INSERT INTO dns_record_sets (id, workspace_id, zone_id, name, type, ttl, contents, owner, alone, state)
SELECT gen_random_uuid(), z.workspace_id, z.id, n.name, 'A', 300, ARRAY['192.0.2.1'], 'user', false, 'live'
  FROM dns_names n
  JOIN dns_zones z ON z.id = n.zone_id
