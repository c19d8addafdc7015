-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS jobs (
    id                  UUID PRIMARY KEY,
    workspace_id        UUID NOT NULL REFERENCES workspaces (id),
    kind                TEXT NOT NULL,
    args                JSONB NOT NULL,           -- of its kind; ids only
    host_id             UUID,                     -- what it is about
    unit_id             UUID,
    allocation_id       UUID,
    state               TEXT NOT NULL CHECK (state IN ('queued', 'running', 'cancelling', 'succeeded', 'failed', 'cancelled')),
    priority            INT4 NOT NULL,            -- higher goes first
    run_after           TIMESTAMPTZ NOT NULL DEFAULT now(), -- a queued job is not claimed before
    deadline_at         TIMESTAMPTZ NOT NULL,     -- no attempt begins after
    attempt             INT4 NOT NULL DEFAULT 0,  -- grows with each claim; fences the worker's writes
    failures            INT4 NOT NULL DEFAULT 0,  -- attempts that failed since it was last asked for
    max_attempts        INT4 NOT NULL CHECK (max_attempts > 0),
    worker_id           UUID,                     -- the backend that runs it, or that ended it
    lease_expires_at    TIMESTAMPTZ,              -- by the database's clock
    playbook_version_id UUID REFERENCES playbook_versions (id), -- bound when it was asked for
    requested_by        TEXT NOT NULL,
    error               JSONB,                    -- domain.JobError of the last attempt that failed
    outcome             TEXT NOT NULL DEFAULT '', -- a sentence on what came of it
    created_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    started_at          TIMESTAMPTZ,              -- of the first attempt
    finished_at         TIMESTAMPTZ,
    CHECK ((state IN ('running', 'cancelling')) = (lease_expires_at IS NOT NULL)),
    CHECK (state NOT IN ('running', 'cancelling') OR worker_id IS NOT NULL),
    CHECK ((state IN ('succeeded', 'failed', 'cancelled')) = (finished_at IS NOT NULL)),
    CHECK (state <> 'failed' OR error IS NOT NULL)
);

-- Claims: by priority, then age.
CREATE INDEX IF NOT EXISTS jobs_claimable ON jobs (priority DESC, run_after, id) WHERE state = 'queued';

CREATE INDEX IF NOT EXISTS jobs_leased ON jobs (lease_expires_at) WHERE lease_expires_at IS NOT NULL;

CREATE INDEX IF NOT EXISTS jobs_newest ON jobs (workspace_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS jobs_of_host ON jobs (host_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS jobs_of_unit ON jobs (unit_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS jobs_of_allocation ON jobs (allocation_id, created_at DESC, id DESC);

CREATE TABLE IF NOT EXISTS job_steps (
    job_id      UUID NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    position    INT4 NOT NULL,                    -- from 0
    name        TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('pending', 'running', 'succeeded', 'failed')),
    attempt     INT4 NOT NULL DEFAULT 0,          -- of the job, that last ran it
    started_at  TIMESTAMPTZ,
    finished_at TIMESTAMPTZ,
    PRIMARY KEY (job_id, position)
);

-- What Ansible told, in chunks: a row for each batch, not for each line.
CREATE TABLE IF NOT EXISTS job_log (
    job_id     UUID NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    first_seq  INT8 NOT NULL,                     -- sequence of its first entry in the job, from 1
    last_seq   INT8 NOT NULL,
    attempt    INT4 NOT NULL,
    entries    BYTEA NOT NULL,                    -- JSON lines, one an entry, compressed with zstd
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (job_id, first_seq),
    CHECK (last_seq >= first_seq)
);

-- +goose Down
SELECT 1;
