-- +goose NO TRANSACTION
-- +goose Up

-- Builds of the agent that init has taken from a release. Hosts check the signatures; no backend has a key to make them.
CREATE TABLE IF NOT EXISTS agent_builds ( -- no noun: a part of a release, written once
    version       TEXT NOT NULL,
    arch          TEXT NOT NULL CHECK (arch IN ('amd64', 'arm64')),
    manifest      BYTEA NOT NULL,                 -- as it was signed
    signature     BYTEA NOT NULL,                 -- of minisign
    lowest_before TEXT NOT NULL,                  -- a host that runs less takes another version first; '': any
    expires_at    TIMESTAMPTZ NOT NULL,
    size_bytes    INT8 NOT NULL,
    sha256        BYTEA NOT NULL,                 -- of the build
    parts         INT8 NOT NULL,                  -- how many there are in agent_build_parts
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (version, arch)
);

-- The builds, compressed with gzip and cut into pieces that an agent asks for one by one.
CREATE TABLE IF NOT EXISTS agent_build_parts ( -- no noun: a part of a release, written once
    version TEXT NOT NULL,
    arch    TEXT NOT NULL,
    part    INT8 NOT NULL,                        -- from 0
    content BYTEA NOT NULL,
    PRIMARY KEY (version, arch, part)
);

-- The version that the agent of a host is to run, by the last delivery that reached it.
CREATE TABLE IF NOT EXISTS agent_versions ( -- no noun: written by deliveries, which touch themselves
    host_id     UUID PRIMARY KEY,
    version     TEXT NOT NULL,                    -- that it is to run; '': the one that it runs
    delivery_id UUID NOT NULL,                    -- that told it
    changed_at  TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- Backends look for what changed lately.
CREATE INDEX IF NOT EXISTS agent_versions_changed ON agent_versions (changed_at);

-- What each delivery told a host, so that the way back leads to what held before it.
CREATE TABLE IF NOT EXISTS agent_version_steps ( -- no noun: written by deliveries, which touch themselves
    host_id     UUID NOT NULL,
    delivery_id UUID NOT NULL,
    version     TEXT NOT NULL,
    before      TEXT NOT NULL,                    -- the version that ran when it was told; '': not known
    taken       BOOL NOT NULL DEFAULT false,      -- it holds no more
    given_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    PRIMARY KEY (host_id, delivery_id)
);

-- +goose Down
SELECT 1;
