-- +goose NO TRANSACTION
-- +goose Up

-- Staged changes: one mechanism for every object that is brought to many targets in waves.
CREATE TABLE IF NOT EXISTS rollouts ( -- no noun: a part of the object with the same id, which whoever moves it touches
    id         UUID PRIMARY KEY,                  -- also that of the object which it carries out
    state      TEXT NOT NULL CHECK (state IN ('running', 'paused', 'halted', 'returning', 'done', 'returned')),
    plan       JSONB NOT NULL,                    -- rollout.Plan: waves, canaries, gap, window, limit
    wave       INT8 NOT NULL DEFAULT 0,           -- the last that has begun; 0: none has
    waves      INT8 NOT NULL,                     -- how many there are
    forgiven   INT8 NOT NULL DEFAULT 0,           -- failures that a person accepted by resuming
    reason     TEXT NOT NULL,                     -- what it waits for, or why it ended
    next_at    TIMESTAMPTZ,                       -- the next wave does not begin before; NULL while a wave is under way
    ended_at   TIMESTAMPTZ,                       -- when it was done or returned
    version    INT8 NOT NULL DEFAULT 1,           -- counts writes, of targets too
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Each target of a rollout and how it stands.
CREATE TABLE IF NOT EXISTS rollout_targets ( -- no noun: a part of their rollout
    rollout_id UUID NOT NULL REFERENCES rollouts (id),
    target_id  UUID NOT NULL,
    name       TEXT NOT NULL,                     -- of the target when it was added
    region     TEXT NOT NULL,
    zone       TEXT NOT NULL,
    wave       INT8 NOT NULL CHECK (wave >= 1),
    state      TEXT NOT NULL CHECK (state IN ('waiting', 'told', 'proven', 'failed', 'skipped', 'returning', 'returned')),
    reason     TEXT NOT NULL DEFAULT '',          -- why it is in this state
    told_at    TIMESTAMPTZ,                       -- when it was last told to change, or to go back
    ended_at   TIMESTAMPTZ,                       -- when it was proven, failed, skipped or returned
    PRIMARY KEY (rollout_id, target_id)
);

CREATE INDEX IF NOT EXISTS rollout_targets_by_wave ON rollout_targets (rollout_id, wave, name, target_id);

-- +goose Down
SELECT 1;
