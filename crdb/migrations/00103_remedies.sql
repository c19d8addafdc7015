-- +goose NO TRANSACTION
-- +goose Up

-- What is done by itself about a condition that is false, beside what channels tell people.
CREATE TABLE IF NOT EXISTS remedies ( -- noun: remedy
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    name         TEXT NOT NULL,
    noun         TEXT NOT NULL,                  -- of the objects: 'host', 'dns_zone'
    condition    TEXT NOT NULL,                  -- type of the condition
    job          TEXT NOT NULL,                  -- kind of the job that is asked for
    wait_seconds INT8 NOT NULL,                  -- for which the condition is false before, and between two jobs
    per_day      INT8 NOT NULL,                  -- jobs about one object within 24 hours
    at_once      INT8 NOT NULL,                  -- jobs of the remedy that have not ended
    enabled      BOOL NOT NULL,
    version      INT8 NOT NULL DEFAULT 1,        -- counts changes; the ETag
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (workspace_id, name)
);

-- Each time that a remedy was tried. A row is written before its job is asked for, so that a backend that dies counts.
CREATE TABLE IF NOT EXISTS remedy_runs ( -- no noun: the record of what its policy did
    id          UUID PRIMARY KEY,
    remedy_id   UUID NOT NULL,
    object_id   UUID NOT NULL,
    object_name TEXT NOT NULL,
    reason      TEXT NOT NULL,                   -- of the condition, as it was
    at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    outcome     TEXT NOT NULL CHECK (outcome IN ('asking', 'asked', 'refused')),
    job_id      UUID,
    message     TEXT NOT NULL DEFAULT ''         -- why the job was refused
);

CREATE INDEX IF NOT EXISTS remedy_runs_of_remedy ON remedy_runs (remedy_id, object_id, at DESC);

CREATE INDEX IF NOT EXISTS remedy_runs_by_age ON remedy_runs (at);

-- +goose Down
SELECT 1;
