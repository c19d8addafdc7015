-- Gives some units of the fleet to tenants, as allocations that ended well leave them. Parameter: $1 how many.
WITH chosen AS (
    SELECT u.id AS unit, u.host_id, u.workspace_id, gen_random_uuid() AS allocation, row_number() OVER (ORDER BY u.shuffle, u.id) AS n
      FROM compute_units u
     WHERE u.state = 'free'
     ORDER BY u.shuffle, u.id
     LIMIT $1::INT8
), given AS (
    SELECT p.id AS address_id, p.address, p.network, row_number() OVER (ORDER BY p.sort_key) AS n
      FROM addresses p
     WHERE p.state = 'free'
     ORDER BY p.sort_key
     LIMIT $1::INT8
), units AS (
    UPDATE compute_units SET state = 'allocated', version = version + 2 FROM chosen c WHERE compute_units.id = c.unit
), taken AS (
    UPDATE addresses SET state = 'allocated', allocation_id = c.allocation FROM chosen c JOIN given g USING (n) WHERE addresses.id = g.address_id
), ids AS (
    INSERT INTO uids (uid, allocation_id) SELECT 200000 + c.n, c.allocation FROM chosen c
)
INSERT INTO allocations (id, workspace_id, unit_id, host_id, login_user, uid, address, network, ssh_keys, labels, state, created_by, keys_applied)
SELECT c.allocation, c.workspace_id, c.unit, c.host_id, 'tenant-' || c.n, 200000 + c.n, g.address, g.network,
       '{ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGFiY2RlZmdoaWprbG1ub3BxcnN0dXZ3eHl6MDEyMzQ1 bench}', '{}', 'allocated', 'admin', 1
  FROM chosen c
  JOIN given g USING (n)
