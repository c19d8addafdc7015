-- +goose NO TRANSACTION
-- +goose Up

-- Where the address of the allocation's unit lies: on its host, or in a network of the unit's own. It is chosen once.
ALTER TABLE allocations ADD COLUMN IF NOT EXISTS unit_network TEXT NOT NULL DEFAULT 'host' CHECK (unit_network IN ('host', 'unit'));

-- Whether the last probe found that units of the host can have networks of their own. Placement asks it of many hosts.
ALTER TABLE hosts ADD COLUMN IF NOT EXISTS unit_networks BOOL NOT NULL DEFAULT false;

-- +goose Down
SELECT 1;
