-- +goose NO TRANSACTION
-- +goose Up

-- Which scopes may take addresses of a network of another workspace for their hosts.
CREATE TABLE IF NOT EXISTS network_grants ( -- no noun: placement reads it in its transaction, no policy looks at grants
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,                    -- of the network
    network_id   UUID NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('organization', 'project', 'workspace')),
    scope_id     UUID NOT NULL,                    -- whose hosts may carry the network, with all that is in it
    addresses    INT8 CHECK (addresses > 0),       -- that it may have at once; NULL: the whole pool
    version      INT8 NOT NULL DEFAULT 1,
    created_by   TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    revoked_at   TIMESTAMPTZ                       -- no new address from then on; those in use stay until they are free
);

-- One grant that counts for a network and a scope.
CREATE UNIQUE INDEX IF NOT EXISTS network_grants_once ON network_grants (network_id, scope_id) WHERE revoked_at IS NULL;

CREATE INDEX IF NOT EXISTS network_grants_of_scope ON network_grants (scope_id, network_id) WHERE revoked_at IS NULL;

CREATE INDEX IF NOT EXISTS network_grants_of_workspace ON network_grants (workspace_id, created_at DESC, id DESC);

-- By which grant an address is with an allocation on a host of another workspace, until it is free again; NULL: by none.
ALTER TABLE addresses ADD COLUMN IF NOT EXISTS network_grant_id UUID;

CREATE INDEX IF NOT EXISTS addresses_of_network_grant ON addresses (network_grant_id) WHERE network_grant_id IS NOT NULL;

-- +goose Down
SELECT 1;
