-- +goose NO TRANSACTION
-- +goose Up

-- The control plane of a cluster that runs in a management cluster. Names are here before anything is created there.
CREATE TABLE IF NOT EXISTS kube_hosted ( -- noun: hosted_control_plane
    id                    UUID PRIMARY KEY,
    workspace_id          UUID NOT NULL,
    cluster_id            UUID NOT NULL UNIQUE REFERENCES kube_clusters (id),
    management_cluster_id UUID NOT NULL,           -- without a foreign key, which would lock two tables at once; its row is held while this one is made
    slot                  INT8 NOT NULL,            -- number in the management cluster, from 0: bounds how many there are, and gives the ports
    namespace             TEXT NOT NULL,            -- there; named after the cluster's id
    replicas              INT8 NOT NULL,            -- of the control plane while it is awake
    konnectivity          BOOL NOT NULL,            -- the API server reaches nodes through tunnels that they open
    core_dns              BOOL NOT NULL,            -- Kamaji sets up CoreDNS in the cluster
    port                  INT8 NOT NULL,            -- of the API server
    konnectivity_port     INT8 NOT NULL,            -- that tunnels go to
    target_version        TEXT NOT NULL DEFAULT '', -- that it is being upgraded to; empty outside of an upgrade
    state                 TEXT NOT NULL CHECK (state IN ('pending', 'creating', 'ready', 'changing', 'asleep', 'degraded', 'failed', 'deleting', 'delete_failed')),
    state_message         TEXT NOT NULL DEFAULT '', -- why it failed
    version               INT8 NOT NULL DEFAULT 1,  -- counts changes; the ETag
    created_at            TIMESTAMPTZ NOT NULL DEFAULT now(),
    updated_at            TIMESTAMPTZ NOT NULL DEFAULT now(),
    UNIQUE (management_cluster_id, slot),
    UNIQUE (management_cluster_id, namespace)
);

CREATE INDEX IF NOT EXISTS kube_hosted_by_workspace ON kube_hosted (workspace_id, created_at, id);

-- +goose Down
SELECT 1;
