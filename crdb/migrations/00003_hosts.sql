-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS hosts (
    id                  UUID PRIMARY KEY,
    workspace_id        UUID NOT NULL REFERENCES workspaces (id),
    organization_id     UUID NOT NULL REFERENCES organizations (id), -- whose key reaches it
    name                TEXT NOT NULL,
    address             TEXT NOT NULL,            -- IP address or DNS name
    port                INT4 NOT NULL CHECK (port BETWEEN 1 AND 65535),
    admin_user          TEXT NOT NULL,            -- SSH user with passwordless sudo
    region              TEXT NOT NULL DEFAULT '',
    zone                TEXT NOT NULL DEFAULT '',
    networks            TEXT[] NOT NULL,          -- whose addresses it can carry
    labels              JSONB NOT NULL,           -- string to string
    profile             TEXT NOT NULL CHECK (profile IN ('minimal', 'standard', 'build')),
    purpose             TEXT NOT NULL DEFAULT 'units' CHECK (purpose IN ('units', 'kubernetes')),
    trust_on_first_use  BOOL NOT NULL,            -- take the host key that the first probe sees
    host_key            TEXT NOT NULL DEFAULT '', -- confirmed; 'type base64'
    offered_host_key    TEXT NOT NULL DEFAULT '', -- seen, and waiting for a person
    state               TEXT NOT NULL CHECK (state IN ('registered', 'probing', 'awaiting_host_key', 'probed', 'initializing', 'init_failed', 'ready', 'draining', 'decommissioning', 'decommission_failed', 'decommissioned', 'lost')),
    health              TEXT NOT NULL DEFAULT 'unknown' CHECK (health IN ('unknown', 'healthy', 'degraded', 'unreachable')),
    health_message      TEXT NOT NULL DEFAULT '',
    health_at           TIMESTAMPTZ,
    machine_id          TEXT,                     -- read by the probe; NULL before
    facts               JSONB,                    -- domain.Facts; NULL before the first probe
    facts_at            TIMESTAMPTZ,
    layout              JSONB,                    -- domain.Layout; NULL before it is set
    next_ordinal        INT4 NOT NULL DEFAULT 1,  -- of the next unit; never falls once a unit reached the host
    incarnation         UUID NOT NULL,            -- with the fence number, the token of who may change the host
    fenced              BOOL NOT NULL DEFAULT false, -- the fence of this incarnation was put on the host
    version             INT8 NOT NULL DEFAULT 1,  -- counts changes; the ETag
    created_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    removed_at          TIMESTAMPTZ,              -- taken out of every list; kept for the history
    CHECK (state IN ('registered', 'probing', 'awaiting_host_key', 'lost') OR host_key <> ''),
    CHECK (state IN ('registered', 'probing', 'awaiting_host_key', 'lost') OR facts IS NOT NULL),
    CHECK (state NOT IN ('initializing', 'init_failed', 'ready', 'draining', 'decommissioning', 'decommission_failed') OR layout IS NOT NULL),
    CHECK (state <> 'awaiting_host_key' OR offered_host_key <> '' OR host_key <> ''),
    CHECK (removed_at IS NULL OR state IN ('registered', 'awaiting_host_key', 'probed', 'decommissioned', 'lost'))
);

CREATE UNIQUE INDEX IF NOT EXISTS hosts_live_name ON hosts (name) WHERE removed_at IS NULL;

-- One live host a machine.
CREATE UNIQUE INDEX IF NOT EXISTS hosts_live_machine ON hosts (machine_id) WHERE removed_at IS NULL AND machine_id IS NOT NULL AND state NOT IN ('lost', 'decommissioned');

CREATE INDEX IF NOT EXISTS hosts_by_workspace ON hosts (workspace_id, name, id);

-- Who holds a host, per step of a job. The number grows with each holder and
-- is the second half of the fence's token.
CREATE TABLE IF NOT EXISTS host_locks (
    host_id  UUID PRIMARY KEY REFERENCES hosts (id),
    number   INT8 NOT NULL DEFAULT 0,
    job_id   UUID,                                -- NULL when nobody holds it
    attempt  INT4 NOT NULL DEFAULT 0,             -- of the job
    taken_at TIMESTAMPTZ
);

CREATE TABLE IF NOT EXISTS compute_units (
    id                UUID PRIMARY KEY,
    workspace_id      UUID NOT NULL REFERENCES workspaces (id),
    host_id           UUID NOT NULL REFERENCES hosts (id),
    ordinal           INT4 NOT NULL CHECK (ordinal > 0),
    name              TEXT NOT NULL,
    state             TEXT NOT NULL CHECK (state IN ('preparing', 'preparation_failed', 'free', 'allocating', 'allocated', 'allocation_failed', 'deallocating', 'deallocation_failed', 'unavailable', 'removing', 'removed')),
    cpus              TEXT NOT NULL,              -- list form, '1-3'
    cpu_count         INT4 NOT NULL CHECK (cpu_count > 0),
    memory_nodes      TEXT NOT NULL,              -- NUMA nodes of its CPUs, list form
    memory_max_bytes  INT8 NOT NULL CHECK (memory_max_bytes > 0),
    memory_high_bytes INT8 NOT NULL CHECK (memory_high_bytes > 0 AND memory_high_bytes < memory_max_bytes),
    volume_bytes      INT8 NOT NULL CHECK (volume_bytes > 0),
    tasks_max         INT4 NOT NULL CHECK (tasks_max > 0),
    shuffle           INT4 NOT NULL,              -- random, new at each release: where placement begins to look
    state_message     TEXT NOT NULL DEFAULT '',   -- why it is failed or unavailable
    wipe              JSONB,                      -- evidence of the last wipe
    wiped_at          TIMESTAMPTZ,
    version           INT8 NOT NULL DEFAULT 1,    -- counts changes; the ETag
    created_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (host_id, ordinal)
);

CREATE UNIQUE INDEX IF NOT EXISTS compute_units_live_name ON compute_units (name) WHERE state <> 'removed';

-- Placement: the smallest free unit that is large enough, from a random start.
CREATE INDEX IF NOT EXISTS compute_units_free ON compute_units (workspace_id, cpu_count, shuffle) WHERE state = 'free';

CREATE INDEX IF NOT EXISTS compute_units_by_workspace ON compute_units (workspace_id, name, id);

CREATE INDEX IF NOT EXISTS compute_units_by_state ON compute_units (workspace_id, state, name, id);

-- A CPU of a host belongs to one unit at most.
CREATE TABLE IF NOT EXISTS unit_cpus (
    host_id UUID NOT NULL REFERENCES hosts (id),
    cpu     INT4 NOT NULL,
    unit_id UUID NOT NULL REFERENCES compute_units (id),
    PRIMARY KEY (host_id, cpu)
);

CREATE INDEX IF NOT EXISTS unit_cpus_of_unit ON unit_cpus (unit_id);

-- +goose Down
SELECT 1;
