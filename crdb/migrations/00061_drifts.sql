-- +goose NO TRANSACTION
-- +goose Up

-- What on a host is not as it was promised: one row for each promise of a host or a unit, from when it was seen until it is as promised
-- again. Promised is what the database says, found is the word of the host's agent.
CREATE TABLE IF NOT EXISTS drifts ( -- noun: drift
    id            UUID PRIMARY KEY,
    workspace_id  UUID NOT NULL,
    host_id       UUID NOT NULL,
    unit_id       UUID NOT NULL,                     -- zeros for the host itself
    allocation_id UUID NOT NULL,                     -- that holds the unit; zeros for the host itself
    name          TEXT NOT NULL,                     -- of the unit or the host, when it was seen
    promise       TEXT NOT NULL,                     -- 'memory', 'nftables', ...
    promised      TEXT NOT NULL,
    found         TEXT NOT NULL,
    state         TEXT NOT NULL CHECK (state IN ('open', 'repairing', 'given_up', 'accepted', 'ended')),
    state_message TEXT NOT NULL DEFAULT '',
    job_id        UUID,                              -- of the last repair
    repaired_at   TIMESTAMPTZ,                       -- when that was asked for
    repairs       INT8 NOT NULL DEFAULT 0,           -- how often a repair was asked for
    accepted_by   TEXT NOT NULL DEFAULT '',
    accept_until  TIMESTAMPTZ,                       -- NULL: nobody accepted it
    since         TIMESTAMPTZ NOT NULL DEFAULT now(),
    ended_at      TIMESTAMPTZ,
    version       INT8 NOT NULL DEFAULT 1,           -- counts changes; the ETag
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    CHECK ((state = 'ended') = (ended_at IS NOT NULL)),
    CHECK (state <> 'accepted' OR accept_until IS NOT NULL)
);

CREATE UNIQUE INDEX IF NOT EXISTS drifts_one ON drifts (host_id, unit_id, promise) WHERE ended_at IS NULL;

CREATE INDEX IF NOT EXISTS drifts_by_time ON drifts (workspace_id, since, id);
CREATE INDEX IF NOT EXISTS drifts_of_host ON drifts (host_id, repaired_at);
CREATE INDEX IF NOT EXISTS drifts_expire ON drifts (ended_at) WHERE ended_at IS NOT NULL;

-- +goose Down
SELECT 1;
