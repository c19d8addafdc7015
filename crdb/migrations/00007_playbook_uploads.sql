-- +goose NO TRANSACTION
-- +goose Up

-- Grows with every change of the default; the ETag.
ALTER TABLE playbooks ADD COLUMN IF NOT EXISTS revision INT8 NOT NULL DEFAULT 1;

-- SHA-256 in hex of the files as a canonical tar: what is known by it makes no new version. NULL for what an older
-- release seeded.
ALTER TABLE playbook_versions ADD COLUMN IF NOT EXISTS tree_sha256 TEXT;

CREATE UNIQUE INDEX IF NOT EXISTS playbook_versions_tree ON playbook_versions (playbook, tree_sha256);

-- Why the version was made, in words of whoever uploaded it; '' for none.
ALTER TABLE playbook_versions ADD COLUMN IF NOT EXISTS note TEXT NOT NULL DEFAULT '';

-- What ansible-lint says of a version; no row until a backend has taken it up.
CREATE TABLE IF NOT EXISTS playbook_lints (
    version_id UUID PRIMARY KEY REFERENCES playbook_versions (id),
    state      TEXT NOT NULL CHECK (state IN ('running', 'done', 'unavailable', 'failed')),
    tool       TEXT NOT NULL DEFAULT '',          -- name and version of what looked
    message    TEXT NOT NULL DEFAULT '',          -- why it is unavailable or failed
    findings   JSONB,                             -- [{rule, severity, path, line, message}]; NULL unless done
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    ended_at   TIMESTAMPTZ,
    CHECK ((state = 'running') = (ended_at IS NULL)),
    CHECK ((state = 'done') = (findings IS NOT NULL))
);

-- +goose Down
SELECT 1;
