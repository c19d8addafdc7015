-- +goose NO TRANSACTION
-- +goose Up

-- What an action would change, checked before it is asked for.
CREATE TABLE IF NOT EXISTS plans (
    id                  UUID PRIMARY KEY,
    workspace_id        UUID NOT NULL REFERENCES workspaces (id),
    kind                TEXT NOT NULL,            -- of the job that the action makes: 'host_initialize', ...
    action              TEXT NOT NULL,            -- the action's operation in the API: 'initialize-host', ...
    request             JSONB NOT NULL,           -- the action's body; {} where it has none
    host_id             UUID NOT NULL REFERENCES hosts (id), -- where it is checked
    unit_id             UUID,                     -- what else it is about
    allocation_id       UUID,                     -- for a new allocation: the id that it would get
    proposal            JSONB,                    -- store.Proposal: the allocation as it would be; NULL where it is as its row says
    state               TEXT NOT NULL CHECK (state IN ('checking', 'ready', 'failed', 'applied')),
    job_id              UUID NOT NULL,            -- that checks it
    applied_job_id      UUID,                     -- that is bound to it
    playbook_version_id UUID NOT NULL REFERENCES playbook_versions (id),
    playbook_sha256     TEXT NOT NULL,            -- hex, of the version
    variables_sha256    TEXT NOT NULL DEFAULT '', -- hex, of what its plays were given; '' before the check
    rows_sha256         TEXT NOT NULL DEFAULT '', -- hex, of the rows that the plays depend on; '' before the check
    report_sha256       TEXT NOT NULL DEFAULT '', -- hex, of result; '' before the check
    counts              JSONB,                    -- domain.PlanCounts; NULL before the check
    result              JSONB,                    -- domain.PlanResult; NULL before the check
    requested_by        TEXT NOT NULL,
    created_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
    checked_at          TIMESTAMPTZ,              -- when the check ended well
    expires_at          TIMESTAMPTZ NOT NULL,     -- cannot be applied from then on
    CHECK (state NOT IN ('ready', 'applied') OR (result IS NOT NULL AND counts IS NOT NULL AND checked_at IS NOT NULL)),
    CHECK (state NOT IN ('ready', 'applied') OR (variables_sha256 <> '' AND rows_sha256 <> '' AND report_sha256 <> '')),
    CHECK ((state = 'applied') = (applied_job_id IS NOT NULL))
);

CREATE INDEX IF NOT EXISTS plans_newest ON plans (workspace_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS plans_of_host ON plans (host_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS plans_of_allocation ON plans (allocation_id, created_at DESC, id DESC);

CREATE INDEX IF NOT EXISTS plans_unapplied ON plans (expires_at) WHERE applied_job_id IS NULL;

ALTER TABLE jobs ADD COLUMN IF NOT EXISTS plan_id UUID; -- the plan that a job of kind 'plan' makes, or that another one is bound to

-- +goose Down
SELECT 1;
