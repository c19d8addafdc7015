-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS allocations (
    id            UUID PRIMARY KEY,
    workspace_id  UUID NOT NULL REFERENCES workspaces (id),
    unit_id       UUID NOT NULL REFERENCES compute_units (id),
    host_id       UUID NOT NULL REFERENCES hosts (id),
    login_user    TEXT NOT NULL,
    uid           INT8 NOT NULL,                  -- and GID
    address       TEXT NOT NULL,                  -- IPv4, as text
    network       TEXT NOT NULL,
    ssh_keys      TEXT[] NOT NULL,                -- authorized_keys lines
    labels        JSONB NOT NULL,                 -- string to string
    state         TEXT NOT NULL CHECK (state IN ('allocating', 'allocated', 'allocation_failed', 'deallocating', 'deallocation_failed', 'deallocated', 'lost')),
    state_message TEXT NOT NULL DEFAULT '',       -- why it is failed
    created_by    TEXT NOT NULL,
    version       INT8 NOT NULL DEFAULT 1,        -- counts changes; the ETag
    keys_version  INT8 NOT NULL DEFAULT 1,        -- counts replacements of ssh_keys
    keys_applied  INT8 NOT NULL DEFAULT 0,        -- the keys_version that is on the host
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    ended_at      TIMESTAMPTZ,
    CHECK ((ended_at IS NULL) = (state NOT IN ('deallocated', 'lost')))
);

-- One live allocation a unit; one live login user a host.
CREATE UNIQUE INDEX IF NOT EXISTS allocations_live_unit ON allocations (unit_id) WHERE ended_at IS NULL;

CREATE UNIQUE INDEX IF NOT EXISTS allocations_live_login ON allocations (login_user, host_id) WHERE ended_at IS NULL;

CREATE INDEX IF NOT EXISTS allocations_newest ON allocations (workspace_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS allocations_of_host ON allocations (host_id, created_at DESC, id DESC);

-- UIDs that were ever given; a row stays for good, so that none is used again.
CREATE TABLE IF NOT EXISTS uids (
    uid           INT8 PRIMARY KEY,
    allocation_id UUID NOT NULL
);

-- Floating IPs.
CREATE TABLE IF NOT EXISTS addresses (
    id            UUID PRIMARY KEY,
    workspace_id  UUID NOT NULL REFERENCES workspaces (id),
    network       TEXT NOT NULL,
    address       TEXT NOT NULL UNIQUE,           -- IPv4, as text
    sort_key      INT8 NOT NULL,                  -- the address as a number, for ordering
    endpoint      TEXT NOT NULL DEFAULT '',       -- 'host:port' at which SSH reaches it from outside, where it sits behind NAT
    state         TEXT NOT NULL CHECK (state IN ('free', 'reserved', 'allocated', 'releasing', 'quarantined', 'unavailable')),
    allocation_id UUID,                           -- who has it
    shuffle       INT4 NOT NULL,                  -- random, new at each release: where placement begins to look
    version       INT8 NOT NULL DEFAULT 1,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK ((allocation_id IS NULL) = (state IN ('free', 'unavailable')))
);

CREATE INDEX IF NOT EXISTS addresses_free ON addresses (workspace_id, network, shuffle) WHERE state = 'free';

CREATE INDEX IF NOT EXISTS addresses_by_workspace ON addresses (workspace_id, network, sort_key, id);

CREATE UNIQUE INDEX IF NOT EXISTS addresses_of_allocation ON addresses (allocation_id) WHERE allocation_id IS NOT NULL;

-- +goose Down
SELECT 1;
