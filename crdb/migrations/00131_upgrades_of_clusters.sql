-- +goose NO TRANSACTION
-- +goose Up

-- When upgrades and automatic changes of the cluster may begin, in UTC: days, from, to. Empty: always.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS maintenance_window JSONB NOT NULL DEFAULT '{}';

-- How far the upgrade of the node is; empty before and after it.
ALTER TABLE kube_nodes ADD COLUMN IF NOT EXISTS upgrade_phase TEXT NOT NULL DEFAULT '';

-- When the upgrade of the node began, or went on; NULL while it has none.
ALTER TABLE kube_nodes ADD COLUMN IF NOT EXISTS upgrade_since TIMESTAMPTZ;

-- +goose Down
SELECT 1;
