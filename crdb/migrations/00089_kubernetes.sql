-- +goose NO TRANSACTION
-- +goose Up

-- Versions of Kubernetes that the operator of the installation offers, each with its offline bundle.
CREATE TABLE IF NOT EXISTS kube_versions ( -- noun: kube_version
    id            UUID PRIMARY KEY,
    name          TEXT NOT NULL UNIQUE,             -- such as 'v1.36.3'
    active        BOOL NOT NULL,                    -- new clusters may have it
    upgrades_to   TEXT[] NOT NULL,                  -- names of the versions that a cluster of this one may be upgraded to
    bundle        TEXT NOT NULL,                    -- where hosts find binaries and images: a URL, or a file on each host
    bundle_sha256 TEXT NOT NULL,                    -- in hexadecimal; a host takes nothing else
    version       INT8 NOT NULL DEFAULT 1,          -- counts changes; the ETag
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- The cluster of a kubernetes workspace. Its row goes when it is deleted.
CREATE TABLE IF NOT EXISTS kube_clusters ( -- noun: cluster
    id                UUID PRIMARY KEY,
    workspace_id      UUID NOT NULL UNIQUE,         -- a workspace has one
    name              TEXT NOT NULL,
    kube_version      TEXT NOT NULL,                -- name of its version
    endpoint          TEXT NOT NULL,                -- 'host:port' where its API server answers
    pod_range         TEXT NOT NULL,                -- CIDR
    service_range     TEXT NOT NULL,                -- CIDR
    state             TEXT NOT NULL CHECK (state IN ('pending', 'creating', 'active', 'degraded', 'failed', 'deleting', 'delete_failed')),
    state_message     TEXT NOT NULL DEFAULT '',     -- why it failed, or what is missing
    admin_key_sealed  BYTEA NOT NULL,               -- private key (PEM) of our own access, sealed with 'kube_clusters/<id>'
    admin_certificate TEXT NOT NULL DEFAULT '',     -- its certificate (PEM); empty until the first control plane signed it
    ca                TEXT NOT NULL DEFAULT '',     -- authority of the cluster (PEM)
    version           INT8 NOT NULL DEFAULT 1,      -- counts changes; the ETag
    created_at        TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at        TIMESTAMPTZ NOT NULL DEFAULT now()
);

-- A host as a node of a cluster.
CREATE TABLE IF NOT EXISTS kube_nodes ( -- noun: cluster_node
    id            UUID PRIMARY KEY,
    workspace_id  UUID NOT NULL,
    cluster_id    UUID NOT NULL REFERENCES kube_clusters (id),
    host_id       UUID NOT NULL UNIQUE,             -- a host is in one cluster
    name          TEXT NOT NULL,                    -- of the host, and of the node
    role          TEXT NOT NULL CHECK (role IN ('control_plane', 'worker')),
    pod_range     TEXT NOT NULL,                    -- CIDR of the pods on it, out of the cluster's
    state         TEXT NOT NULL CHECK (state IN ('pending', 'prepared', 'joined', 'ready', 'not_ready', 'left')),
    state_message TEXT NOT NULL DEFAULT '',         -- why it is not ready
    token_id      TEXT NOT NULL DEFAULT '',         -- id of the token that it joins with, to delete it; never the secret
    version       INT8 NOT NULL DEFAULT 1,          -- counts changes; the ETag
    created_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at    TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (cluster_id, name),
    UNIQUE (cluster_id, pod_range)
);

CREATE INDEX IF NOT EXISTS kube_nodes_by_workspace ON kube_nodes (workspace_id, name, id);

-- What an account may do in a cluster. A policy keeps the binding in the cluster itself.
CREATE TABLE IF NOT EXISTS kube_bindings ( -- noun: cluster_binding
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    cluster_id   UUID NOT NULL REFERENCES kube_clusters (id),
    account_id   UUID NOT NULL,                     -- whoever has no access any more keeps no binding in the cluster
    account      TEXT NOT NULL,                     -- its name when it was bound
    role         TEXT NOT NULL CHECK (role IN ('viewer', 'editor', 'admin')),
    version      INT8 NOT NULL DEFAULT 1,           -- counts changes; the ETag
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (cluster_id, account_id)
);

CREATE INDEX IF NOT EXISTS kube_bindings_by_workspace ON kube_bindings (workspace_id, account, id);

-- +goose Down
SELECT 1;
