-- +goose NO TRANSACTION
-- +goose Up

-- Deliveries of a version of a playbook to hosts. How far one is stands in rollouts, under the same id.
CREATE TABLE IF NOT EXISTS playbook_deliveries ( -- noun: playbook_delivery
    id         UUID PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    playbook   TEXT NOT NULL,
    version    INT4 NOT NULL,                     -- becomes the default when each host was reached
    before     INT4 NOT NULL,                     -- the default when it began
    region     TEXT NOT NULL,                     -- of the hosts that come in waves; '': any
    zone       TEXT NOT NULL,                     -- '': any
    open       BOOL NOT NULL DEFAULT true,        -- it has not ended
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS playbook_deliveries_by_age ON playbook_deliveries (created_at, id);

-- One at a time for a playbook: two would give hosts two versions.
CREATE UNIQUE INDEX IF NOT EXISTS playbook_deliveries_open ON playbook_deliveries (playbook) WHERE open;

-- The version of a playbook that jobs of a host are bound to instead of the default, while its delivery is open.
CREATE TABLE IF NOT EXISTS host_playbooks ( -- no noun: written by deliveries, which touch themselves
    host_id     UUID NOT NULL,
    playbook    TEXT NOT NULL,
    version     INT4 NOT NULL,
    delivery_id UUID NOT NULL,                    -- that gave it
    given_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (host_id, playbook)
);

CREATE INDEX IF NOT EXISTS host_playbooks_by_delivery ON host_playbooks (delivery_id);

-- +goose Down
SELECT 1;
