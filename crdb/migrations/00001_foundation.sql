-- +goose NO TRANSACTION
-- +goose Up

-- What the schema says of itself, and the sealed canary that proves a keyset.
CREATE TABLE IF NOT EXISTS settings (
    name  TEXT PRIMARY KEY, -- 'oldest_backend_allowed', 'keyset_canary', ...
    value BYTEA NOT NULL    -- text, or a sealed value, by name
);

-- The scopes. A default of each exists from the start.
CREATE TABLE IF NOT EXISTS organizations (
    id         UUID PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,              -- unique in the installation
    created_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS projects (
    id              UUID PRIMARY KEY,
    organization_id UUID NOT NULL REFERENCES organizations (id),
    name            TEXT NOT NULL,                -- unique in its organization
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (organization_id, name)
);

CREATE TABLE IF NOT EXISTS workspaces (
    id         UUID PRIMARY KEY,
    project_id UUID NOT NULL REFERENCES projects (id),
    name       TEXT NOT NULL,                     -- unique in its project
    type       TEXT NOT NULL DEFAULT 'bare_metal' CHECK (type IN ('bare_metal', 'kubernetes')),
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (project_id, name)
);

-- The key pair with which an organization's hosts are reached.
CREATE TABLE IF NOT EXISTS organization_keys (
    organization_id UUID PRIMARY KEY REFERENCES organizations (id),
    public_key      TEXT NOT NULL,                -- one authorized_keys line
    private_sealed  BYTEA NOT NULL,               -- OpenSSH PEM, sealed with the organization's id as associated data
    created_at      TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Who may do what.
CREATE TABLE IF NOT EXISTS accounts (
    id            UUID PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,                  -- argon2id, encoded
    role          TEXT NOT NULL CHECK (role IN ('administrator')),
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- A login, or a token that was made for a program; both are bearers.
CREATE TABLE IF NOT EXISTS tokens (
    id           UUID PRIMARY KEY,
    kind         TEXT NOT NULL CHECK (kind IN ('session', 'api')),
    account_id   UUID NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,                   -- given by a person; the client's address for a session
    prefix       TEXT NOT NULL,                   -- first characters, to recognise it by
    hash         BYTEA NOT NULL UNIQUE,           -- SHA-256 of the secret, which is 256 random bits
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    expires_at   TIMESTAMPTZ NOT NULL,
    last_used_at TIMESTAMPTZ                      -- to within a minute
);

CREATE INDEX IF NOT EXISTS tokens_of_account ON tokens (account_id, kind, id);

CREATE INDEX IF NOT EXISTS tokens_by_expiry ON tokens (expires_at);

-- What a POST with an Idempotency-Key made. The row is written in the
-- transaction of what it made, so it is there if and only if that is; the
-- answer to a repetition is built from the object and the job.
CREATE TABLE IF NOT EXISTS idempotency_keys (
    account_id   UUID NOT NULL,
    key          TEXT NOT NULL,
    request_hash BYTEA NOT NULL,                  -- SHA-256 of method, path and body
    object_kind  TEXT NOT NULL DEFAULT '',        -- 'host', 'allocation', ...
    object_id    UUID,                            -- what was made or changed
    job_id       UUID,                            -- the job that it made; NULL if none
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (account_id, key)
);

CREATE INDEX IF NOT EXISTS idempotency_keys_by_age ON idempotency_keys (created_at);

-- The audit trail; rows are only ever added.
CREATE TABLE IF NOT EXISTS events (
    id            UUID PRIMARY KEY,
    at            TIMESTAMPTZ NOT NULL DEFAULT now(),
    workspace_id  UUID NOT NULL,
    actor_kind    TEXT NOT NULL CHECK (actor_kind IN ('account', 'backend', 'policy', 'init')),
    actor_id      UUID,                           -- of the account
    actor_name    TEXT NOT NULL,
    client        TEXT NOT NULL DEFAULT '',       -- address of the client
    request_id    TEXT NOT NULL DEFAULT '',
    action        TEXT NOT NULL,                  -- 'host.register', 'allocation.create', ...
    object_kind   TEXT NOT NULL,                  -- 'host', 'unit', 'allocation', ...
    object_id     UUID,
    object_name   TEXT NOT NULL DEFAULT '',
    job_id        UUID,                           -- the job that it made, or that caused it
    state_before  JSONB,                          -- the fields that changed, before
    state_after   JSONB                           -- the fields that changed, after
);

CREATE INDEX IF NOT EXISTS events_newest ON events (workspace_id, at DESC, id DESC);

CREATE INDEX IF NOT EXISTS events_of_object ON events (object_id, at DESC, id DESC);

-- The backends, as an operator sees them.
CREATE TABLE IF NOT EXISTS backends (
    id         UUID PRIMARY KEY,                  -- of one process, made at its start
    name       TEXT NOT NULL,                     -- host name and process id
    version    TEXT NOT NULL,
    roles      TEXT NOT NULL,                     -- comma-separated
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    seen_at    TIMESTAMPTZ NOT NULL DEFAULT now() -- renewed every 10 s
);

-- +goose Down
SELECT 1;
