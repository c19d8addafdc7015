-- +goose NO TRANSACTION
-- +goose Up

-- Which scopes may place allocations on a host of another workspace.
CREATE TABLE IF NOT EXISTS host_grants ( -- no noun: placement reads it in its transaction, no policy looks at grants
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,                    -- of the host
    host_id      UUID NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('organization', 'project', 'workspace')),
    scope_id     UUID NOT NULL,                    -- that may use the host, with all that is in it
    units        INT8 CHECK (units > 0),           -- allocations that it may have there at once; NULL: the whole host
    version      INT8 NOT NULL DEFAULT 1,
    created_by   TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    revoked_at   TIMESTAMPTZ                       -- no new allocation from then on; those that are there stay until they end
);

-- One grant that counts for a host and a scope.
CREATE UNIQUE INDEX IF NOT EXISTS host_grants_once ON host_grants (host_id, scope_id) WHERE revoked_at IS NULL;

CREATE INDEX IF NOT EXISTS host_grants_of_scope ON host_grants (scope_id, host_id) WHERE revoked_at IS NULL;

CREATE INDEX IF NOT EXISTS host_grants_of_workspace ON host_grants (workspace_id, created_at DESC, id DESC);

-- By which grant an allocation is on a host of another workspace; NULL: on one of its own.
ALTER TABLE allocations ADD COLUMN IF NOT EXISTS host_grant_id UUID;

CREATE INDEX IF NOT EXISTS allocations_of_host_grant ON allocations (host_grant_id) WHERE host_grant_id IS NOT NULL AND ended_at IS NULL;

-- +goose Down
SELECT 1;
