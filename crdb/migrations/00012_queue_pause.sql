-- +goose NO TRANSACTION
-- +goose Up

-- While its row is there, no backend claims a queued job. Who paused and resumed when, and why, is in the audit trail.
CREATE TABLE IF NOT EXISTS queue_pauses (
    queue     TEXT PRIMARY KEY CHECK (queue = 'jobs'), -- there is one
    paused_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    paused_by TEXT NOT NULL,                           -- name of the account
    reason    TEXT NOT NULL                            -- shown to all who wait for a job
);

-- +goose Down
SELECT 1;
