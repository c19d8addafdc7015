-- +goose NO TRANSACTION
-- +goose Up

-- Networks of a workspace: address ranges that hosts carry. Addresses and hosts name theirs; the first that does so makes the row.
CREATE TABLE IF NOT EXISTS networks ( -- noun: network
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    name         TEXT NOT NULL,
    description  TEXT NOT NULL DEFAULT '',
    cidr         TEXT NOT NULL DEFAULT '',         -- IPv4 range that its addresses lie in, such as '192.0.2.0/24'; '' for any
    version      INT8 NOT NULL DEFAULT 1,          -- counts changes; the ETag
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (workspace_id, name)
);

-- One row for each that is named already.
INSERT INTO networks (id, workspace_id, name)
SELECT gen_random_uuid(), u.workspace_id, u.name
  FROM (SELECT p.workspace_id, p.network AS name
          FROM addresses p
        UNION
        SELECT h.workspace_id, n.name
          FROM hosts h, unnest(h.networks) AS n(name)
         WHERE h.removed_at IS NULL) AS u
ON CONFLICT (workspace_id, name) DO NOTHING;

-- +goose Down
SELECT 1;
