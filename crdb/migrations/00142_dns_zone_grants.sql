-- +goose NO TRANSACTION
-- +goose Up

-- Which scopes may have names in a zone of another workspace.
CREATE TABLE IF NOT EXISTS dns_zone_grants ( -- no noun: intents read it in their transactions, no policy looks at grants
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,                    -- of the zone
    zone_id      UUID NOT NULL,
    scope        TEXT NOT NULL CHECK (scope IN ('organization', 'project', 'workspace')),
    scope_id     UUID NOT NULL,                    -- that may use the zone, with all that is in it
    suffix       TEXT NOT NULL,                    -- canonical: names are this one or end with it; the zone's name for all
    version      INT8 NOT NULL DEFAULT 1,
    created_by   TEXT NOT NULL,
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    revoked_at   TIMESTAMPTZ                       -- no new name from then on; those that are there stay until they are deleted
);

-- One grant that counts for a zone and a scope.
CREATE UNIQUE INDEX IF NOT EXISTS dns_zone_grants_once ON dns_zone_grants (zone_id, scope_id) WHERE revoked_at IS NULL;

CREATE INDEX IF NOT EXISTS dns_zone_grants_of_scope ON dns_zone_grants (scope_id, zone_id);

CREATE INDEX IF NOT EXISTS dns_zone_grants_of_workspace ON dns_zone_grants (workspace_id, created_at DESC, id DESC);

-- By which grant a record set is in a zone of another workspace; NULL: in one of its own.
ALTER TABLE dns_record_sets ADD COLUMN IF NOT EXISTS zone_grant_id UUID;

CREATE INDEX IF NOT EXISTS dns_record_sets_of_zone_grant ON dns_record_sets (zone_grant_id, workspace_id) WHERE zone_grant_id IS NOT NULL;

-- Workspaces whose allocations have names in a zone of another workspace, and the grant by which they do.
CREATE TABLE IF NOT EXISTS dns_naming_choices ( -- no noun: a setting of a workspace, which the policy of allocations reads
    workspace_id  UUID PRIMARY KEY,
    zone_grant_id UUID NOT NULL,
    created_by    TEXT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS dns_naming_choices_of_grant ON dns_naming_choices (zone_grant_id);

-- +goose Down
SELECT 1;
