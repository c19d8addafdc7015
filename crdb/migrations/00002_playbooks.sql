-- +goose NO TRANSACTION
-- +goose Up

CREATE TABLE IF NOT EXISTS playbooks (
    name            TEXT PRIMARY KEY,             -- fixed names: 'host_probe', ...
    description     TEXT NOT NULL,
    default_version INT4 NOT NULL,                -- what new jobs are bound to
    updated_at      TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE TABLE IF NOT EXISTS playbook_versions (
    id            UUID PRIMARY KEY,
    playbook      TEXT NOT NULL REFERENCES playbooks (name),
    version       INT4 NOT NULL CHECK (version > 0),
    sha256        TEXT NOT NULL,                  -- hex, of content
    content       BYTEA NOT NULL,                 -- tar, compressed with zstd
    size_bytes    INT8 NOT NULL,                  -- of content
    decoded_bytes INT8 NOT NULL,                  -- of the files in it
    files         INT4 NOT NULL,
    seeded        BOOL NOT NULL,                  -- came with a release, by init
    created_by    TEXT NOT NULL,
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (playbook, version),
    UNIQUE (playbook, sha256)
);

-- +goose Down
SELECT 1;
