-- +goose NO TRANSACTION
-- +goose Up

-- IPv4 addresses that are hosts' own: under which they are reached, and which a probe found on them. None is handed to a
-- unit. Without foreign keys, as in job_hosts: no backend removes a host.
CREATE TABLE IF NOT EXISTS host_addresses (
    address TEXT NOT NULL,                          -- as text
    host_id UUID NOT NULL,
    PRIMARY KEY (address, host_id)
);

-- The addresses of a host.
CREATE INDEX IF NOT EXISTS host_addresses_of_host ON host_addresses (host_id);

INSERT INTO host_addresses (address, host_id)
SELECT h.address, h.id FROM hosts h WHERE h.removed_at IS NULL AND h.address ~ '^[0-9]+[.][0-9]+[.][0-9]+[.][0-9]+$'
UNION
SELECT h.facts->'uplink'->>'address', h.id FROM hosts h WHERE h.removed_at IS NULL AND h.facts->'uplink'->>'address' <> ''
ON CONFLICT (address, host_id) DO NOTHING;

-- Free addresses of pools that are a host's are closed.
UPDATE addresses
   SET state = 'unavailable', version = version + 1, updated_at = now()
 WHERE state = 'free' AND address IN (SELECT o.address FROM host_addresses o);

-- +goose Down
SELECT 1;
