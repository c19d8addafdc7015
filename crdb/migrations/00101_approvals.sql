-- +goose NO TRANSACTION
-- +goose Up

-- How many people have to approve plans of a scope and of all that is in it.
CREATE TABLE IF NOT EXISTS approval_rules ( -- no noun: no policy looks at rules
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL,
    scope           TEXT NOT NULL CHECK (scope IN ('organization', 'project', 'workspace')),
    scope_id        UUID NOT NULL,                 -- of the organization, project or workspace
    name            TEXT NOT NULL,
    kinds           TEXT[] NOT NULL,               -- of the jobs whose plans it asks for: 'host_decommission', ...
    approvals       INT8 NOT NULL CHECK (approvals BETWEEN 1 AND 5),
    hours           INT8 NOT NULL CHECK (hours BETWEEN 1 AND 168), -- from the check of a plan until it can't be approved or applied any more
    version         INT8 NOT NULL DEFAULT 1,
    created_by      TEXT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (organization_id, name)
);

CREATE INDEX IF NOT EXISTS approval_rules_of_scope ON approval_rules (scope_id);

-- What people decided about a plan. One that refused never approves the same plan again.
CREATE TABLE IF NOT EXISTS plan_decisions ( -- no noun: a part of their plan
    plan_id    UUID NOT NULL REFERENCES plans (id) ON DELETE CASCADE,
    account_id UUID NOT NULL,
    decision   TEXT NOT NULL CHECK (decision IN ('approve', 'refuse')),
    reason     TEXT NOT NULL DEFAULT '',           -- as the person wrote it
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (plan_id, account_id)
);

-- The account that asked for the plan; of a service account, also those that made its keys: none of them approves it.
-- Zeros stand for the unknown maker of a key. NULL: made by an older backend.
ALTER TABLE plans ADD COLUMN IF NOT EXISTS asked_by UUID[];

-- When an event told that the plan expired without the approvals that it needed.
ALTER TABLE plans ADD COLUMN IF NOT EXISTS lapsed_at TIMESTAMPTZ;

-- The account that made the secret of a key; NULL: not a key of a service account, or made by an older backend.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS maker_id UUID;

-- +goose Down
SELECT 1;
