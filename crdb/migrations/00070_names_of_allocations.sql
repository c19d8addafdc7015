-- +goose NO TRANSACTION
-- +goose Up

-- A zone may name the allocations of its workspace; one zone of each workspace does.
ALTER TABLE dns_zones ADD COLUMN IF NOT EXISTS names_allocations BOOL NOT NULL DEFAULT false;

CREATE UNIQUE INDEX IF NOT EXISTS dns_zones_names_allocations ON dns_zones (workspace_id) WHERE names_allocations;

-- +goose Down
SELECT 1;
