-- +goose NO TRANSACTION
-- +goose Up

-- New allocations get networks of their own wherever their host can give one. A probe of the last release says so of hosts whose
-- packet filter knows no such units. So each host says it again, by its next probe. Hosts that have such units can give them.
UPDATE hosts
   SET unit_networks = false
 WHERE unit_networks
   AND NOT EXISTS (SELECT 1 FROM allocations a WHERE a.host_id = hosts.id AND a.unit_network = 'unit' AND a.ended_at IS NULL);

-- +goose Down
SELECT 1;
