-- +goose NO TRANSACTION
-- +goose Up

-- What each enrolled agent sees of the promises on its host, by its own word: a part for the host, and one for each unit. A part is
-- written when it changes.
CREATE TABLE IF NOT EXISTS agent_states ( -- no noun: what drift is judged by
    agent_id    UUID NOT NULL,
    part        TEXT NOT NULL,                     -- 'host', or the id of a unit
    hash        TEXT NOT NULL,                     -- the agent's own; another one for other facts
    facts       JSONB NOT NULL,                    -- name to what is there now
    units       JSONB NOT NULL DEFAULT '{}',       -- of the host: id of each unit to the hash of its part
    received_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (agent_id, part)
);

-- The hash of the host's part in the last heartbeat; '' if the agent cannot tell.
ALTER TABLE agent_reports ADD COLUMN IF NOT EXISTS state_hash TEXT NOT NULL DEFAULT '';

-- +goose Down
SELECT 1;
