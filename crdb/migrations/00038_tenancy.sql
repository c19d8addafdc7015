-- +goose NO TRANSACTION
-- +goose Up

-- Organizations, projects and workspaces can be renamed, suspended and removed. A removed one stays as a row for the
-- history of what was in it; its name is free again, since a removal renames it.
ALTER TABLE organizations ADD COLUMN IF NOT EXISTS state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'removed'));

ALTER TABLE organizations ADD COLUMN IF NOT EXISTS version INT8 NOT NULL DEFAULT 1;

ALTER TABLE organizations ADD COLUMN IF NOT EXISTS updated_at TIMESTAMPTZ NOT NULL DEFAULT now();

ALTER TABLE projects ADD COLUMN IF NOT EXISTS state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'removed'));

ALTER TABLE projects ADD COLUMN IF NOT EXISTS version INT8 NOT NULL DEFAULT 1;

ALTER TABLE projects ADD COLUMN IF NOT EXISTS updated_at TIMESTAMPTZ NOT NULL DEFAULT now();

ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'suspended', 'removed'));

ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS version INT8 NOT NULL DEFAULT 1;

ALTER TABLE workspaces ADD COLUMN IF NOT EXISTS updated_at TIMESTAMPTZ NOT NULL DEFAULT now();

-- Roles that an organization made for itself; those of the product are in the program.
CREATE TABLE IF NOT EXISTS roles (
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id),
    name            TEXT NOT NULL,
    description     TEXT NOT NULL DEFAULT '',
    permissions     TEXT[] NOT NULL,               -- <scope>.<noun>:<verb>
    version         INT8 NOT NULL DEFAULT 1,       -- counts changes; the ETag
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (organization_id, name)
);

-- Accounts of people and of programs. 'account' is a role that may do nothing by itself: what it may do are its grants.
-- A release without grants refuses it everything.
ALTER TABLE accounts DROP CONSTRAINT IF EXISTS accounts_role_check;

ALTER TABLE accounts DROP CONSTRAINT IF EXISTS check_role;

ALTER TABLE accounts DROP CONSTRAINT IF EXISTS accounts_role_known;

ALTER TABLE accounts ADD CONSTRAINT accounts_role_known CHECK (role IN ('administrator', 'account'));

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS kind TEXT NOT NULL DEFAULT 'person' CHECK (kind IN ('person', 'service'));

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS organization_id UUID; -- of a service account; no foreign key, which would lock both tables

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS email TEXT NOT NULL DEFAULT '';

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS state TEXT NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'disabled'));

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS version INT8 NOT NULL DEFAULT 1;

ALTER TABLE accounts ADD COLUMN IF NOT EXISTS updated_at TIMESTAMPTZ NOT NULL DEFAULT now();

-- Who has which role where. It reaches everything below its scope.
CREATE TABLE IF NOT EXISTS grants (
    id         UUID PRIMARY KEY,
    account_id UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    role       TEXT NOT NULL,                      -- of the product; 'custom' for one of an organization
    role_id    UUID REFERENCES roles (id),         -- the organization's
    scope      TEXT NOT NULL CHECK (scope IN ('installation', 'organization', 'project', 'workspace')),
    scope_id   UUID NOT NULL,                      -- of the organization, project or workspace; zeros for the installation
    source     TEXT NOT NULL DEFAULT 'manual',     -- or 'idp:<id>': what a provider gave, it also takes away
    created_by TEXT NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK ((role = 'custom') = (role_id IS NOT NULL))
);

CREATE UNIQUE INDEX IF NOT EXISTS grants_one ON grants (account_id, scope, scope_id, role, source) WHERE role_id IS NULL;

CREATE UNIQUE INDEX IF NOT EXISTS grants_one_custom ON grants (account_id, scope, scope_id, role_id, source) WHERE role_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS grants_of_scope ON grants (scope_id, account_id, id);

CREATE INDEX IF NOT EXISTS grants_of_role ON grants (role_id) WHERE role_id IS NOT NULL;

-- Who was administrator operates the installation and owns the organization that everything is in.
INSERT INTO grants (id, account_id, role, scope, scope_id, created_by)
SELECT gen_random_uuid(), a.id, 'installation_operator', 'installation', '00000000-0000-0000-0000-000000000000', 'migration'
  FROM accounts a
 WHERE a.role = 'administrator'
ON CONFLICT DO NOTHING;

INSERT INTO grants (id, account_id, role, scope, scope_id, created_by)
SELECT gen_random_uuid(), a.id, 'owner', 'organization', '00000000-0000-4000-8000-000000000001', 'migration'
  FROM accounts a
 WHERE a.role = 'administrator'
ON CONFLICT DO NOTHING;

-- A token reaches as far as its account, or less far. NULL: as far.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS permissions TEXT[];

ALTER TABLE tokens ADD COLUMN IF NOT EXISTS scope TEXT CHECK (scope IN ('organization', 'project', 'workspace'));

ALTER TABLE tokens ADD COLUMN IF NOT EXISTS scope_id UUID;

-- Events say in which organization and project they happened; zeros as workspace where it was in none.
ALTER TABLE events ADD COLUMN IF NOT EXISTS organization_id UUID;

ALTER TABLE events ADD COLUMN IF NOT EXISTS project_id UUID;

CREATE INDEX IF NOT EXISTS events_of_organization ON events (organization_id, at DESC, id DESC) WHERE organization_id IS NOT NULL;

-- Names of hosts and units are unique in their workspace. The installation-wide keys go at once: only a backend of this
-- release makes a second workspace, so the names that an older one writes are all in the same.
CREATE UNIQUE INDEX IF NOT EXISTS hosts_live_name_in_workspace ON hosts (workspace_id, name) WHERE removed_at IS NULL;

CREATE UNIQUE INDEX IF NOT EXISTS compute_units_live_name_in_workspace ON compute_units (workspace_id, name) WHERE state <> 'removed';

DROP INDEX IF EXISTS hosts_live_name;

DROP INDEX IF EXISTS compute_units_live_name;

-- +goose Down
SELECT 1;
