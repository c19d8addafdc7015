-- +goose NO TRANSACTION
-- +goose Up

-- An address is unique in its network. The old key, unique in the installation, stays for one release: backends of the last one
-- conflict on it. NULL: such a backend wrote the row; the policy network_rows fills it.
ALTER TABLE addresses ADD COLUMN IF NOT EXISTS network_id UUID;

INSERT INTO networks (id, workspace_id, name)
SELECT gen_random_uuid(), p.workspace_id, p.network
  FROM (SELECT DISTINCT workspace_id, network FROM addresses) AS p
ON CONFLICT (workspace_id, name) DO NOTHING;

UPDATE addresses
   SET network_id = (SELECT n.id FROM networks n WHERE n.workspace_id = addresses.workspace_id AND n.name = addresses.network)
 WHERE network_id IS NULL;

CREATE UNIQUE INDEX IF NOT EXISTS addresses_of_network ON addresses (network_id, address);

-- Those that an old backend wrote.
CREATE INDEX IF NOT EXISTS addresses_without_network ON addresses (id) WHERE network_id IS NULL;

-- +goose Down
SELECT 1;
