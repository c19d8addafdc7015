-- +goose NO TRANSACTION
-- +goose Up

-- A link with which a person sets the password of an account once. A new one ends the one before.
CREATE TABLE IF NOT EXISTS account_links (
    account_id UUID PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL UNIQUE,              -- SHA-256 of the secret, which is 256 random bits
    expires_at TIMESTAMPTZ NOT NULL,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- A role that waits for somebody to accept it. Accepted and withdrawn ones are deleted; the events stay.
CREATE TABLE IF NOT EXISTS invitations (
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL,                 -- no foreign key: the one to roles locks enough of what is in use
    scope           TEXT NOT NULL CHECK (scope IN ('organization', 'project', 'workspace')),
    scope_id        UUID NOT NULL,                 -- of the organization, project or workspace
    role            TEXT NOT NULL,                 -- of the product; 'custom' for one of the organization
    role_id         UUID REFERENCES roles (id),    -- the organization's
    email           TEXT NOT NULL DEFAULT '',      -- whom it is for; told to nobody but the organization
    hash            BYTEA NOT NULL UNIQUE,         -- SHA-256 of the secret, which is 256 random bits
    expires_at      TIMESTAMPTZ NOT NULL,
    created_by      TEXT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK ((role = 'custom') = (role_id IS NOT NULL))
);

CREATE INDEX IF NOT EXISTS invitations_of_organization ON invitations (organization_id, created_at, id);

CREATE INDEX IF NOT EXISTS invitations_of_role ON invitations (role_id) WHERE role_id IS NOT NULL;

-- The secret that a key had before it was rotated. It stands for the same account with the same limits until it expires,
-- and ends with the key.
ALTER TABLE tokens ADD COLUMN IF NOT EXISTS key_id UUID REFERENCES tokens (id) ON DELETE CASCADE;

CREATE INDEX IF NOT EXISTS tokens_of_key ON tokens (key_id) WHERE key_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS accounts_of_organization ON accounts (organization_id, name, id) WHERE organization_id IS NOT NULL;

-- +goose Down
SELECT 1;
