-- +goose NO TRANSACTION
-- +goose Up

-- Deliveries of a version of the agent to the hosts of a workspace. How far one is stands in rollouts, under the same id.
CREATE TABLE IF NOT EXISTS update_deliveries ( -- noun: update_delivery
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    name         TEXT NOT NULL,
    version      TEXT NOT NULL,                   -- of the agent
    region       TEXT NOT NULL,                   -- of the hosts that it reaches; '': any
    zone         TEXT NOT NULL,                   -- '': any
    open         BOOL NOT NULL DEFAULT true,      -- it has not ended
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (workspace_id, name)
);

CREATE INDEX IF NOT EXISTS update_deliveries_by_age ON update_deliveries (workspace_id, created_at, id);

-- One at a time in a workspace: two would tell hosts two versions.
CREATE UNIQUE INDEX IF NOT EXISTS update_deliveries_open ON update_deliveries (workspace_id) WHERE open;

-- +goose Down
SELECT 1;
