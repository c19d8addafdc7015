-- +goose NO TRANSACTION
-- +goose Up

-- How much a scope may have in use, and how much it has. A scope without a row has no limit, and nothing is counted for it.
CREATE TABLE IF NOT EXISTS quotas ( -- no noun: the policy of quotas looks at all of them
    scope      TEXT NOT NULL CHECK (scope IN ('organization', 'project', 'workspace')),
    scope_id   UUID NOT NULL,
    resource   TEXT NOT NULL CHECK (resource IN ('units', 'cpus', 'memory_bytes', 'addresses', 'hosts')),
    amount     INT8 NOT NULL CHECK (amount >= 0),     -- the most that may be in use
    used       INT8 NOT NULL DEFAULT 0,
    warned_at  TIMESTAMPTZ,                           -- when 80 % was told last
    full_at    TIMESTAMPTZ,                           -- when 100 % was told last
    version    INT8 NOT NULL DEFAULT 1,               -- counts changes of amount; the ETag
    updated_by TEXT NOT NULL,
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (scope_id, resource)
);

-- What was in use, from when to when: the ground of statements. One open row for each allocation that has not ended.
CREATE TABLE IF NOT EXISTS usage_records ( -- no noun: the ground of statements
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL,
    project_id      UUID NOT NULL,
    workspace_id    UUID NOT NULL,
    allocation_id   UUID NOT NULL,
    name            TEXT NOT NULL,                    -- unit and login user, as they were called
    cpus            INT8 NOT NULL,
    memory_bytes    INT8 NOT NULL,
    volume_bytes    INT8 NOT NULL,
    from_at         TIMESTAMPTZ NOT NULL DEFAULT now(),
    to_at           TIMESTAMPTZ,                      -- NULL: still in use
    CHECK (to_at IS NULL OR to_at >= from_at)
);

CREATE UNIQUE INDEX IF NOT EXISTS usage_records_open ON usage_records (allocation_id) WHERE to_at IS NULL;

CREATE INDEX IF NOT EXISTS usage_records_of_organization ON usage_records (organization_id, from_at);

-- +goose Down
SELECT 1;
