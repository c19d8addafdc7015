-- +goose NO TRANSACTION
-- +goose Up

-- When hosts without an agent answered over SSH. No noun: nothing waits for it but the policy host_health.
CREATE TABLE IF NOT EXISTS ssh_liveness ( -- no noun: liveness
    host_id     UUID PRIMARY KEY,
    answered_at TIMESTAMPTZ NOT NULL DEFAULT now(), -- last answer, by the clock of the database; at first the first question
    failed_at   TIMESTAMPTZ,                        -- last question without an answer
    why         TEXT NOT NULL DEFAULT '',           -- there was none
    lost_at     TIMESTAMPTZ,                        -- since when the host is unreachable; NULL if it is not
    told        BOOL NOT NULL DEFAULT false         -- an event told of the loss
);

-- What is overdue, and what was lost.
CREATE INDEX IF NOT EXISTS ssh_liveness_answered ON ssh_liveness (answered_at) WHERE lost_at IS NULL;
CREATE INDEX IF NOT EXISTS ssh_liveness_lost ON ssh_liveness (lost_at) WHERE lost_at IS NOT NULL;

-- +goose Down
SELECT 1;
