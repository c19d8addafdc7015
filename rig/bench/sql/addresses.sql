-- Addresses for the fleet. Parameter: $1 how many.
INSERT INTO addresses (id, workspace_id, network, address, sort_key, state, shuffle)
SELECT gen_random_uuid(), w.id, 'default', host('10.0.0.0'::INET + n), 167772160 + n, 'free', floor(random() * 2147483647)::INT4
  FROM workspaces w, generate_series(10, $1::INT8 + 9) AS n
