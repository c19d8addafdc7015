-- +goose NO TRANSACTION
-- +goose Up

-- Who proves for an organization, or for the installation, who somebody is.
CREATE TABLE IF NOT EXISTS identity_providers ( -- no noun: no policy looks at it
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL,                -- zeros for the installation
    name            TEXT NOT NULL,
    issuer          TEXT NOT NULL,                -- URL, as the provider writes it in its tokens
    client_id       TEXT NOT NULL,
    secret_sealed   BYTEA,                        -- of the client, sealed with 'identity_providers/<id>'; NULL for a client without
    scopes          TEXT[] NOT NULL,              -- that are asked for besides openid
    groups_claim    TEXT NOT NULL,                -- name of the claim with the groups of a person
    state           TEXT NOT NULL CHECK (state IN ('enabled', 'disabled')),
    failed_at       TIMESTAMPTZ,                  -- when the last login failed because of the provider; NULL since one succeeded
    failure         TEXT NOT NULL DEFAULT '',     -- why, in a sentence
    version         INT8 NOT NULL DEFAULT 1,      -- counts changes; the ETag
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (organization_id, name)
);

-- Who is in the group has the role at the scope.
CREATE TABLE IF NOT EXISTS group_mappings ( -- no noun: no policy looks at it
    id              UUID PRIMARY KEY,
    provider_id     UUID NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
    group_name      TEXT NOT NULL,                -- as the provider tells it
    role            TEXT NOT NULL,                -- of the product; 'custom' for one of an organization
    role_id         UUID REFERENCES roles (id),   -- the organization's
    scope           TEXT NOT NULL CHECK (scope IN ('installation', 'organization', 'project', 'workspace')),
    scope_id        UUID NOT NULL,                -- of the organization, project or workspace; zeros for the installation
    created_by      TEXT NOT NULL,
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK ((role = 'custom') = (role_id IS NOT NULL))
);

CREATE UNIQUE INDEX IF NOT EXISTS group_mappings_one ON group_mappings (provider_id, group_name, scope_id, role) WHERE role_id IS NULL;

CREATE UNIQUE INDEX IF NOT EXISTS group_mappings_one_custom ON group_mappings (provider_id, group_name, scope_id, role_id) WHERE role_id IS NOT NULL;

CREATE INDEX IF NOT EXISTS group_mappings_of_scope ON group_mappings (scope_id, id);

CREATE INDEX IF NOT EXISTS group_mappings_of_role ON group_mappings (role_id) WHERE role_id IS NOT NULL;

-- Issuer and subject stand for an account, for this provider only.
CREATE TABLE IF NOT EXISTS identities ( -- no noun: no policy looks at it
    id            UUID PRIMARY KEY,
    account_id    UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    provider_id   UUID NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
    issuer        TEXT NOT NULL,
    subject       TEXT NOT NULL,
    label         TEXT NOT NULL DEFAULT '',       -- what the provider calls the person; for people to read
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    last_login_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (provider_id, issuer, subject)
);

CREATE INDEX IF NOT EXISTS identities_of_account ON identities (account_id, created_at, id);

-- A login that was begun and whose browser is at the provider. Each is used once, and is deleted then or after its end.
CREATE TABLE IF NOT EXISTS identity_logins ( -- no noun: rows live for minutes
    id           UUID PRIMARY KEY,
    provider_id  UUID NOT NULL REFERENCES identity_providers (id) ON DELETE CASCADE,
    account_id   UUID,                            -- that the identity is to be linked to; NULL for a login
    state_hash   BYTEA NOT NULL UNIQUE,           -- SHA-256 of the state, which is 256 random bits
    browser_hash BYTEA NOT NULL,                  -- SHA-256 of what the browser has in a cookie
    sealed       BYTEA NOT NULL,                  -- nonce and PKCE verifier, sealed with 'identity_logins/<id>'
    return_to    TEXT NOT NULL,                   -- path of the page to go to
    address      TEXT NOT NULL,                   -- of the client
    expires_at   TIMESTAMPTZ NOT NULL
);

CREATE INDEX IF NOT EXISTS identity_logins_by_end ON identity_logins (expires_at);

CREATE INDEX IF NOT EXISTS identity_logins_of_address ON identity_logins (address);

-- +goose Down
SELECT 1;
