-- +goose NO TRANSACTION
-- +goose Up

-- How often a snapshot of etcd is taken by itself, in hours; 0: only when it is asked for.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS snapshot_hours INT8 NOT NULL DEFAULT 0;

-- How many snapshots are kept, and for how many days. The newest one is always kept.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS snapshot_keep INT8 NOT NULL DEFAULT 7;

ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS snapshot_days INT8 NOT NULL DEFAULT 30;

-- When the policy asked for one for the last time; NULL: never.
ALTER TABLE kube_clusters ADD COLUMN IF NOT EXISTS snapshot_asked_at TIMESTAMPTZ;

-- A snapshot of etcd. Its parts are encrypted with a key of its own, which is sealed here. It goes with its cluster, also where an older
-- backend deletes that.
CREATE TABLE IF NOT EXISTS kube_snapshots ( -- noun: cluster_snapshot
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    cluster_id   UUID NOT NULL REFERENCES kube_clusters (id) ON DELETE CASCADE,
    node         TEXT NOT NULL,                   -- that it was taken on
    kube_version TEXT NOT NULL,                   -- of the cluster then
    key_sealed   BYTEA NOT NULL,                  -- of its parts
    size         INT8 NOT NULL,                   -- bytes of the snapshot, as etcdutl reads it
    stored       INT8 NOT NULL,                   -- bytes of all parts, compressed
    parts        INT8 NOT NULL,                   -- how many
    sha256       TEXT NOT NULL,                   -- of the snapshot, hexadecimal
    begun_at     TIMESTAMPTZ NOT NULL,            -- when it was taken on the host
    taken_at     TIMESTAMPTZ,                     -- when all of it was here and read again; NULL: its job takes it
    version      INT8 NOT NULL DEFAULT 1,         -- counts changes; the ETag
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now()
);

CREATE INDEX IF NOT EXISTS kube_snapshots_by_workspace ON kube_snapshots (workspace_id, taken_at, id);

CREATE INDEX IF NOT EXISTS kube_snapshots_by_cluster ON kube_snapshots (cluster_id, taken_at, id);

CREATE TABLE IF NOT EXISTS kube_snapshot_parts ( -- no noun: what a cluster_snapshot consists of
    snapshot_id UUID NOT NULL REFERENCES kube_snapshots (id) ON DELETE CASCADE,
    number      INT8 NOT NULL,                    -- from 0
    content     BYTEA NOT NULL,                   -- at most 700 KiB of the compressed snapshot, encrypted
    PRIMARY KEY (snapshot_id, number)
);

-- +goose Down
SELECT 1;
