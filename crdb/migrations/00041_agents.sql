-- +goose NO TRANSACTION
-- +goose Up

-- Agents on hosts: one row for each key that was enrolled. Without foreign keys to tables that are in use; no backend removes
-- a host's row.
CREATE TABLE IF NOT EXISTS agents (
    id            UUID PRIMARY KEY,
    workspace_id  UUID NOT NULL,                  -- of its host
    host_id       UUID NOT NULL,
    incarnation   UUID NOT NULL,                  -- of the host when it was enrolled
    public_key    BYTEA NOT NULL UNIQUE,          -- Ed25519; its private half never leaves the host
    machine_id    TEXT NOT NULL,                  -- /etc/machine-id of the machine that enrolled it
    state         TEXT NOT NULL CHECK (state IN ('enrolled', 'replaced', 'quarantined', 'revoked')),
    state_message TEXT NOT NULL DEFAULT '',       -- why it is in this state
    version       INT8 NOT NULL DEFAULT 1,        -- counts changes; the ETag
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- One agent speaks for a host.
CREATE UNIQUE INDEX IF NOT EXISTS agents_enrolled ON agents (host_id) WHERE state = 'enrolled';

CREATE INDEX IF NOT EXISTS agents_of_host ON agents (host_id, id);
CREATE INDEX IF NOT EXISTS agents_of_machine ON agents (machine_id);
CREATE INDEX IF NOT EXISTS agents_by_workspace ON agents (workspace_id, id);
CREATE INDEX IF NOT EXISTS agents_by_state ON agents (workspace_id, state, id);

-- Backends forget the credentials of agents that changed.
CREATE INDEX IF NOT EXISTS agents_changed ON agents (updated_at);

-- Enrolment tokens. Each is good for one key on one host, for minutes.
CREATE TABLE IF NOT EXISTS agent_tokens (
    id           UUID PRIMARY KEY,
    hash         BYTEA NOT NULL UNIQUE,           -- SHA-256 of the token
    workspace_id UUID NOT NULL,
    host_id      UUID NOT NULL,
    incarnation  UUID NOT NULL,                   -- of the host; another one makes the token worthless
    expires_at   TIMESTAMPTZ NOT NULL,
    agent_id     UUID,                            -- that used it; NULL before
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS agent_tokens_expire ON agent_tokens (expires_at);

-- Credentials of enrolled agents, and what protects their renewal. An agent in another state has no row.
CREATE TABLE IF NOT EXISTS agent_credentials (
    agent_id         UUID PRIMARY KEY REFERENCES agents (id),
    hash             BYTEA NOT NULL,              -- SHA-256 of the credential
    expires_at       TIMESTAMPTZ NOT NULL,
    challenged_at    TIMESTAMPTZ NOT NULL,        -- when the challenge was made that the last renewal answered
    boot_id          TEXT NOT NULL,               -- of the machine at the last renewal
    previous_boot_id TEXT NOT NULL DEFAULT '',    -- the one before: it never comes back on the same machine
    renewed_at       TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Liveness of enrolled agents. It is no noun: its writes come often and wake no policy.
CREATE TABLE IF NOT EXISTS agent_liveness (
    agent_id    UUID PRIMARY KEY REFERENCES agents (id),
    host_id     UUID NOT NULL,
    received_at TIMESTAMPTZ NOT NULL DEFAULT now(), -- of the last heartbeat, by the clock of the database
    seq         INT8 NOT NULL DEFAULT 0,          -- of that heartbeat; begins again with each credential
    lost_at     TIMESTAMPTZ,                      -- since when its host is unreachable; NULL if it is not
    told        BOOL NOT NULL DEFAULT false       -- an event told of the loss
);

-- What is overdue, and what was lost.
CREATE INDEX IF NOT EXISTS agent_liveness_received ON agent_liveness (received_at) WHERE lost_at IS NULL;
CREATE INDEX IF NOT EXISTS agent_liveness_lost ON agent_liveness (lost_at) WHERE lost_at IS NOT NULL;

-- The last report of each enrolled agent, written when it says something new, and once a minute.
CREATE TABLE IF NOT EXISTS agent_reports (
    agent_id      UUID PRIMARY KEY REFERENCES agents (id),
    agent_version TEXT NOT NULL,
    boot_id       TEXT NOT NULL,
    skew_ms       INT8 NOT NULL,                  -- clock of the host minus clock of the backend, milliseconds
    report        JSONB NOT NULL,                 -- figures of the host
    causes        JSONB NOT NULL,                 -- what is wrong by this report: name to since when
    dirty_at      TIMESTAMPTZ,                    -- since when the policy has something to judge; NULL if it has not
    reported_at   TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS agent_reports_dirty ON agent_reports (dirty_at) WHERE dirty_at IS NOT NULL;

-- When each backend last took heartbeats. No host is called unreachable while one of them had a gap.
CREATE TABLE IF NOT EXISTS agent_receivers (
    backend_id UUID PRIMARY KEY,
    since      TIMESTAMPTZ NOT NULL DEFAULT now(), -- it has taken heartbeats without a gap since then
    flushed_at TIMESTAMPTZ NOT NULL DEFAULT now()  -- when it last wrote what it had received
);

-- +goose Down
SELECT 1;
