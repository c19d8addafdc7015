-- +goose NO TRANSACTION
-- +goose Up

-- Deliveries of a release of backends and web apps. They tell which machine is next, and replace no program. How far one is stands
-- in rollouts, under the same id.
CREATE TABLE IF NOT EXISTS release_deliveries ( -- noun: release_delivery
    id         UUID PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    version    TEXT NOT NULL,                     -- as backends and web apps tell it
    open       BOOL NOT NULL DEFAULT true,        -- it has not ended
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS release_deliveries_by_age ON release_deliveries (created_at, id);

-- One at a time: two would tell a machine two versions.
CREATE UNIQUE INDEX IF NOT EXISTS release_deliveries_one_open ON release_deliveries (open) WHERE open;

-- Web apps that a delivery asks for their version. Backends tell theirs in the table backends.
CREATE TABLE IF NOT EXISTS release_web_apps ( -- no noun: a part of their delivery
    delivery_id UUID NOT NULL REFERENCES release_deliveries (id),
    target_id   UUID NOT NULL,                    -- in rollout_targets
    url         TEXT NOT NULL,
    runs        TEXT NOT NULL DEFAULT '',         -- the version that it told last
    problem     TEXT NOT NULL DEFAULT '',         -- why it told none; '': it did
    since       TIMESTAMPTZ NOT NULL DEFAULT now(), -- it has told the same
    PRIMARY KEY (delivery_id, target_id)
);

-- +goose Down
SELECT 1;
