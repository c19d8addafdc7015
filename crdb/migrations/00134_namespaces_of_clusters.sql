-- +goose NO TRANSACTION
-- +goose Up

-- A namespace of a cluster that a policy keeps there, with its quota. It goes with its cluster, also where an older backend deletes that.
CREATE TABLE IF NOT EXISTS kube_namespaces ( -- noun: cluster_namespace
    id             UUID PRIMARY KEY,
    workspace_id   UUID NOT NULL,
    cluster_id     UUID NOT NULL REFERENCES kube_clusters (id) ON DELETE CASCADE,
    name           TEXT NOT NULL,                   -- RFC 1123 label
    labels         JSONB NOT NULL,                  -- that it has in the cluster beside ours
    quota_cpu      TEXT NOT NULL,                   -- sum of the limits of its containers, a quantity of Kubernetes; empty: no limit, as below
    quota_memory   TEXT NOT NULL,
    quota_pods     INT8 NOT NULL,                   -- 0: no limit
    quota_storage  TEXT NOT NULL,                   -- sum of what its volume claims ask for
    default_cpu    TEXT NOT NULL,                   -- limit of a container that names none; empty: none
    default_memory TEXT NOT NULL,
    adopt          BOOL NOT NULL,                   -- one that somebody else made may be taken over
    leave          BOOL NOT NULL DEFAULT false,     -- it stays in the cluster when this row goes
    deleting_at    TIMESTAMPTZ,                     -- since when it is being deleted; NULL: it is kept
    version        INT8 NOT NULL DEFAULT 1,         -- counts changes; the ETag
    created_at     TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at     TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (cluster_id, name)
);

CREATE INDEX IF NOT EXISTS kube_namespaces_by_workspace ON kube_namespaces (workspace_id, name, id);

-- What an account may do in one namespace of a cluster.
CREATE TABLE IF NOT EXISTS kube_namespace_bindings ( -- no noun: a cluster_binding, which is read out of both tables
    id           UUID PRIMARY KEY,
    workspace_id UUID NOT NULL,
    cluster_id   UUID NOT NULL,
    namespace_id UUID NOT NULL REFERENCES kube_namespaces (id) ON DELETE CASCADE,
    namespace    TEXT NOT NULL,                     -- its name
    account_id   UUID NOT NULL,
    account      TEXT NOT NULL,                     -- its name when it was bound
    role         TEXT NOT NULL CHECK (role IN ('viewer', 'editor', 'admin')),
    version      INT8 NOT NULL DEFAULT 1,           -- counts changes; the ETag
    created_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at   TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (namespace_id, account_id)
);

CREATE INDEX IF NOT EXISTS kube_namespace_bindings_by_workspace ON kube_namespace_bindings (workspace_id, account, id);

CREATE INDEX IF NOT EXISTS kube_namespace_bindings_by_cluster ON kube_namespace_bindings (cluster_id, account_id);

-- +goose Down
SELECT 1;
