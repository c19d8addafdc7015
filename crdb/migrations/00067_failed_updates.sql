-- +goose NO TRANSACTION
-- +goose Up

-- Why an agent does not run the version that it was told, by its own word. An agent that runs it has no row.
CREATE TABLE IF NOT EXISTS agent_update_troubles ( -- no noun: heartbeats write it, and wake no policies
    agent_id   UUID PRIMARY KEY REFERENCES agents (id),
    version    TEXT NOT NULL,                     -- that it does not run
    state      TEXT NOT NULL CHECK (state IN ('failed', 'pinned')),
    reason     TEXT NOT NULL,                     -- for people
    created_at TIMESTAMPTZ NOT NULL DEFAULT now() -- when the agent said it first
);

-- +goose Down
SELECT 1;
